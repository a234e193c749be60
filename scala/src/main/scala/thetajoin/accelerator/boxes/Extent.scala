package thetajoin.accelerator.boxes

import thetajoin.kit.Bound

/**
 * A dimension of a box, by the places of the bounds that are compared with its ends. A bound without an opposite one
 * is both.
 *
 * @param low of the bound that the lower end must not be above, a negated number
 * @param high of the bound that the upper end must not be below
 */
final case class Extent(low: Int, high: Int) {
  def isHalf: Boolean = low == high
}

private[boxes] object Extent {

  /** Whether two bounds are the ends of one dimension for sure. */
  def isOne(a: Bound, b: Bound): Boolean =
    a.isSamePoint(b) || a.isOpposite(b) && a.build.semanticEquals(b.build)

  /**
   * Two opposite bounds are the ends of one dimension if they are compared with one number of the probe row, or
   * compare one number of the build row, or else if one is the next that is opposite to the other. A pair that is
   * none makes the tree slower and gives the same rows.
   */
  def of(bounds: IndexedSeq[Bound]): Seq[Extent] = {
    val rules = Seq[(Bound, Bound) => Boolean](isOne, _.isOpposite(_))
    val pairs = rules.foldLeft(Seq.empty[Extent]) { (found, rule) =>
      bounds.indices.foldLeft(found) { (found, i) =>
        def isFree(j: Int) = !found.exists(e => e.low == j || e.high == j)
        val partner = (i + 1 until bounds.size).find(j => isFree(j) && rule(bounds(i), bounds(j)))
        found ++ partner.filter(_ => isFree(i)).map { j =>
          if (bounds(i).isLower) Extent(low = j, high = i) else Extent(low = i, high = j)
        }
      }
    }
    val single = bounds.indices.filterNot(i => pairs.exists(e => e.low == i || e.high == i))
    pairs ++ single.map(i => Extent(i, i))
  }
}
