package thetajoin.accelerator.vector;

/**
 * Inner products of probe vectors with build vectors. Build vectors lie in panels of {@link #LANES} of them,
 * dimension by dimension: the first coordinates of all, then the second ones. For one task.
 */
abstract class Products {

  /** Build vectors of a panel. */
  static final int LANES = 32;

  /** How many panels are best multiplied at once. */
  abstract int panels();

  /**
   * The products of probe vectors, which lie one after another, with each vector of some panels. The product of a
   * pair is the same, bit by bit, whatever else is multiplied with it.
   *
   * @param count how many probe vectors there are
   * @param at where the first panel begins
   * @param panels how many panels there are, {@link #panels()} at most
   * @param out receives the products: of the first probe vector with the first panel, with the second one, and so on
   */
  abstract void multiply(
      float[] probes, int count, int dimensions, float[] build, int at, int panels, float[] out);

  /**
   * Subtracts a part of a number for each lane from the products of a probe vector with a panel, and tells as bits
   * which of these scores are at least some score.
   *
   * @param at where the products begin, and the scores after the call
   * @param taken the numbers, from {@code takenAt} on
   */
  abstract int score(float[] out, int at, float[] taken, int takenAt, float part, float least);
}
