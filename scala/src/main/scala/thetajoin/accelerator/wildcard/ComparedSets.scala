package thetajoin.accelerator.wildcard

import java.util.Arrays

/**
 * The sets of columns that rules compare, in an order in which the sum of any numbers of a set's columns can start
 * from the sum of an earlier set: the largest set that is left of it without some of its lowest columns.
 *
 * {{{
 *   columns (bits)    0001   0010   0011   0111   1100
 *   earlier           none   none   0010   none   none
 *   added             0001   0010   0001   0111   1100
 * }}}
 */
final class ComparedSets private (sets: Array[Long], earlier: Array[Int], added: Array[Long])
    extends Serializable {
  def size: Int = sets.length

  def bytes: Long = 20L * sets.length

  /** A bit for each column of a set, the lowest for the first. */
  def columns(set: Int): Long = sets(set)

  /** The sum of the numbers of a set's columns, after all earlier sets were asked for theirs. */
  def sum(set: Int, ofColumns: Array[Long], sums: Array[Long]): Long = {
    var sum = if (earlier(set) < 0) 0L else sums(earlier(set))
    var rest = added(set)
    while (rest != 0L) {
      sum += ofColumns(java.lang.Long.numberOfTrailingZeros(rest))
      rest &= rest - 1L
    }
    sums(set) = sum
    sum
  }
}

private[wildcard] object ComparedSets {

  /** @param sets a bit for each column, of 63 at most; each set once */
  def apply(sets: Array[Long]): ComparedSets = {
    val sorted = sets.sorted
    val earlier = sorted.map(earlierOf(_, sorted))
    val added =
      sorted.indices.map(i => if (earlier(i) < 0) sorted(i) else sorted(i) & ~sorted(earlier(i)))
    new ComparedSets(sorted, earlier, added.toArray)
  }

  private def earlierOf(set: Long, sorted: Array[Long]): Int = {
    var left = set & (set - 1L)
    var at = -1
    while (left != 0L && at < 0) {
      at = Arrays.binarySearch(sorted, left)
      left &= left - 1L
    }
    math.max(at, -1)
  }
}
