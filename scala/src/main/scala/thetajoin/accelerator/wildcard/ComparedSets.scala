package thetajoin.accelerator.wildcard

/**
 * The sets of columns that rules compare, in an order in which the sum of any numbers of a set's columns is that of an earlier set and one
 * number more. Sets that no rule compares are among them where a later set needs their sum.
 *
 * {{{
 *   columns (bits)     0000 0001 0010 0011 0100 ..
 *   isCompared           no  yes  yes  yes   no ..
 *   sum is that of             0    0    2    0 ..  and the number of the lowest column
 * }}}
 */
final class ComparedSets private (
    sets: Array[Long],
    isCompared: Array[Boolean],
    earlier: Array[Int],
    lowest: Array[Int]
) extends Serializable {
  def size: Int = sets.length

  /** A bit for each column of a set, the lowest for the first. */
  def columns(set: Int): Long = sets(set)

  /** Whether rules compare the columns of a set and none of them is unknown. */
  def isAsked(set: Int, unknown: Long): Boolean = isCompared(set) && (sets(set) & unknown) == 0L

  /** The sum of the numbers of a set's columns, after all earlier sets were asked for theirs. */
  def sum(set: Int, ofColumns: Array[Long], sums: Array[Long]): Long = {
    val sum = if (set == 0) 0L else sums(earlier(set)) + ofColumns(lowest(set))
    sums(set) = sum
    sum
  }
}

private[wildcard] object ComparedSets {

  /** A bit for each column of a set. */
  def apply(compared: Seq[Long]): ComparedSets = {
    def withoutLowest(set: Long) = set & (set - 1L)
    val all = (0L +: compared.flatMap(Iterator.iterate(_)(withoutLowest).takeWhile(_ != 0L)))
      .distinct.sorted.toArray
    val place = all.zipWithIndex.toMap
    new ComparedSets(
      all,
      all.map(compared.toSet),
      all.map(set => place(withoutLowest(set))),
      all.map(java.lang.Long.numberOfTrailingZeros(_))
    )
  }
}
