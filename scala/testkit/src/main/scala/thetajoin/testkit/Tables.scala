package thetajoin.testkit

import org.apache.spark.sql.types.{IntegerType, StructType}

import org.scalacheck.{Gen, Shrink}

/**
 * A table as text: beside the columns of the accelerator's conditions it has a number for each row, a column for
 * equality keys and one for residuals.
 *
 * @param rows the SQL text of each value
 */
private[testkit] final case class Table(name: String, columns: StructType, rows: Seq[Seq[String]]) {

  /** An empty table has a row that is left out, so that the optimizer does not know that it is empty. */
  def sql: String = {
    val names = columns.map(_.name).mkString(", ")
    val nulls = columns.map(_ => "NULL")
    val values = (if (rows.isEmpty) Seq(nulls) else rows).map { row =>
      row.zip(columns).map { case (text, c) => Values.typed(text, c.dataType) }.mkString(
        "(",
        ", ",
        ")"
      )
    }
    val none = if (rows.isEmpty) s" WHERE ${Table.Id} IS NOT NULL" else ""
    s"CREATE OR REPLACE TEMP VIEW $name AS SELECT * FROM VALUES\n  ${values.mkString(",\n  ")}\n  AS t($names)$none"
  }
}

private[testkit] object Table {
  val Id = "row_id"
  val Key = "equal_key"
  val Rest = "rest"

  private val beside =
    new StructType().add(Id, IntegerType).add(Key, IntegerType).add(Rest, IntegerType)

  /** @param values of each column of `own`, in their order */
  def of(name: String, own: StructType, values: Seq[Gen[String]]): Gen[Table] = {
    val small = Gen.choose(0, 2).map(_.toString)
    val row = sequence(Seq(Values.orNull(small), Values.orNull(small)) ++ values)
    for {
      size <- Gen.frequency(1 -> Gen.const(0), 3 -> Gen.choose(1, 4), 8 -> Gen.choose(5, 24))
      rows <- Gen.listOfN(size, row)
    } yield Table(
      name,
      StructType(beside ++ own),
      rows.zipWithIndex.map { case (texts, i) => i.toString +: texts }
    )
  }

  private def sequence(texts: Seq[Gen[String]]): Gen[Seq[String]] =
    texts.foldLeft(Gen.const(Seq.empty[String]))((all, text) =>
      for (a <- all; t <- text) yield a :+ t
    )

  /** Fewer rows, and no other values. */
  implicit val shrink: Shrink[Table] = Shrink.withLazyList { table =>
    val size = table.rows.size
    val parts = LazyList.iterate(size / 2)(_ / 2).takeWhile(_ > 0)
    val halves = parts.flatMap(part =>
      LazyList.range(0, size, part).map(at => table.rows.patch(at, Nil, part))
    )
    (if (size == 1) LazyList(Nil) else halves).map(rows => table.copy(rows = rows))
  }
}
