package thetajoin.accelerator.patterns

import java.util.{Arrays, Comparator}

import org.apache.spark.sql.execution.thetabridge.Cancellation

import thetajoin.kit.LongOrder

/** Texts in the order of their bytes, which are unsigned, from the first to the last or from the last to the first. */
private[patterns] object TextOrder {

  /**
   * The numbers of texts in ascending order.
   *
   * @param cancellation counts texts as often as they are looked at
   */
  def sorted(
      texts: Array[Array[Byte]],
      backwards: Boolean,
      cancellation: Cancellation
  ): Array[Int] = {
    val order = Array.range(0, texts.length)
    new Sorter(texts, backwards, cancellation).sort(order, 0)
  }

  /**
   * The first place in `[from, until)` of a text that begins with these bytes, or comes after all such texts if
   * `isAfter`.
   *
   * @param order where the texts stand in their order from the end, for texts that end with the bytes; null if they
   *   stand in order themselves
   */
  def find(
      texts: Array[Array[Byte]],
      order: Array[Int],
      bytes: Array[Byte],
      from: Int,
      until: Int,
      isAfter: Boolean
  ): Int = {
    var low = from
    var high = until
    while (low < high) {
      val middle = (low + high) >>> 1
      val text = texts(if (order == null) middle else order(middle))
      val c = compareBeginning(text, bytes, backwards = order != null)
      if (c < 0 || c == 0 && isAfter) low = middle + 1 else high = middle
    }
    low
  }

  /** 0 if a text begins with these bytes. */
  private def compareBeginning(text: Array[Byte], bytes: Array[Byte], backwards: Boolean): Int = {
    val length = math.min(text.length, bytes.length)
    var i = 0
    while (i < length && at(text, i, backwards) == at(bytes, i, backwards)) i += 1
    if (i < length) Integer.compare(at(text, i, backwards), at(bytes, i, backwards))
    else if (text.length < bytes.length) -1
    else 0
  }

  private def at(text: Array[Byte], i: Int, backwards: Boolean): Int =
    (if (backwards) text(text.length - 1 - i) else text(i)) & 0xff

  /** By numbers of eight bytes, as long as there are many texts with the same bytes before. */
  private final class Sorter(
      texts: Array[Array[Byte]],
      backwards: Boolean,
      cancellation: Cancellation
  ) {
    private val whole = new Comparator[Integer] {
      override def compare(a: Integer, b: Integer): Int = {
        cancellation.count(1)
        val (left, right) = (texts(a), texts(b))
        if (!backwards) Arrays.compareUnsigned(left, right)
        else {
          val c = compareBeginning(left, right, backwards = true)
          if (c == 0 && left.length > right.length) 1 else c
        }
      }
    }

    def sort(rows: Array[Int], depth: Int): Array[Int] =
      if (rows.length < FewTexts || depth >= MostDepth) {
        val boxed: Array[Integer] = rows.map(Integer.valueOf)
        Arrays.sort(boxed, whole)
        boxed.map(_.intValue)
      } else {
        cancellation.count(rows.length)
        val numbers = rows.map(row => number(texts(row), depth))
        val byNumber = LongOrder.ascending(numbers, rows.length)
        val sorted = byNumber.map(rows(_))
        var from = 0
        while (from < sorted.length) {
          val first = numbers(byNumber(from))
          var until = from + 1
          while (until < sorted.length && numbers(byNumber(until)) == first) until += 1
          if (until - from > 1) {
            val equal = sort(Arrays.copyOfRange(sorted, from, until), depth + NumberBytes)
            System.arraycopy(equal, 0, sorted, from, equal.length)
          }
          from = until
        }
        sorted
      }

    /** In the order of unsigned bytes. Bytes that are missing count as zero. */
    private def number(text: Array[Byte], depth: Int): Long = {
      var bits = 0L
      var i = depth
      while (i < depth + NumberBytes) {
        bits = bits << 8 | (if (i < text.length) at(text, i, backwards) else 0)
        i += 1
      }
      bits ^ Long.MinValue
    }
  }

  private final val NumberBytes = 8
  private final val FewTexts = 256
  private final val MostDepth = 64
}
