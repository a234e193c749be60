package thetajoin.large

/**
 * Bounds that cut the rows of two samples into ranges of about as many rows of either side.
 *
 * @param ofLeft the rows that were sampled of the left side
 * @param ofRight the rows that were sampled of the right side
 */
private[thetajoin] final class Quantiles(ofLeft: Sampled, ofRight: Sampled) {

  /**
   * @param most how many there are at most
   * @param mostCrossing the most rows of both sides, by estimate, that may be in several ranges. If they are more
   *   even with two bounds, there is none: the sides have no locality
   */
  def bounds(most: Int, mostCrossing: Long): Array[Long] = {
    var count = most
    var found = cut(count)
    while (found.nonEmpty && crossing(found) > mostCrossing) {
      count /= 2
      found = cut(count)
    }
    found
  }

  private def cut(count: Int): Array[Long] =
    (ofLeft.quantiles(count / 2) ++ ofRight.quantiles(count / 2)).distinct.sorted

  private def crossing(bounds: Array[Long]): Double =
    ofLeft.crossing(bounds) + ofRight.crossing(bounds)
}

/**
 * Some rows of a side, and how many rows each of them stands for.
 *
 * @param values the values of the rows, one row after the other
 * @param width how many values a row has
 * @param weights one for each row
 */
private[thetajoin] final class Sampled(values: Array[Long], width: Int, weights: Array[Double]) {

  /** Values with about as many rows from each to the next: of rows with several, by the first. */
  def quantiles(count: Int): Array[Long] = {
    val order = weights.indices.sortBy(row => values(row * width)).toArray
    val step = weights.sum / (count + 1)
    val found = Array.newBuilder[Long]
    var (below, next) = (0.0, step)
    for (row <- order) {
      if (below >= next) {
        found += values(row * width)
        while (below >= next) next += step
      }
      below += weights(row)
    }
    found.result()
  }

  /** How many rows have values in several ranges. */
  def crossing(bounds: Array[Long]): Double =
    if (width == 1) 0.0
    else
      weights.indices.iterator
        .filter(row =>
          RangeOf.of(bounds, values(row * width)) != RangeOf.of(bounds, values(row * width + 1))
        )
        .map(weights(_)).sum
}
