package thetajoin.ui

import java.util.Locale

import scala.xml.{Elem, Node, Text}

import thetajoin.driver.JoinMetrics
import thetajoin.report.Counts
import thetajoin.ui.Html.element

/**
 * The content of the tab: a form to search by, a plot, and a row for each join.
 *
 * @param query what a query is called
 * @param link the page of a query
 * @param shown a number as Spark writes a metric of a kind: sum, size or nsTiming
 */
final class JoinsTable(
    query: Long => String,
    link: Long => String,
    shown: (String, Long) => String
) {
  import JoinsTable._

  /** @param searched words that must all stand in a row, in any case and without single quotes */
  def of(events: Seq[JoinsEvent], searched: String): Seq[Node] = {
    val words = plain(searched).split("\\s+").filter(_.nonEmpty)
    val all = events.flatMap(event => event.joins.map(Row(event.executionId, _)))
    val found = all.filter { row =>
      val text = plain((query(row.id) +: row.line.words).mkString("\n"))
      words.forall(text.contains(_))
    }
    Seq(form(searched, s"${found.size} of ${all.size} joins")) ++
      Plot.of(found.map(row => s"query ${row.id}, join ${row.line.number}" -> row.line)) :+
      table(found)
  }

  private def form(searched: String, told: String): Elem =
    element("form", "method" -> "get", "class" -> "mb-2")(
      element(
        "input",
        "type" -> "search",
        "name" -> Search,
        "value" -> searched,
        "placeholder" -> "words of a row",
        "aria-label" -> "words of a row"
      )(),
      Text(" "),
      element("input", "type" -> "submit", "value" -> "Search")(),
      element("span", "id" -> "joins-found", "class" -> "ms-2 ml-2")(Text(told))
    )

  private def table(rows: Seq[Row]): Elem = {
    val heads = (Seq("Query", "Join", "Accelerated by") ++ columns.map(_.head)).map { head =>
      element("th")(Text(head))
    }
    element(
      "table",
      "id" -> "joins",
      "class" -> "table table-bordered table-hover table-sm table-striped sortable"
    )(
      element("thead")(element("tr")(heads: _*)),
      element("tbody")(rows.map(tr): _*)
    )
  }

  private def tr(row: Row): Elem = {
    val line = row.line
    val answer = line.accelerator.map(paragraphs(_, line.node)).getOrElse(
      paragraphs(line.code.getOrElse(""), line.reason ++ line.remedy)
    )
    val cells = columns.map { column =>
      val value = column.value(line.counts)
      sorted(value.fold("-1")(digits))(
        Text(value.map(v => column.kind.fold(ratio(v))(shown(_, v.toLong))).getOrElse(""))
      )
    }
    element("tr")(
      sorted(row.id.toString)(
        element("a", "href" -> link(row.id))(Text(s"${row.id} ${query(row.id)}"))
      ) +: sorted(line.number.toString)(
        paragraphs(s"${line.number} ${line.joinType}", Seq(line.condition)): _*
      ) +: element("td")(answer: _*) +: cells: _*
    )
  }

  /** A cell that sorttable.js of Spark sorts by a key. Of numbers it reads digits only. */
  private def sorted(key: String)(content: Node*): Elem =
    element("td", "sorttable_customkey" -> key)(content: _*)

  private def paragraphs(first: String, others: Iterable[String]): Seq[Node] =
    element("b")(Text(first)) +: others.toSeq.map(text => element("div")(Text(text)))
}

object JoinsTable {

  /** The parameter of the page's address that has the words to search by. */
  val Search = "search"

  private final case class Row(id: Long, line: JoinLine)

  /** @param kind of the metric; None is a number of rows for each probe row */
  private final case class Column(
      head: String,
      kind: Option[String],
      value: Map[String, Long] => Option[Double]
  )

  private def column(head: String, kind: String, key: String): Column =
    Column(head, Some(kind), _.get(key).map(_.toDouble))

  private def perProbeRow(head: String, key: String): Column =
    Column(
      head,
      None,
      counts =>
        for (rows <- counts.get(key); probed <- counts.get(Counts.ProbeRows) if probed > 0)
          yield rows.toDouble / probed
    )

  private val columns = Seq(
    column("Index rows", "sum", JoinMetrics.IndexRows),
    column("Index size", "size", JoinMetrics.IndexBytes),
    column("Time to build", "nsTiming", JoinMetrics.BuildTime),
    column("Probe rows", "sum", Counts.ProbeRows),
    column("Candidates", "sum", JoinMetrics.CandidateRows),
    perProbeRow("Candidates a probe row", JoinMetrics.CandidateRows),
    column("Matches", "sum", JoinMetrics.Matches),
    perProbeRow("Matches a probe row", JoinMetrics.Matches),
    column("Time to probe", "nsTiming", JoinMetrics.ProbeTime),
    column("Output rows", "sum", JoinMetrics.OutputRows),
    column("Blocks", "sum", JoinMetrics.Blocks),
    column("Spilled", "size", "spillSize")
  )

  private def ratio(value: Double): String = String.format(Locale.ROOT, "%.2f", value)
  private def digits(value: Double): String = BigDecimal(value).bigDecimal.toPlainString
  private def plain(text: String): String = text.toLowerCase(Locale.ROOT).replace("'", "")
}
