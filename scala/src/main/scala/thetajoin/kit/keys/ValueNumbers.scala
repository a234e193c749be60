package thetajoin.kit.keys

/**
 * Values that are numbered from 0, so that an index can hold an `Int` in place of each. They are numbers of 64 bits,
 * or they are equal if their bytes are: all values of one numbering are of one kind. [[ValueNumbering]] gives the
 * numbers, and [[ValueNumbers]] finds them again.
 */
sealed abstract class NumberedValues {

  /** How many values there are. */
  def size: Int

  /** The number of a value of 64 bits; negative if it has none. */
  def numberOf(value: Long): Int

  /** The number of a value whose `size` bytes lie at `offset` of `base`, as for `Platform`; negative if it has none. */
  def numberOf(base: AnyRef, offset: Long, size: Int): Int
}

/**
 * Gives each value that comes the next number if it is new. The look-up that is made of them at the end may have
 * other numbers.
 *
 * {{{
 *   values, 64 bits each     70 20 70 40
 *   numbers as they come      0  1  0  2
 *   numbers in the look-up    2  0  2  1      renumbered(0) is 2
 * }}}
 *
 * @param areLongs whether the values are numbers of 64 bits
 */
final class ValueNumbering(areLongs: Boolean) extends NumberedValues {
  private var longs = if (areLongs) new LongNumbering else null
  private val others = if (areLongs) null else new BytesNumbering
  private var inResult: Array[Int] = _

  override def size: Int =
    if (inResult != null) inResult.length else if (areLongs) longs.size else others.size

  /** The bytes of the values, without a table of them. */
  def bytes: Long = if (areLongs) 8L * longs.size else others.bytes

  /** About the most that it holds at once, [[result]] included. */
  def allBytes: Long =
    if (!areLongs) others.allBytes
    else math.max(longs.bytes, (2 * 8L + 4L + LongTable.BytesOfKey) * longs.size)

  override def numberOf(value: Long): Int = longs.numberOf(value)

  override def numberOf(base: AnyRef, offset: Long, size: Int): Int =
    others.numberOf(base, offset, size)

  /** Called once, after all values. */
  def result(): ValueNumbers =
    if (areLongs) {
      val keys = longs.keys()
      // Its table is released before another one is made.
      longs = null
      val table = LongTable.numbered(keys.sorted)
      inResult = keys.map(table.find(_))
      new ValueNumbers(table, null, keys.length)
    } else new ValueNumbers(null, others.table(), size)

  /** After [[result]]: the number that it has for the value which came by this number. A negative number stays. */
  def renumbered(number: Int): Int =
    if (number < 0 || !areLongs) number else inResult(number)
}

/** The values of an index, which never change: any other value has no number. */
final class ValueNumbers private[keys] (
    longs: LongTable,
    others: KeyTable,
    override val size: Int
) extends NumberedValues
    with Serializable {
  def bytes: Long = if (longs != null) longs.bytes else others.bytes

  override def numberOf(value: Long): Int = longs.find(value)

  override def numberOf(base: AnyRef, offset: Long, size: Int): Int =
    others.find(base, offset, size)
}
