package thetajoin.testkit

import org.apache.spark.sql.types._

import org.scalacheck.Gen

/** SQL texts of values: some few that are often equal, the extremes of a type, and its awkward values. */
object Values {

  /** Values of a type, some of them null. */
  def of(dataType: DataType): Gen[String] = orNull(notNull(dataType))

  def orNull(values: Gen[String]): Gen[String] = Gen.frequency(8 -> values, 1 -> Gen.const("NULL"))

  def notNull(dataType: DataType): Gen[String] = dataType match {
    case BooleanType => Gen.oneOf("true", "false")
    case ByteType => whole(Byte.MinValue.toLong, Byte.MaxValue.toLong)
    case ShortType => whole(Short.MinValue.toLong, Short.MaxValue.toLong)
    case IntegerType => whole(Int.MinValue.toLong, Int.MaxValue.toLong)
    case LongType => whole(Long.MinValue, Long.MaxValue)
    case FloatType => floating("1.4E-45", "3.4028235E38", "16777216")
    case DoubleType => floating("4.9E-324", "1.7976931348623157E308", "9007199254740992")
    case decimal: DecimalType => numeric(decimal)
    case BinaryType => Gen.oneOf("X''", "X'00'", "X'61'", "X'6162'", "X'FF'", "X'80'")
    case _: StringType => quoted(Texts: _*)
    case DateType => quoted("2024-02-29", "2024-03-01", "1969-12-31", "1582-10-04", "9999-12-31")
    case TimestampType | TimestampNTZType =>
      quoted(
        "2024-03-10 02:30:00",
        "2024-03-10 02:30:00.000001",
        "1969-12-31 23:59:59.999999",
        "0001-01-01",
        "9999-12-31 23:59:59.999999"
      )
    case ArrayType(element, _) =>
      Gen.choose(0, 4).flatMap(Gen.listOfN(_, of(element)))
        .map(_.map(typed(_, element)).mkString("array(", ", ", ")"))
    case StructType(fields) =>
      fields.foldLeft(Gen.const(Seq.empty[String])) { (texts, field) =>
        for (t <- texts; value <- of(field.dataType))
          yield t :+ s"'${field.name}', ${typed(value, field.dataType)}"
      }.map(_.mkString("named_struct(", ", ", ")"))
    case other =>
      throw new IllegalArgumentException(s"no values of ${other.sql}: override `values`")
  }

  /** A value as one of its type, whatever its text alone would be. */
  private[testkit] def typed(text: String, dataType: DataType): String = dataType match {
    case IntegerType if text != "NULL" => text
    case _ => s"CAST($text AS ${dataType.sql})"
  }

  private val Texts =
    Seq("", "a", "A", "ab", "abc", "b", "ba", "ä", "a ", "0123456789abcdef", "%", "💡")

  private def whole(least: Long, greatest: Long): Gen[String] = Gen.frequency(
    12 -> Gen.choose(-3L, 8L),
    1 -> Gen.oneOf(least, least + 1, greatest - 1, greatest)
  ).map(_.toString)

  private def floating(extremes: String*): Gen[String] = Gen.frequency(
    6 -> Gen.choose(-3, 6).map(n => s"${n / 2.0}"),
    2 -> Gen.oneOf("'NaN'", "'-0.0'", "'0.0'", "'Infinity'", "'-Infinity'", "0.1"),
    1 -> Gen.oneOf(extremes.flatMap(text => Seq(s"'$text'", s"'-$text'")))
  )

  private def numeric(decimal: DecimalType): Gen[String] = {
    val digits = "9" * decimal.precision
    val (high, low) = digits.splitAt(decimal.precision - decimal.scale)
    val greatest = if (low.isEmpty) high else s"$high.$low"
    Gen.frequency(
      8 -> Gen.choose(-3, 6).map(n => s"'${n / 2.0}'"),
      1 -> Gen.oneOf(s"'$greatest'", s"'-$greatest'")
    )
  }

  private def quoted(texts: String*): Gen[String] = Gen.oneOf(texts).map(text => s"'$text'")
}
