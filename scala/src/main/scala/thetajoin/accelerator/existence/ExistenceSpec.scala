package thetajoin.accelerator.existence

import org.apache.spark.sql.types._

import thetajoin.accelerator._

/** Numbers groups of rows by their keys, and finds the rows of each. */
private[existence] abstract class GroupingBuilder extends IndexBuilder {

  /** Called once, after all rows. */
  def grouped(): Grouping

  /** After [[grouped]]: the index over the groups' keys, if the rows of group g are `[starts(g), starts(g + 1))`. */
  def index(starts: Array[Int]): JoinIndex

  override def finish(): OrderedIndex = {
    val rows = grouped()
    OrderedIndex(index(rows.starts), rows.order)
  }
}

/**
 * The numbers of rows, group after group, and where in them each group starts. `starts` has the end of the last group too;
 * it is null if each group is one row.
 */
private[existence] final case class Grouping(starts: Array[Int], order: Array[Int])

/** Equal keys. If `distinct`, one row of each key is kept. */
final case class ExistenceSpec(distinct: Boolean = false) extends IndexSpec {
  override def forExistence: IndexSpec = copy(distinct = true)

  override def isDistinct: Boolean = distinct

  override def isPartitionable: Boolean = true

  override def newSeenKeys(keyTypes: Seq[DataType]): SeenKeys = new SeenMany(keyTypes)

  override def keyErrors: KeyErrors = KeyErrors.Raised

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = keyTypes match {
    case Seq(LongType) if distinct => new DistinctLongsBuilder
    case Seq(LongType) => new GroupedLongsBuilder
    case types => new GroupedBytesBuilder(types, distinct)
  }
}
