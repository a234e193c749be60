package thetajoin.accelerator.vector

import java.util.Arrays

import thetajoin.kit.LongOrder

/**
 * Rows that one probe vector has met, with their scores: the rows of a score at least. This least score rises once
 * there are more rows than are asked for.
 *
 * @param leastFor which score a row needs at least if the last of the rows that are asked for has this one
 */
private[vector] final class ScoredRows(leastFor: Float => Float) {
  private var rows = new Array[Int](ScoredRows.FirstRows)
  private var scores = new Array[Float](ScoredRows.FirstRows)
  private var count = 0
  private var lowest = 0f
  private var most = 0

  def size: Int = count

  /** Where the rows stand, at the start of the array. */
  def positions: Array[Int] = rows

  def score(i: Int): Float = scores(i)

  /** Which score a row needs. */
  def least: Float = lowest

  /** Starts on a probe vector that asks for so many rows of a score at least. */
  def start(least: Float, most: Int): Unit = {
    count = 0
    lowest = least
    this.most = most
    if (rows.length > ScoredRows.ManyRows) {
      rows = new Array[Int](ScoredRows.FirstRows)
      scores = new Array[Float](ScoredRows.FirstRows)
    }
  }

  /** Adds a row if it has the score that it needs. */
  def add(row: Int, score: Float): Unit = {
    if (count == rows.length) makeRoom()
    if (score >= lowest) {
      rows(count) = row
      scores(count) = score
      count += 1
    }
  }

  private def makeRoom(): Unit = {
    prune()
    if (count > rows.length / 2) {
      val capacity = LongOrder.grown(rows.length)
      rows = Arrays.copyOf(rows, capacity)
      scores = Arrays.copyOf(scores, capacity)
    }
  }

  /** Leaves out rows that can't be among the rows that are asked for. */
  def prune(): Unit = if (most < count) {
    val needed = leastFor(ScoredRows.highest(scores, count, most))
    if (needed > lowest) {
      lowest = needed
      var kept = 0
      var i = 0
      while (i < count) {
        if (scores(i) >= needed) {
          rows(kept) = rows(i)
          scores(kept) = scores(i)
          kept += 1
        }
        i += 1
      }
      count = kept
    }
  }
}

private[vector] object ScoredRows {
  private val FirstRows = 64

  /** Room for more than this is not kept. */
  private val ManyRows = 1 << 14

  /** Of so many scores the one at a place, counted from 1, if the highest came first. */
  def highest(scores: Array[Float], count: Int, place: Int): Float = {
    val copy = Arrays.copyOf(scores, count)
    var from = 0
    var until = count
    val wanted = count - place
    // Hoare's selection; the middle of three divides.
    while (until - from > 1) {
      val pivot = middle(copy(from), copy((from + until) >>> 1), copy(until - 1))
      var i = from
      var j = until - 1
      while (i <= j) {
        while (copy(i) < pivot) i += 1
        while (copy(j) > pivot) j -= 1
        if (i <= j) {
          val swap = copy(i)
          copy(i) = copy(j)
          copy(j) = swap
          i += 1
          j -= 1
        }
      }
      if (wanted <= j) until = j + 1
      else if (wanted >= i) from = i
      else {
        from = wanted
        until = wanted + 1
      }
    }
    copy(wanted)
  }

  private def middle(a: Float, b: Float, c: Float): Float =
    math.max(math.min(a, b), math.min(math.max(a, b), c))
}
