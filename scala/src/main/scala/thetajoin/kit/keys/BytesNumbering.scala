package thetajoin.kit.keys

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Numbers keys by their bytes, from 0 in order of arrival. [[KeyBytes]] says which bytes belong to a row's key. */
final class BytesNumbering {

  /** Null since a key came that is not short. */
  private var short = new ShortTableBuilder
  private var long: ByteTableBuilder = _

  /** How many keys there are. */
  def size: Int = if (short != null) short.size else long.size

  /** The bytes of the keys, without a table of them. */
  def bytes: Long = if (short != null) short.bytes else long.bytes

  /** About the most that it takes for them with its table, which has just grown, and a copy of them. */
  def allBytes: Long = 2 * bytes + BytesNumbering.TableBytesOfKey * size

  /** The number of a key, the next one if it is new. */
  def numberOf(base: AnyRef, offset: Long, size: Int): Int =
    if (short != null && ShortTable.isShort(size)) short.numberOf(base, offset, size)
    else {
      if (short != null) lengthen()
      long.numberOf(base, offset, size)
    }

  private def lengthen(): Unit = {
    long = short.lengthened()
    short = null
  }

  /** The table that finds the keys' numbers. */
  def table(): KeyTable = if (short != null) short.result() else long.result()

  /** The keys by number, which are rows of so many fields; the same row object each time. */
  def rows(fields: Int): Iterator[UnsafeRow] =
    if (short == null) long.rows(fields)
    else if (size == 0) Iterator.empty
    else throw new IllegalStateException("a key of so few bytes is not a row")
}

private object BytesNumbering {

  /** A table has two slots at least for each key. While it grows, the former one of half as many slots is held too. */
  val TableBytesOfKey: Long = 48L
}
