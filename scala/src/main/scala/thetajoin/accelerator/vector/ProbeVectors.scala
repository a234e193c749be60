package thetajoin.accelerator.vector

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.kit.LongOrder
import thetajoin.kit.keys.Groups

/**
 * Probe rows of a batch, by slot. A pair's score is computed by the index in 32 bits, and it is higher for vectors
 * that are nearer:
 *
 * {{{
 *   cosine      a b / (|a| |b|)
 *   product     a b * t * s                          t = 1 / |a|             s = 1 / the longest |b|
 *   distance    (a b - |b|^2 / 2) * t * s            t = the less of 1 / |a| and s
 * }}}
 *
 * All of these are between -1.5 and 1. It is off by less than [[slack]].
 */
private[vector] final class ProbeVectors(index: VectorRows) {
  import ProbeVectors._

  private val asked = index.asked
  private val dimensions = index.panels.dimensions
  private val finder = new Groups.Finder(index.groups)
  private val rounding = asked.rounding(dimensions)

  /** By which a score may be off. */
  val slack: Double = asked.slack(dimensions)

  private var count = 0
  private var vectors = Array.emptyFloatArray
  private var groups, kinds = new Array[Int](FirstSlots)

  /** By slot, t and the square of |a|. */
  private var scales, squares = new Array[Double](FirstSlots)
  private var leasts = new Array[Float](FirstSlots)

  def size: Int = count
  def group(slot: Int): Int = groups(slot)

  /** Which rows of its group are candidates: `Every`, `Unusual` or `Scored`. */
  def kind(slot: Int): Int = kinds(slot)

  /** Of candidates, but for unusual ones. */
  def leastScore(slot: Int): Float = leasts(slot)

  /** Which part of `taken` is subtracted from a product. */
  def part(slot: Int): Float = if (asked.isDistance) (scales(slot) / index.scale).toFloat else 1f

  def clear(): Unit = count = 0

  /** The slot of a key row; -1 if its keys equal none. */
  def add(row: InternalRow): Int = {
    val group = finder.find(row)
    if (group < 0) -1
    else {
      val slot = count
      if (slot == groups.length) grow()
      groups(slot) = group
      leasts(slot) = NoScore
      val array = row.getArray(index.keys)
      kinds(slot) =
        if (dimensions == 0 || array.numElements() != dimensions) Every
        else if (Coordinates.hasNull(array)) Unusual
        else put(slot, array.toFloatArray())
      if (kinds(slot) == Scored && asked.bound != null)
        leasts(slot) = leastScore(slot, asked.bound, row.getDouble(index.keys + 1))
      count = slot + 1
      slot
    }
  }

  private def put(slot: Int, vector: Array[Float]): Int = {
    val norm = Coordinates.norm(vector)
    if (!asked.isUsual(norm)) Every
    else if (norm == 0 && asked.isCosine) Unusual
    else {
      val ofLength = if (norm == 0) 1.0 else 1 / norm
      val scale = if (asked.isDistance) math.min(ofLength, index.scale) else ofLength
      scales(slot) = scale
      squares(slot) = norm * norm
      val at = Math.multiplyExact(slot, dimensions)
      if (at + dimensions > vectors.length)
        vectors = Arrays.copyOf(
          vectors,
          math.max(at + dimensions, LongOrder.grown(vectors.length))
        )
      var d = 0
      while (d < dimensions) {
        vectors(at + d) = (vector(d) * scale).toFloat
        d += 1
      }
      Scored
    }
  }

  private def grow(): Unit = {
    val capacity = LongOrder.grown(count)
    groups = Arrays.copyOf(groups, capacity)
    kinds = Arrays.copyOf(kinds, capacity)
    scales = Arrays.copyOf(scales, capacity)
    squares = Arrays.copyOf(squares, capacity)
    leasts = Arrays.copyOf(leasts, capacity)
  }

  /** Copies the scaled vector. */
  def copyTo(slot: Int, target: Array[Float], at: Int): Unit =
    System.arraycopy(vectors, slot * dimensions, target, at, dimensions)

  /** A score that each pair has at least whose value by this line is as near as `value`. */
  def leastScore(slot: Int, line: Line, value: Double): Float = {
    val off = (math.abs(value) + math.abs(line.offset)) * rounding + nextToZero(slot)
    val score =
      if (asked.isDistance) {
        val most = math.max(line.inverse(value, off), 0)
        (squares(slot) - most * most) * scaled(slot) / 2
      } else line.inverse(value, -off) * scaled(slot)
    val least = java.lang.Math.nextDown((score - slack).toFloat)
    // It is no number for a value that is none, which others may be less than.
    if (least > NoScore) least else NoScore
  }

  /**
   * By which a value may be off where coordinates or their products are next to zero, or were before they became
   * zero.
   */
  private def nextToZero(slot: Int): Double =
    Denormal * dimensions *
      (if (asked.areRounded) math.max(math.sqrt(squares(slot)) + 1 / index.scale, 1.0) else 1.0)

  /** The value by this line of a pair with a score, about. */
  def value(slot: Int, line: Line, score: Float): Double =
    line(
      if (asked.isDistance) math.sqrt(math.max(squares(slot) - 2 * score / scaled(slot), 0))
      else score / scaled(slot)
    )

  private def scaled(slot: Int): Double =
    if (asked.isCosine) 1.0 else scales(slot) * index.scale
}

private[vector] object ProbeVectors {

  /** Each row of the group is a candidate. */
  final val Every = 0

  /** Only unusual rows are. */
  final val Unusual = 1

  /** Unusual rows are, and others by their scores. */
  final val Scored = 2

  /** Below all scores. */
  final val NoScore: Float = -Float.MaxValue

  private val FirstSlots = 64

  /** More than a number of 32 bits is rounded by where it is next to zero. */
  private val Denormal = math.pow(2, -148)
}
