package thetajoin.accelerator.vector

/**
 * The pairs of vectors that are asked for: with a [[Similarity]] on this side of a bound, or the first in its order,
 * or both.
 *
 * @param isCosine whether vectors of length 1 are compared
 * @param isDistance whether the distance counts, and not the product
 * @param bound how the value that is compared with a bound follows from the measure; null without a bound
 * @param rank the same for the value that ranks matches; null if they are not ranked
 * @param isDescending whether the highest ranks come first
 * @param most how many matches are asked for
 * @param areSingle whether the function computes in 32 bits
 * @param areRounded whether vectors had coordinates of 64 bits
 */
private[vector] final case class Asked(
    isCosine: Boolean,
    isDistance: Boolean,
    bound: Line,
    rank: Line,
    isDescending: Boolean,
    most: Int,
    areSingle: Boolean,
    areRounded: Boolean
) {

  /**
   * Whether the function gives the expected values for vectors of this length. Products of longer ones may be
   * infinite as numbers of 32 bits, and so equal. If it computes in 32 bits, squares of lengths are multiplied as
   * well. Coordinates of 64 bits that are next to zero have lost digits, and a direction where they became zero.
   */
  def isUsual(length: Double): Boolean =
    if (areRounded && length < 1e-30 && (isCosine || length > 0)) false
    else if (areSingle) length == 0 || length >= 1e-9 && length <= 4e9
    else length <= 1e18

  /**
   * By how much a score may be off, in parts of the lengths of both vectors. With u = 2^-24, coordinates are rounded
   * up to twice on each side (4 u), and a sum of n products by n u at most (Higham, Accuracy and Stability of
   * Numerical Algorithms, 3.1); scaling, the subtraction and the bound itself round some ten times. If the function
   * adds up in 32 bits, it is off by as much.
   */
  def slack(dimensions: Int): Double =
    (if (areSingle) 2.0 * dimensions + 48 else dimensions + 18.0) * Asked.Rounding

  /**
   * By how much a value of the function may be rounded, in parts of it: when it becomes a number of 32 bits, is
   * negated, added to a constant, and compared. A distance that is added up in 32 bits is the sum of n squares one
   * after another at most. None of them is negative.
   */
  def rounding(dimensions: Int): Double =
    (if (areSingle) dimensions + 12 else 4) * Asked.Rounding
}

private object Asked {

  /** Of a number of 32 bits. */
  private val Rounding = math.pow(2, -24)
}

/** `offset + sign * x` of a measure x, or of its square. */
private[vector] final case class Line(sign: Int, offset: Double, isSquared: Boolean) {
  def apply(x: Double): Double = offset + sign * (if (isSquared) x * x else x)

  /** The measure that has this value, or one that is more or less by so much. */
  def inverse(y: Double, more: Double): Double = {
    val x = sign * (y - offset) + more
    if (isSquared) math.sqrt(math.max(x, 0)) else x
  }
}
