package thetajoin.accelerator.existence

import java.util.Arrays

import thetajoin.kit.keys.Grouping
import thetajoin.kit.{Directory, LongOrder}

/** The rows of each group that are kept, to compare their values with the values of a probe row. */
private[existence] abstract class GroupTest extends Serializable {
  def bytes: Long

  /**
   * The position of a kept row of the group that matches the values which stand in `probe` from `at` on; -1 if none
   * does.
   */
  def find(group: Int, probe: Array[Long], at: Int): Int
}

/** `build value >= probe value`: the row with the highest value of each group. */
private[thetajoin] final class HighestTest(highest: Array[Long]) extends GroupTest {
  override def bytes: Long = 8L * highest.length
  override def find(group: Int, probe: Array[Long], at: Int): Int =
    if (highest(group) >= probe(at)) group else -1
}

/**
 * `build value <> probe value`: a row with the lowest value of each group and one with the highest, in turn; the same
 * row twice if it has both.
 */
private[thetajoin] final class UnequalTest(extremes: Array[Long]) extends GroupTest {
  override def bytes: Long = 8L * extremes.length
  override def find(group: Int, probe: Array[Long], at: Int): Int = {
    val lowest = group << 1
    if (extremes(lowest) != probe(at)) lowest
    else if (extremes(lowest + 1) != probe(at)) lowest + 1
    else -1
  }
}

/**
 * `build values >= probe values` for two of them: the rows that no other row of the group beats in both. In ascending
 * order of their first value these descend in their second, as stairs do. The first step that is high enough in the
 * one value is also the best in the other.
 *
 * {{{
 *   rows (1,9) (3,4) (4,7) (6,2)      steps  first   1 4 6     probe (2,5): step (4,7), which is enough
 *   (4,7) beats (3,4)                        second  9 7 2     probe (5,5): step (6,2), which is not
 * }}}
 *
 * @param starts where the steps of each group start; the end of the last too
 * @param directory over the first values if there is but one group
 */
private[thetajoin] final class StaircaseTest(
    starts: Array[Int],
    first: Array[Long],
    second: Array[Long],
    directory: Option[Directory]
) extends GroupTest {
  override def bytes: Long =
    4L * starts.length + 16L * first.length + directory.fold(0L)(_.bytes)

  override def find(group: Int, probe: Array[Long], at: Int): Int = {
    val end = starts(group + 1)
    val step =
      if (directory.isDefined) directory.get.firstAtLeast(first, probe(at))
      else LongOrder.firstAtLeast(first, probe(at), starts(group), end)
    if (step < end && second(step) >= probe(at + 1)) step else -1
  }
}

/** A test, and the numbers of the rows that it keeps by position. */
private[existence] final case class KeptRows(test: GroupTest, rows: Array[Int])

private[existence] object KeptRows {

  def highest(groups: Grouping, values: Array[Long]): KeptRows = {
    val rows = groups.best(values(_) > values(_))
    KeptRows(new HighestTest(rows.map(values(_))), rows)
  }

  def extremes(groups: Grouping, values: Array[Long]): KeptRows = {
    val lowest = groups.best(values(_) < values(_))
    val highest = groups.best(values(_) > values(_))
    val rows = Array.tabulate(lowest.length * 2) { position =>
      if (position % 2 == 0) lowest(position / 2) else highest(position / 2)
    }
    KeptRows(new UnequalTest(rows.map(values(_))), rows)
  }

  def stairs(groups: Grouping, first: Array[Long], second: Array[Long]): KeptRows = {
    val sorted = groups.sortedBy(LongOrder.ascending(first, groups.order.length))
    val starts = sorted.starts.clone()
    val kept = new Array[Int](sorted.order.length)
    // From the last row to the first, so that a row is a step if it beats the step before it.
    var from = kept.length
    var group = groups.size - 1
    while (group >= 0) {
      val end = from
      var i = sorted.starts(group + 1) - 1
      while (i >= sorted.starts(group)) {
        val row = sorted.order(i)
        if (from == end || second(row) > second(kept(from))) {
          from -= 1
          kept(from) = row
        }
        i -= 1
      }
      starts(group + 1) = end
      group -= 1
    }
    val rows = Arrays.copyOfRange(kept, from, kept.length)
    val firsts = rows.map(first(_))
    val directory = if (groups.size == 1) Some(Directory(firsts)) else None
    val test = new StaircaseTest(
      (from +: starts.tail).map(_ - from),
      firsts,
      rows.map(second(_)),
      directory
    )
    KeptRows(test, rows)
  }
}
