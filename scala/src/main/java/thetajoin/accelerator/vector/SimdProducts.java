package thetajoin.accelerator.vector;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * By the JDK's Vector API. Six probe vectors meet two vectors of lanes at a time, so that twelve sums stay in
 * registers.
 */
final class SimdProducts extends Products {
  private static final VectorSpecies<Float> SPECIES =
      FloatVector.SPECIES_PREFERRED.length() > LANES / 2
          ? FloatVector.SPECIES_512
          : FloatVector.SPECIES_PREFERRED;
  private static final int WIDTH = SPECIES.length();

  /** So many dimensions of a panel stay in the first cache while all probe vectors meet them. */
  private static final int BLOCK = 192;

  @Override
  int panels() {
    return 1;
  }

  @Override
  void multiply(
      float[] probes, int count, int dimensions, float[] build, int at, int panels, float[] out) {
    // One panel at a time: panels is 1.
    for (int from = 0; from == 0 || from < dimensions; from += BLOCK) {
      int until = Math.min(from + BLOCK, dimensions);
      for (int lane = 0; lane < LANES; lane += 2 * WIDTH) {
        int column = at + lane;
        int i = 0;
        for (; i + 6 <= count; i += 6)
          six(probes, i * dimensions, dimensions, from, until, build, column, out,
              i * LANES + lane);
        for (; i < count; i++)
          one(probes, i * dimensions, from, until, build, column, out, i * LANES + lane);
      }
    }
  }

  private static void six(
      float[] p, int at, int dimensions, int from, int until, float[] build, int column,
      float[] out, int to) {
    FloatVector a0, a1, b0, b1, c0, c1, d0, d1, e0, e1, f0, f1;
    int t = to;
    if (from == 0) {
      a0 = FloatVector.zero(SPECIES);
      a1 = b0 = b1 = c0 = c1 = d0 = d1 = e0 = e1 = f0 = f1 = a0;
    } else {
      a0 = FloatVector.fromArray(SPECIES, out, t);
      a1 = FloatVector.fromArray(SPECIES, out, t + WIDTH);
      t += LANES;
      b0 = FloatVector.fromArray(SPECIES, out, t);
      b1 = FloatVector.fromArray(SPECIES, out, t + WIDTH);
      t += LANES;
      c0 = FloatVector.fromArray(SPECIES, out, t);
      c1 = FloatVector.fromArray(SPECIES, out, t + WIDTH);
      t += LANES;
      d0 = FloatVector.fromArray(SPECIES, out, t);
      d1 = FloatVector.fromArray(SPECIES, out, t + WIDTH);
      t += LANES;
      e0 = FloatVector.fromArray(SPECIES, out, t);
      e1 = FloatVector.fromArray(SPECIES, out, t + WIDTH);
      t += LANES;
      f0 = FloatVector.fromArray(SPECIES, out, t);
      f1 = FloatVector.fromArray(SPECIES, out, t + WIDTH);
    }
    int q = column + from * LANES;
    for (int k = from; k < until; k++, q += LANES) {
      FloatVector x = FloatVector.fromArray(SPECIES, build, q);
      FloatVector y = FloatVector.fromArray(SPECIES, build, q + WIDTH);
      int i = at + k;
      FloatVector v = FloatVector.broadcast(SPECIES, p[i]);
      a0 = v.fma(x, a0);
      a1 = v.fma(y, a1);
      v = FloatVector.broadcast(SPECIES, p[i + dimensions]);
      b0 = v.fma(x, b0);
      b1 = v.fma(y, b1);
      v = FloatVector.broadcast(SPECIES, p[i + 2 * dimensions]);
      c0 = v.fma(x, c0);
      c1 = v.fma(y, c1);
      v = FloatVector.broadcast(SPECIES, p[i + 3 * dimensions]);
      d0 = v.fma(x, d0);
      d1 = v.fma(y, d1);
      v = FloatVector.broadcast(SPECIES, p[i + 4 * dimensions]);
      e0 = v.fma(x, e0);
      e1 = v.fma(y, e1);
      v = FloatVector.broadcast(SPECIES, p[i + 5 * dimensions]);
      f0 = v.fma(x, f0);
      f1 = v.fma(y, f1);
    }
    t = to;
    a0.intoArray(out, t);
    a1.intoArray(out, t + WIDTH);
    t += LANES;
    b0.intoArray(out, t);
    b1.intoArray(out, t + WIDTH);
    t += LANES;
    c0.intoArray(out, t);
    c1.intoArray(out, t + WIDTH);
    t += LANES;
    d0.intoArray(out, t);
    d1.intoArray(out, t + WIDTH);
    t += LANES;
    e0.intoArray(out, t);
    e1.intoArray(out, t + WIDTH);
    t += LANES;
    f0.intoArray(out, t);
    f1.intoArray(out, t + WIDTH);
  }

  /** Adds up in the same order: the product of two vectors is the same whichever others they come with. */
  private static void one(
      float[] p, int at, int from, int until, float[] build, int column, float[] out, int to) {
    FloatVector a0, a1;
    if (from == 0) a0 = a1 = FloatVector.zero(SPECIES);
    else {
      a0 = FloatVector.fromArray(SPECIES, out, to);
      a1 = FloatVector.fromArray(SPECIES, out, to + WIDTH);
    }
    int q = column + from * LANES;
    for (int k = from; k < until; k++, q += LANES) {
      FloatVector v = FloatVector.broadcast(SPECIES, p[at + k]);
      a0 = v.fma(FloatVector.fromArray(SPECIES, build, q), a0);
      a1 = v.fma(FloatVector.fromArray(SPECIES, build, q + WIDTH), a1);
    }
    a0.intoArray(out, to);
    a1.intoArray(out, to + WIDTH);
  }

  @Override
  int score(float[] out, int at, float[] taken, int takenAt, float part, float least) {
    int bits = 0;
    for (int lane = 0; lane < LANES; lane += WIDTH) {
      FloatVector scores =
          FloatVector.fromArray(SPECIES, out, at + lane)
              .sub(FloatVector.fromArray(SPECIES, taken, takenAt + lane).mul(part));
      scores.intoArray(out, at + lane);
      // Few are; JDK 17 takes long to make a mask a number.
      if (scores.compare(VectorOperators.GE, least).anyTrue())
        for (int i = lane; i < lane + WIDTH; i++) if (out[at + i] >= least) bits |= 1 << i;
    }
    return bits;
  }
}
