package thetajoin.rowstore

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.scalatest.funsuite.AnyFunSuite

/** What goes into a store comes out, in any order, whatever the type. */
class RowStoreSuite extends AnyFunSuite {
  private val types: Seq[DataType] = Seq(
    BooleanType,
    ByteType,
    ShortType,
    IntegerType,
    LongType,
    FloatType,
    DoubleType,
    StringType,
    DecimalType(30, 2),
    StructType(Seq(StructField("x", IntegerType)))
  )

  private def row(i: Int): InternalRow =
    if (i % 5 == 3) InternalRow.fromSeq(types.map(_ => null))
    else
      InternalRow(
        i % 2 == 0,
        i.toByte,
        i.toShort,
        i,
        i.toLong << 33,
        i.toFloat / 3,
        i.toDouble / 3,
        UTF8String.fromString("s" * (i % 50)),
        Decimal(BigDecimal(i), 30, 2),
        InternalRow(i)
      )

  private def store(rows: Int): RowStore = store(rows, Array.range(0, rows))

  private def store(rows: Int, order: Array[Int]): RowStore = {
    val builder = new RowStoreBuilder(types)
    (0 until rows).foreach(i => builder.add(row(i)))
    builder.result(order)
  }

  private def values(r: InternalRow): Seq[Any] = types.indices.map { i =>
    r.get(i, types(i)) match {
      case s: InternalRow => if (s.isNullAt(0)) null else s.getInt(0)
      case d: Decimal => d.toBigDecimal
      case other => other
    }
  }

  private def assertRows(stored: RowStore, expected: Seq[Int]): Unit = {
    val view = new BuildRowView(stored, types.toArray)
    assert(stored.rows == expected.size)
    expected.zipWithIndex.foreach { case (i, position) =>
      assert(values(view.at(position)) == values(row(i)), s"row $i at $position")
    }
  }

  test("rows come back in arrival order") {
    Seq(0, 1, 63, 64, 65, 3000, 32768, 32769, 70000).foreach(n => assertRows(store(n), 0 until n))
  }

  test("rows come back in another order, and fewer of them") {
    Seq(1000, 70000).foreach { rows =>
      val order = (0 until rows).filter(_ % 3 != 0).reverse.toArray
      assertRows(store(rows, order), order.toSeq)
    }
  }

  test("a row larger than a page has a page of its own") {
    val builder = new RowStoreBuilder(Seq(StringType))
    val large = UTF8String.fromString("x" * (20 << 20))
    Seq("a", "b").foreach(s => builder.add(InternalRow(UTF8String.fromString(s))))
    builder.add(InternalRow(large))
    builder.add(InternalRow(UTF8String.fromString("c")))
    val view = new BuildRowView(builder.result(Array.range(0, 4)), Array(StringType))
    assert(view.at(2).getUTF8String(0) == large)
    assert(Seq(0, 1, 3).map(view.at(_).getUTF8String(0).toString) == Seq("a", "b", "c"))
  }

  test("flat columns without nulls carry no null bits") {
    val builder = new RowStoreBuilder(Seq(LongType))
    builder.add(InternalRow(1L))
    assert(builder.result(Array(0)).columns.head.asInstanceOf[FlatColumn].nulls == null)
  }
}
