package thetajoin.accelerator.containment

import thetajoin.condition.OrderedLong

/**
 * An order of matches by how alike their sets are.
 *
 * @param weight ranks are parts times this
 * @param from ranks are this number less the part, in ascending order; NaN if they are parts in descending order
 * @param least matches are alike by this part at least
 * @param nulls where matches without a part come
 */
private[containment] final case class NearestOrder(
    measure: Measure,
    weight: Double,
    from: Double,
    least: Double,
    nulls: Int
) {
  private def isAscending: Boolean = !from.isNaN

  /** A rank that no match comes after, and one that no match comes before: the ranks of matches without a part. */
  def last: Double = if (isAscending) Double.PositiveInfinity else Double.NegativeInfinity
  def first: Double = -last

  /** The rank with this number, as `OrderedLong` has it, in ascending order. */
  def rank(number: Long): Double = (if (isAscending) number else ~number) match {
    case Long.MinValue => Double.NegativeInfinity
    case Long.MaxValue => Double.PositiveInfinity
    case ordered => OrderedLong.toDouble(ordered)
  }

  /** Whether sets of these sizes with so many tokens in common come before a rank. */
  def isBefore(rank: Double, common: Int, build: Int, probe: Int): Boolean = {
    val part = measure.part(common, build, probe)
    part >= least &&
    (if (isAscending) from - weight * part < rank else weight * part > rank)
  }

  /** Whether sets of these sizes have no part. */
  def isNull(build: Int, probe: Int): Boolean = measure.part(0, build, probe).isNaN
}

private[containment] object NearestOrder {
  final val NoNulls = 0
  final val NullsFirst = 1
  final val NullsLast = 2
}
