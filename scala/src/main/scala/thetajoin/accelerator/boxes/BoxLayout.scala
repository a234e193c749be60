package thetajoin.accelerator.boxes

import org.apache.spark.sql.execution.thetabridge.Cancellation

import thetajoin.kit.keys.Grouping

/**
 * The order in which rows are the leaves of a [[BoundTree]]: rows that are near each other in all dimensions stand
 * next to each other. The rows of a group are split in two halves along one dimension, each half along the dimension
 * that is best for it, and so on down to single blocks. Halves end where blocks do, and larger halves where larger
 * blocks do.
 *
 * Which dimension is best is estimated from some of the rows: the one in which halves are the smallest against the
 * whole, ends included. Along a dimension in which all rows are long, both halves are nearly as long as the whole.
 * Along one that is bounded from one end only, a probe row that asks for the upper half does not meet the lower one,
 * but the other way round it meets both.
 *
 * @param columns the numbers of so many rows, a column for each bound
 * @param cancellation counts rows as often as they are split
 */
private[boxes] final class BoxLayout(
    columns: Array[Array[Long]],
    rows: Int,
    extents: Seq[Extent],
    cancellation: Cancellation
) {
  import BoxLayout._

  private val dimensions = extents.toArray

  /** By dimension and row: the middle of the stretch that the row covers. Rows are split by it. */
  private val centers = dimensions.map(e => if (e.isHalf) columns(e.low) else middles(e))

  /** By dimension: where the values of the rows to split lie among all values, from 0.0 to 1.0. */
  private val least = Array.fill(dimensions.length)(0.0)
  private val greatest = Array.fill(dimensions.length)(1.0)

  private val sample = new Array[Int](MostSampled)
  private val sampled = new Array[Long](MostSampled)
  private var order = Array.emptyIntArray

  /** Puts the rows of each group in order, in place. */
  def arrange(groups: Grouping): Unit = {
    order = groups.order
    var group = 0
    while (group < groups.size) {
      split(groups.starts(group), groups.starts(group + 1))
      group += 1
    }
  }

  private def middles(extent: Extent): Array[Long] = {
    val middles = new Array[Long](rows)
    var row = 0
    while (row < rows) {
      middles(row) = (low(extent, row) >> 1) + (high(extent, row) >> 1)
      row += 1
    }
    middles
  }

  private def low(extent: Extent, row: Int): Long = ~columns(extent.low)(row)
  private def high(extent: Extent, row: Int): Long = columns(extent.high)(row)

  private def split(from: Int, until: Int): Unit =
    if (until - from > BoundTree.Size) {
      cancellation.count(until - from)
      val bySample = dimension(from, until)
      val best = if (bySample >= 0) bySample else centers.indexWhere(differ(_, from, until))
      if (best >= 0) {
        val at = middle(from, until)
        select(centers(best), from, until, at)
        val (first, last) = (least(best), greatest(best))
        val between = first + (last - first) * (at - from) / (until - from)
        greatest(best) = between
        split(from, at)
        greatest(best) = last
        least(best) = between
        split(at, until)
        least(best) = first
      }
    }

  /** The place next to the middle at which as large a block ends as fits. */
  private def middle(from: Int, until: Int): Int = {
    var block = BoundTree.Size.toLong
    while (block << BoundTree.Bits < until - from) block <<= BoundTree.Bits
    (((from.toLong + until) / 2 + block / 2) / block * block).toInt
  }

  /** Whether two rows have other values. */
  private def differ(keys: Array[Long], from: Int, until: Int): Boolean = {
    var i = from + 1
    while (i < until && keys(order(i)) == keys(order(from))) i += 1
    i < until
  }

  /** The best one; -1 if the sampled rows are the same in all of them. */
  private def dimension(from: Int, until: Int): Int = {
    val size = if (until - from < ManyRows) FewSampled else MostSampled
    var i = 0
    while (i < size) {
      sample(i) = order(from + (i.toLong * (until - from) / size).toInt)
      i += 1
    }
    var best = -1
    var smallest = 1.0
    var d = 0
    while (d < dimensions.length) {
      val part = half(d, size)
      if (part < smallest) {
        smallest = part
        best = d
      }
      d += 1
    }
    best
  }

  /** How much of the probe rows that meet the sampled rows meets one half of them, once split along a dimension. */
  private def half(d: Int, size: Int): Double = {
    val extent = dimensions(d)
    val spread = range(size, centers(d)(_))
    if (spread == 0.0) 1.0
    else if (extent.isHalf) 0.75 + 0.25 * least(d) / greatest(d)
    else {
      val part = greatest(d) - least(d)
      val length = median(size, row => distance(low(extent, row), high(extent, row)))
      // Probe rows have a length too, even where build rows have none.
      val added = part * length / spread + ProbeLength
      (part / 2 + added) / (part + added)
    }
  }

  /** From the lowest value to the highest, without values that are far out. */
  private def range(size: Int, value: Int => Long): Double = {
    sort(size, value)
    val out = size / OneIsFarOutOf
    val inner = distance(sampled(out), sampled(size - 1 - out))
    (if (inner > 0) inner else distance(sampled(0), sampled(size - 1))).toDouble
  }

  private def median(size: Int, value: Int => Long): Double = {
    sort(size, value)
    sampled(size / 2).toDouble
  }

  private def sort(size: Int, value: Int => Long): Unit = {
    var i = 0
    while (i < size) {
      sampled(i) = value(sample(i))
      i += 1
    }
    java.util.Arrays.sort(sampled, 0, size)
  }

  /** At least 0, and not beyond 64 bits. */
  private def distance(low: Long, high: Long): Long =
    if (high <= low) 0L else if (high - low < 0) Long.MaxValue else high - low

  /**
   * Brings the rows from `from` until `until` in such an order that none before `at` has a larger key than one from
   * there on.
   */
  private def select(keys: Array[Long], from: Int, until: Int, at: Int): Unit = {
    var low = from
    var high = until - 1
    while (low < high) {
      val pivot = ofThree(keys(order(low)), keys(order((low + high) >>> 1)), keys(order(high)))
      var i = low
      var j = high
      while (i <= j) {
        while (keys(order(i)) < pivot) i += 1
        while (keys(order(j)) > pivot) j -= 1
        if (i <= j) {
          val row = order(i)
          order(i) = order(j)
          order(j) = row
          i += 1
          j -= 1
        }
      }
      if (at <= j) high = j
      else if (at >= i) low = i
      else low = high
    }
  }

  private def ofThree(a: Long, b: Long, c: Long): Long =
    math.max(math.min(a, b), math.min(math.max(a, b), c))
}

private object BoxLayout {

  /** In parts of all values: this little only tells dimensions apart in which rows are points. */
  private final val ProbeLength = 1e-9
  private final val MostSampled = 64
  private final val FewSampled = 16
  private final val ManyRows = 4096
  private final val OneIsFarOutOf = 16
}
