package thetajoin.accelerator.similar

/**
 * Levenshtein distances of one text of 64 characters at most and others, by the method of Myers: a bit for each
 * character of the text tells whether the distance grows there, and a character of another text costs a few operations
 * on all of them. As in Hyyrö, "Explaining and extending the bit-parallel approximate string matching algorithm of
 * Myers" (2001).
 */
private final class BitDistance {
  import BitDistance._

  private var length = 0

  /** Where a character stands in the text, a bit for each place. */
  private val ofSmall = new Array[Long](Small)

  /** The same for other characters, by an open hash table. A slot is free if its bits are 0. */
  private val others = new Array[Int](Slots)
  private val ofOthers = new Array[Long](Slots)
  private var hasOthers = false

  def read(text: Array[Int], length: Int): Unit = {
    java.util.Arrays.fill(ofSmall, 0L)
    if (hasOthers) java.util.Arrays.fill(ofOthers, 0L)
    hasOthers = false
    this.length = length
    var i = 0
    while (i < length) {
      val letter = text(i)
      if (letter >= 0 && letter < Small) ofSmall(letter) |= 1L << i
      else {
        val slot = this.slot(letter)
        others(slot) = letter
        ofOthers(slot) |= 1L << i
        hasOthers = true
      }
      i += 1
    }
  }

  /** Where another character is, or would be. Half of the slots are free at least. */
  private def slot(letter: Int): Int = {
    var slot = (letter * 0x9e3779b9) >>> SlotShift
    while (ofOthers(slot) != 0L && others(slot) != letter) slot = (slot + 1) & (Slots - 1)
    slot
  }

  private def places(letter: Int): Long =
    if (letter >= 0 && letter < Small) ofSmall(letter)
    else if (hasOthers) ofOthers(slot(letter))
    else 0L

  /** Whether a text, at these places of an array, is so many edits apart at most. */
  def isWithin(other: Array[Int], from: Int, until: Int, edits: Int): Boolean =
    if (length == 0) until - from <= edits
    else if (math.abs(until - from - length) > edits) false
    else {
      val last = 1L << (length - 1)
      var (up, down) = (-1L, 0L)
      var distance = length
      var i = from
      // The rest can bring the distance down by one for each character.
      while (i < until && distance - (until - i) <= edits) {
        val equal = places(other(i))
        val vertical = equal | down
        val horizontal = (((equal & up) + up) ^ up) | equal
        var more = down | ~(horizontal | up)
        val less = up & horizontal
        if ((more & last) != 0L) distance += 1
        if ((less & last) != 0L) distance -= 1
        more = (more << 1) | 1L
        up = (less << 1) | ~(vertical | more)
        down = more & vertical
        i += 1
      }
      i == until && distance <= edits
    }
}

private object BitDistance {
  final val MostLetters = 64

  private final val Small = 128
  private final val Slots = 128
  private final val SlotShift = 25
}
