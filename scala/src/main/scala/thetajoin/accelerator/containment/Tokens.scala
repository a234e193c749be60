package thetajoin.accelerator.containment

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  GenericInternalRow,
  SpecializedGetters,
  SpecificInternalRow,
  UnsafeProjection
}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

import thetajoin.condition.OrderedLong
import thetajoin.kit.keys.NumberedValues
import thetajoin.kit.{IntsBuilder, KeyTypes, Stamps}

/**
 * The form of tokens. A token is an element of a set, with the equality keys of its row. It is numbered as a 64-bit
 * number, by the bytes of the element, or by the bytes of a row that has the keys and the element.
 *
 * @param types of the equality keys, then of an element
 * @param nullTokens whether a null is a token, and not left out
 */
private[containment] final class TokenForm(val types: KeyTypes, val nullTokens: Boolean)
    extends Serializable {

  /** How many equality keys there are: they stand ahead of the set in a key row. */
  def keys: Int = types.all.size - 1
  def elementType: DataType = types.all.last

  /** Whether elements are kept as whole numbers of 64 bits, and single values come as such. */
  def areOrdered: Boolean = OrderedLong.orders(elementType)

  /** Whether a token is such a number and nothing else. */
  def areNumbers: Boolean = keys == 0 && !nullTokens && areOrdered

  /** Whether a token is the bytes of an element and nothing else. */
  def areBytes: Boolean = keys == 0 && !nullTokens && (elementType match {
    case _: StringType | BinaryType => true
    case _ => false
  })
}

/** Reads the tokens of one key row after another, each token once. */
private[containment] final class TokenReader(
    form: TokenForm,
    isArray: Boolean,
    numbers: NumberedValues
) {
  private val found = new IntsBuilder
  private val seen = new Stamps(numbers.size)
  private val (areNumbers, areBytes, areOrdered) = (form.areNumbers, form.areBytes, form.areOrdered)
  private val (keys, nullTokens) = (form.keys, form.nullTokens)
  private val elementType = form.elementType
  private val toLong = if (areOrdered) OrderedLong.reader(elementType) else null
  private lazy val ofNumbers = new SpecificInternalRow(form.types.all.map(_ => LongType))
  private lazy val fields = new GenericInternalRow(keys + 1)
  private lazy val toRow = UnsafeProjection.create(
    (form.types.all.init :+ (if (areOrdered) LongType else elementType)).toArray[DataType]
  )

  /** How many tokens with a number the row has. */
  def size: Int = found.length
  def token(i: Int): Int = found.array(i)

  /** Whether it has one without a number, or a null that is no token. */
  var hasOthers: Boolean = false

  def read(key: InternalRow): Unit = {
    start()
    if (isArray) readArray(key, key.getArray(keys))
    else if (areNumbers) add(numbers.numberOf(key.getLong(0)))
    else if (areBytes) readBytes(key, 0)
    else readRow(key, if (areOrdered) key.getLong(keys) else key.get(keys, elementType))
  }

  /** Equality keys and a value that are all numbers. */
  def read(key: Array[Long]): Unit =
    if (areNumbers) {
      start()
      add(numbers.numberOf(key(0)))
    } else {
      var i = 0
      while (i < key.length) {
        ofNumbers.setLong(i, key(i))
        i += 1
      }
      read(ofNumbers)
    }

  def read(base: AnyRef, offset: Long, size: Int): Unit = {
    start()
    add(numbers.numberOf(base, offset, size))
  }

  private def start(): Unit = {
    found.clear()
    hasOthers = false
    seen.restart()
  }

  private def readArray(key: InternalRow, array: ArrayData): Unit = {
    val elements = array.numElements()
    var i = 0
    while (i < elements) {
      if (array.isNullAt(i)) { if (nullTokens) readRow(key, null) else hasOthers = true }
      else if (areNumbers) add(numbers.numberOf(toLong.at(array, i)))
      else if (areBytes) readBytes(array, i)
      else readRow(key, if (areOrdered) toLong.at(array, i) else array.get(i, elementType))
      i += 1
    }
  }

  private def readBytes(values: SpecializedGetters, i: Int): Unit = elementType match {
    case BinaryType =>
      val bytes = values.getBinary(i)
      add(numbers.numberOf(bytes, Platform.BYTE_ARRAY_OFFSET.toLong, bytes.length))
    case _ =>
      val text = values.getUTF8String(i)
      add(numbers.numberOf(text.getBaseObject, text.getBaseOffset, text.numBytes))
  }

  private def readRow(key: InternalRow, element: Any): Unit = {
    var i = 0
    while (i < keys) {
      fields.update(i, key.get(i, form.types.all(i)))
      i += 1
    }
    fields.update(keys, element)
    val token = toRow(fields)
    add(numbers.numberOf(token.getBaseObject, token.getBaseOffset, token.getSizeInBytes))
  }

  private def add(token: Int): Unit =
    if (token < 0) hasOthers = true else if (seen.add(token)) found.add(token)
}
