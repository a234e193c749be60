package thetajoin.kit.keys

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.contract.JoinIndex

object Groupings {

  /** For key rows of these types, as [[thetajoin.kit.EqualKeys]] makes them; all rows are kept. */
  def by(types: Seq[DataType]): GroupingBuilder = types match {
    case Nil => new OneGroupBuilder
    case Seq(LongType) => new GroupedLongsBuilder
    case _ => new GroupedBytesBuilder(types, distinct = false)
  }
}

/** All rows are one group, if there are any: there is no key. */
private final class OneGroupBuilder extends GroupingBuilder {
  private var rows = 0

  override def add(row: InternalRow): Unit = rows += 1

  /** Row numbers in two orders. */
  override def bytes: Long = 2 * 4L * rows
  override def grouped(): Grouping =
    Grouping(if (rows == 0) Array(0) else Array(0, rows), Array.range(0, rows))
  override def index(starts: Array[Int]): JoinIndex =
    throw new UnsupportedOperationException("rows without a key are not looked up by it")
  override def groups: Groups = Groups.One(rows == 0)
}
