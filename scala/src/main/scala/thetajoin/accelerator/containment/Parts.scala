package thetajoin.accelerator.containment

/**
 * The part by which each build row must be alike, see [[Measure]]. Rows whose part is not above 0 are alike to all
 * sets.
 *
 * @param least of all parts above 0
 * @param ofRows null if it is the same for all rows
 * @param always how many rows are alike to all sets, in the order of an index, which has them first
 */
final class Parts private (val least: Double, ofRows: Array[Double], val always: Int)
    extends Serializable {
  def bytes: Long = if (ofRows == null) 0L else 8L * ofRows.length
  def of(row: Int): Double = if (ofRows == null) least else ofRows(row)

  def inOrder(order: Array[Int]): Parts =
    if (ofRows == null) this else new Parts(least, order.map(ofRows(_)), always)
}

private[containment] object Parts {
  def same(part: Double): Parts = new Parts(part, ofRows = null, always = 0)

  /** No set is alike by NaN, which is above all numbers. */
  def apply(ofRows: Array[Double]): Parts = {
    val parts = ofRows.map(part => if (part.isNaN) Double.PositiveInfinity else part)
    val least = parts.foldLeft(Double.PositiveInfinity) { (least, part) =>
      if (part > 0.0) math.min(least, part) else least
    }
    new Parts(least, parts, parts.count(_ <= 0.0))
  }
}
