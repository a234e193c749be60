package thetajoin.accelerator.patterns

import java.util.Arrays

import org.apache.spark.sql.execution.thetabridge.Cancellation

/** The states of sorted strings, without links to shorter ones. */
private[patterns] final class StringTree(sorted: Array[Array[Byte]], cancellation: Cancellation) {
  private val most = 1 + sorted.foldLeft(0L)((sum, string) => sum + string.length)
  private var count = 1

  /** The strings that begin with a state are neighbours: the first of them, and where they end. */
  private var from, until = new Array[Int](1024)

  /** As of [[Automaton]]; the start has no label and is its own parent. */
  var labels = new Array[Byte](1024)
  var parents, strings, children = new Array[Int](1024)
  grow()

  def size: Int = count

  private def grow(): Unit = {
    until(0) = sorted.length
    var depth = 0
    var endOfLevel = 1
    var state = 0
    while (state < count) {
      if (state == endOfLevel) {
        depth += 1
        endOfLevel = count
      }
      split(state, depth)
      state += 1
      cancellation.count(1)
    }
    resize(count)
    children = Arrays.copyOf(children, count + 1)
    children(count) = count
  }

  private def split(state: Int, depth: Int): Unit = {
    children(state) = count
    strings(state) = -1
    var i = from(state)
    val end = until(state)
    if (i < end && sorted(i).length == depth) {
      strings(state) = i
      i += 1
    }
    while (i < end) {
      val label = sorted(i)(depth)
      if (count == labels.length) resize(math.min(most, 2L * count).toInt)
      from(count) = i
      while (i < end && sorted(i)(depth) == label) i += 1
      until(count) = i
      labels(count) = label
      parents(count) = state
      count += 1
    }
  }

  private def resize(size: Int): Unit = {
    from = Arrays.copyOf(from, size)
    until = Arrays.copyOf(until, size)
    labels = Arrays.copyOf(labels, size)
    parents = Arrays.copyOf(parents, size)
    strings = Arrays.copyOf(strings, size)
    children = Arrays.copyOf(children, size)
  }
}
