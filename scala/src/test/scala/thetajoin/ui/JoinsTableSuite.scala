package thetajoin.ui

import scala.xml.{Node, XML}

import org.scalatest.funsuite.AnyFunSuite

class JoinsTableSuite extends AnyFunSuite {
  private val table = new JoinsTable(
    id => s"query of $id",
    id => s"/SQL/execution/?id=$id&x=1",
    (kind, number) => s"$number $kind"
  )

  private def line(number: Int, condition: String, counts: (String, Long)*): JoinLine =
    JoinLine(number, "Inner", condition, Some("interval"), None, None, None, None, counts.toMap)

  private val events = Seq(
    JoinsEvent(
      12,
      Seq(
        line(1, "a < '<script>'", "candidates" -> 30, "matches" -> 10, "probeRows" -> 4),
        line(2, "x = y", "indexBytes" -> 2048000000L)
      )
    ),
    JoinsEvent(
      3,
      Seq(JoinLine(
        1,
        "Cross",
        "true",
        None,
        None,
        Some("CODE"),
        Some("why"),
        Some("how"),
        Map.empty
      ))
    )
  )

  /** As the browser gets it. */
  private def page(searched: String): Node =
    XML.loadString(s"<div>${table.of(events, searched).mkString}</div>")

  private def rows(page: Node): Seq[Seq[String]] =
    (page \\ "tbody" \ "tr").map(row => (row \ "td").map(_.text))

  private def cell(row: Seq[String], head: String): String =
    row((page("") \\ "th").indexWhere(_.text == head))

  test("a row for each join, with its numbers, and those that it lacks left open") {
    val (first, second, third) = (rows(page("")).head, rows(page(""))(1), rows(page("")).last)
    assert(cell(first, "Query") == "12 query of 12")
    assert(cell(first, "Join") == "1 Innera < '<script>'")
    assert(cell(first, "Candidates") == "30 sum")
    assert(cell(first, "Candidates a probe row") == "7.50")
    assert(cell(first, "Matches a probe row") == "2.50")
    assert(cell(second, "Index size") == "2048000000 size")
    assert(cell(second, "Candidates") == "" && cell(second, "Candidates a probe row") == "")
    assert(cell(third, "Accelerated by") == "CODEwhyhow")
  }

  test("texts of users are escaped, and queries are linked") {
    val html = table.of(events, "\"><script>").mkString
    assert(!html.contains("<script>"))
    assert((page("") \\ "a").map(a => (a \ "@href").text).head == "/SQL/execution/?id=12&x=1")
  }

  test("a search finds the rows that have all words, in any case") {
    for (
      (words, found) <-
        Seq("" -> 3, "INTERVAL" -> 2, "interval '<script" -> 1, "code how" -> 1, "z" -> 0)
    ) {
      assert(rows(page(words)).size == found, words)
      assert((page(words) \\ "span").text == s"$found of 3 joins")
    }
  }

  test("cells are sorted by numbers, not by their texts") {
    val keys =
      (page("") \\ "tbody" \ "tr").map(row => (row \ "td" \\ "@sorttable_customkey").map(_.text))
    assert(keys.map(_.head) == Seq("12", "12", "3"))
    assert(keys.head.contains("7.5") && keys(
      1
    ).contains("2048000000") && keys.last.drop(2).forall(_ == "-1"))
  }

  test("the plot has a point for each join that has run, upwards with its matches") {
    assert((page("") \\ "circle" \ "title").map(_.text) == Seq(
      "query 12, join 1: 30 candidates, 10 matches"
    ))
    def at(matches: Long) = {
      val svg = Plot.of(Seq("" -> line(1, "", "candidates" -> 30, "matches" -> matches))).get
      ((svg \\ "circle").head \ "@cy").text.toDouble
    }
    assert(at(10) < at(5) && at(5) < at(0))
    assert((page("code") \\ "svg").isEmpty)
  }
}
