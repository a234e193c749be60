package thetajoin.ui

import java.util.Locale

import scala.xml.{Elem, Text}

import thetajoin.driver.JoinMetrics
import thetajoin.ui.Html.element

/**
 * Candidates of joins to the right, their matches upwards, in powers of ten. A join on the line has no candidate that
 * doesn't match; the farther below, the more candidates it has tested for a match.
 */
private[ui] object Plot {
  private val (size, margin) = (160.0, 20.0)

  def of(lines: Seq[(String, JoinLine)]): Option[Elem] = {
    val points = for {
      (name, line) <- lines
      candidates <- line.counts.get(JoinMetrics.CandidateRows)
      matches <- line.counts.get(JoinMetrics.Matches)
    } yield (s"$name: $candidates candidates, $matches matches", candidates, matches)
    if (points.isEmpty) None else Some(drawn(points))
  }

  private def drawn(points: Seq[(String, Long, Long)]): Elem = {
    val most = math.ceil(points.map { case (_, c, m) => power(c max m) }.max) max 1
    def x(rows: Long): String = at(margin + size * power(rows) / most)
    def y(rows: Long): String = at(size - size * power(rows) / most + 4)
    val (left, right, top, bottom) = (at(margin), at(margin + size), at(4), at(size + 4))
    def line(x1: String, y1: String, x2: String, y2: String, width: String) =
      element(
        "line",
        "x1" -> x1,
        "y1" -> y1,
        "x2" -> x2,
        "y2" -> y2,
        "stroke" -> "currentColor",
        "stroke-width" -> width
      )()
    def label(x: String, y: String, turn: String, text: String) = element(
      "text",
      "x" -> x,
      "y" -> y,
      "transform" -> turn,
      "font-size" -> "11",
      "text-anchor" -> "middle",
      "fill" -> "currentColor"
    )(Text(text))
    val (middle, bound) = (at(margin + size / 2), s"10^${most.toInt}")
    val frame = Seq(
      line(left, bottom, right, bottom, "1"),
      line(left, bottom, left, top, "1"),
      line(left, bottom, right, top, "0.5"),
      label(middle, at(size + margin), "", s"candidates, to $bound"),
      label("0", "0", s"translate(13 ${at(size / 2)}) rotate(-90)", s"matches, to $bound")
    )
    val dots = points.map { case (name, candidates, matches) =>
      element(
        "circle",
        "cx" -> x(candidates),
        "cy" -> y(matches),
        "r" -> "4",
        "fill" -> "#1f77b4",
        "fill-opacity" -> "0.7"
      )(element("title")(Text(name)))
    }
    element(
      "svg",
      "id" -> "candidates-plot",
      "width" -> at(size + margin + 8),
      "height" -> at(size + margin + 8),
      "role" -> "img"
    )(frame ++ dots: _*)
  }

  private def power(rows: Long): Double = math.log10(1.0 + rows)
  private def at(place: Double): String = String.format(Locale.ROOT, "%.1f", place)
}
