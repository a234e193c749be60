package thetajoin.kit.keys

import thetajoin.contract.{IndexBuilder, JoinIndex, OrderedIndex}

/**
 * Groups rows by keys that must be equal. It is the builder of an index over such keys, or a part of a builder that
 * sorts the rows of each group and keeps [[groups]] to find them.
 */
abstract class GroupingBuilder private[keys] extends IndexBuilder {

  /** Called once, after all rows. */
  def grouped(): Grouping

  /** After [[grouped]]: the index over the groups' keys, if the rows of group g are `[starts(g), starts(g + 1))`. */
  def index(starts: Array[Int]): JoinIndex

  /** After [[grouped]]: the structure that finds a group by its key. */
  def groups: Groups

  override def finish(): OrderedIndex = {
    val rows = grouped()
    OrderedIndex(index(rows.starts), rows.order)
  }
}

/**
 * The numbers of rows, group after group, and where in them each group starts. `starts` has the end of the last group
 * too; it is null if each group is one row.
 */
final case class Grouping(starts: Array[Int], order: Array[Int]) {

  /** How many groups there are, if `starts` is not null. */
  def size: Int = starts.length - 1

  /** Of each group the row that no other is better than. */
  def best(better: (Int, Int) => Boolean): Array[Int] = {
    val rows = new Array[Int](size)
    var group = 0
    while (group < rows.length) {
      var i = starts(group)
      var best = order(i)
      while (i < starts(group + 1)) {
        if (better(order(i), best)) best = order(i)
        i += 1
      }
      rows(group) = best
      group += 1
    }
    rows
  }

  /** The group of each row. */
  def groupOf: Array[Int] = {
    val groupOf = new Array[Int](order.length)
    var group = 0
    var i = 0
    while (i < order.length) {
      while (i >= starts(group + 1)) group += 1
      groupOf(order(i)) = group
      i += 1
    }
    groupOf
  }

  /** The same groups, the rows of each in the order in which they stand in `sorted`. */
  def sortedBy(sorted: Array[Int]): Grouping = Grouping.of(starts, groupOf, order.length, sorted(_))
}

object Grouping {

  /** Of rows whose groups are known, the rows of each group in the order in which `row` numbers them. */
  private[keys] def of(
      starts: Array[Int],
      groupOf: Array[Int],
      rows: Int,
      row: Int => Int
  ): Grouping = {
    val next = starts.clone()
    val order = new Array[Int](rows)
    var i = 0
    while (i < rows) {
      val group = groupOf(row(i))
      order(next(group)) = row(i)
      next(group) += 1
      i += 1
    }
    Grouping(starts, order)
  }
}
