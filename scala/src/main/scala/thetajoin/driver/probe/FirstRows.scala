package thetajoin.driver.probe

/**
 * The first `most` of a probe row's matches in the order of their rank, if it is not joined with all of them. There
 * is one for each task; generated code hands matches over. They come in that order ([[add]]) or in any ([[offer]],
 * then [[sort]]).
 */
final class FirstRows(most: Int) {
  private var places = new Array[Int](math.min(most, FirstRows.InitialRows))
  private var ranks = new Array[Long](places.length)
  private var count = 0

  def clear(): Unit = count = 0

  def size: Int = count

  def isFull: Boolean = count >= most

  /** Where the build rows stand, at the start of the array. */
  def positions: Array[Int] = places

  def add(position: Int): Unit = add(position, rank = 0L)

  /** Takes a match if no `most` others come before it. Of equal ranks the lower position is the first. */
  def offer(position: Int, rank: Long): Unit =
    if (count < most) {
      add(position, rank)
      rise(count - 1)
    } else if (rank <= ranks(0) && isAfter(0, rank, position)) {
      places(0) = position
      ranks(0) = rank
      sink(count)
    }

  /** Whether a match of this rank may be one of the first. */
  def takes(rank: Long): Boolean = count < most || rank <= ranks(0)

  /** The highest rank of the matches that were offered. There is at least one. */
  def highestRank: Long = ranks(0)

  /** Puts the matches that were offered into the order of their rank. */
  def sort(): Unit = {
    var end = count - 1
    while (end > 0) {
      swap(0, end)
      sink(end)
      end -= 1
    }
  }

  private def add(position: Int, rank: Long): Unit = {
    if (count == places.length) {
      val capacity = math.min(most.toLong, count.toLong * 2).toInt
      places = java.util.Arrays.copyOf(places, capacity)
      ranks = java.util.Arrays.copyOf(ranks, capacity)
    }
    places(count) = position
    ranks(count) = rank
    count += 1
  }

  /** Moves the last element of a heap, which has the last in order at the top, to its place. */
  private def rise(from: Int): Unit = {
    var child = from
    while (child > 0 && isAfter(child, ranks((child - 1) / 2), places((child - 1) / 2))) {
      swap(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /** Moves the top of a heap of `size` to its place. */
  private def sink(size: Int): Unit = {
    var parent = 0
    var next = laterChild(parent, size)
    while (next < size && isAfter(next, ranks(parent), places(parent))) {
      swap(parent, next)
      parent = next
      next = laterChild(parent, size)
    }
  }

  private def laterChild(parent: Int, size: Int): Int = {
    val child = 2 * parent + 1
    if (child + 1 < size && isAfter(child + 1, ranks(child), places(child))) child + 1 else child
  }

  private def isAfter(i: Int, rank: Long, position: Int): Boolean =
    ranks(i) > rank || ranks(i) == rank && places(i) > position

  private def swap(i: Int, j: Int): Unit = {
    val (place, rank) = (places(i), ranks(i))
    places(i) = places(j)
    ranks(i) = ranks(j)
    places(j) = place
    ranks(j) = rank
  }
}

private object FirstRows {
  private val InitialRows = 16
}
