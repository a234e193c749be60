package thetajoin.accelerator.vector;

import java.util.Arrays;

/**
 * By loops over arrays of their own. The JIT makes vector instructions of these, but not of loops that read one array
 * at several places.
 */
final class LoopProducts extends Products {
  private static final int PANELS = 8;
  private static final int WIDTH = PANELS * LANES;

  /** So many dimensions of the panels stay in a near cache while all probe vectors meet them. */
  private static final int BLOCK = 64;

  private final float[][] columns = new float[BLOCK][WIDTH];
  private final float[] sums = new float[WIDTH];
  private final float[] values = new float[BLOCK];

  @Override
  int panels() {
    return PANELS;
  }

  @Override
  void multiply(
      float[] probes, int count, int dimensions, float[] build, int at, int panels, float[] out) {
    int width = panels * LANES;
    for (int from = 0; from == 0 || from < dimensions; from += BLOCK) {
      int block = Math.min(BLOCK, dimensions - from);
      for (int k = 0; k < block; k++)
        for (int panel = 0; panel < panels; panel++)
          System.arraycopy(
              build, at + (panel * dimensions + from + k) * LANES, columns[k], panel * LANES, LANES);
      for (int i = 0; i < count; i++) {
        System.arraycopy(probes, i * dimensions + from, values, 0, block);
        // Columns of an earlier block are multiplied by zero.
        Arrays.fill(values, block, BLOCK, 0f);
        if (from == 0) Arrays.fill(sums, 0f);
        else System.arraycopy(out, i * width, sums, 0, width);
        for (int k = 0; k < block; k += 4)
          add(values[k], values[k + 1], values[k + 2], values[k + 3],
              columns[k], columns[k + 1], columns[k + 2], columns[k + 3], sums);
        System.arraycopy(sums, 0, out, i * width, width);
      }
    }
  }

  private static void add(
      float a, float b, float c, float d, float[] w, float[] x, float[] y, float[] z, float[] sums) {
    for (int j = 0; j < WIDTH; j++)
      sums[j] += (a * w[j] + b * x[j]) + (c * y[j] + d * z[j]);
  }

  @Override
  int score(float[] out, int at, float[] taken, int takenAt, float part, float least) {
    int bits = 0;
    for (int lane = 0; lane < LANES; lane++) {
      float score = out[at + lane] - part * taken[takenAt + lane];
      out[at + lane] = score;
      if (score >= least) bits |= 1 << lane;
    }
    return bits;
  }
}
