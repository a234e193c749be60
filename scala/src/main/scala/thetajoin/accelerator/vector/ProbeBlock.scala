package thetajoin.accelerator.vector

import org.apache.spark.sql.execution.thetabridge.Cancellation

/**
 * Computes the scores of probe vectors with all vectors of their groups: many probe vectors meet some panels, then
 * the next ones, so that panels are read once for a block. For one task, which ends within it if it is killed.
 */
private[vector] final class ProbeBlock(
    index: VectorRows,
    probes: ProbeVectors,
    cancellation: Cancellation
) {
  import ProbeBlock._
  import Products.LANES

  private val dimensions = index.panels.dimensions
  private val products = FastestProducts.newProducts()
  private val panelsAtOnce = products.panels
  private var vectors = Array.emptyFloatArray
  private var out = Array.emptyFloatArray
  private var parts = Array.emptyFloatArray

  /**
   * Of the probe vectors in `slots` from one place to another, which are of one group. The rows of each go where
   * `targets` has the same place. False if it was given up since these targets together have more than so many rows.
   */
  def meet(
      slots: Array[Int],
      targets: Array[ScoredRows],
      first: Int,
      last: Int,
      mostRows: Int
  ): Boolean = {
    val count = last - first
    load(slots, first, count)
    val group = probes.group(slots(first))
    val (from, until) = (index.starts(group), index.unusual(group))
    var panel = from / LANES
    val end = Panels.rounded(until)
    var goesOn = true
    while (from < until && panel < end && goesOn) {
      val panels = math.min(panelsAtOnce, math.min(end, index.panels.endOfPiece(panel)) - panel)
      cancellation.count(count * panels * dimensions)
      products.multiply(
        vectors,
        count,
        dimensions,
        index.panels.piece(panel),
        index.panels.start(panel),
        panels,
        out
      )
      var i = 0
      var rows = 0
      while (i < count) {
        score(i, targets(first + i), panel, panels, from, until)
        rows += targets(first + i).size
        i += 1
      }
      goesOn = rows <= mostRows
      panel += panels
    }
    goesOn
  }

  private def load(slots: Array[Int], first: Int, count: Int): Unit = {
    if (vectors.length < count * dimensions) {
      vectors = new Array[Float](count * dimensions)
      out = new Array[Float](count * panelsAtOnce * LANES)
      parts = new Array[Float](count)
    }
    var i = 0
    while (i < count) {
      probes.copyTo(slots(first + i), vectors, i * dimensions)
      parts(i) = probes.part(slots(first + i))
      i += 1
    }
  }

  private def score(
      i: Int,
      target: ScoredRows,
      panel: Int,
      panels: Int,
      from: Int,
      until: Int
  ): Unit = {
    var p = 0
    while (p < panels) {
      val at = (i * panels + p) * LANES
      val start = (panel + p) * LANES
      var bits = products.score(out, at, index.taken, start, parts(i), target.least) &
        lanes(from - start, until - start)
      while (bits != 0) {
        val lane = Integer.numberOfTrailingZeros(bits)
        target.add(start + lane, out(at + lane))
        bits &= bits - 1
      }
      p += 1
    }
  }
}

private object ProbeBlock {

  /** The lanes of a panel from one to another, as bits. */
  private def lanes(from: Int, until: Int): Int = {
    val high = if (until >= Products.LANES) -1 else (1 << until) - 1
    if (from <= 0) high else high & (-1 << from)
  }
}
