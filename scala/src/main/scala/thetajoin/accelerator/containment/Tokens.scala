package thetajoin.accelerator.containment

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator
import org.apache.spark.sql.catalyst.expressions.{
  GenericInternalRow,
  SpecializedGetters,
  UnsafeProjection
}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

import thetajoin.condition.OrderedLong
import thetajoin.kit.keys.{GroupedBytesBuilder, KeyTable, LongNumbering, LongTable}
import thetajoin.kit.{IntsBuilder, KeyTypes, Stamps}

/** Numbers tokens: the elements of sets, each with the equal keys of its row. Equal ones have the same number. */
private[containment] abstract class TokenNumbers {

  /** For elements that are numbers by themselves; negative if the token has none. */
  def number(token: Long): Int

  /** For other elements: by their bytes, or by those of a row that has the keys and the element. */
  def number(base: AnyRef, offset: Long, size: Int): Int

  /** How many there are, so far. */
  def size: Int
}

/** Gives each token that comes the next number if it is new. */
private[containment] final class TokenNumbering(form: TokenForm) extends TokenNumbers {
  private lazy val longs = new LongNumbering
  private lazy val others = new GroupedBytesBuilder(form.types.all, distinct = true)

  override def number(token: Long): Int = longs.numberOf(token)
  override def number(base: AnyRef, offset: Long, size: Int): Int =
    others.groupOf(base, offset, size)
  override def size: Int = if (form.areNumbers) longs.size else others.size

  /** What finds the same numbers, once they are put through [[renumbered]]. */
  def vocabulary(): Vocabulary =
    if (form.areNumbers) new Vocabulary(LongTable.numbered(longs.keys().sorted), null, size)
    else new Vocabulary(null, others.keyTable(), size)

  /** The numbers in the vocabulary of numbers given here; negative ones are kept. */
  def renumbered(vocabulary: Vocabulary, numbers: Array[Int]): Array[Int] =
    if (!form.areNumbers) numbers
    else {
      val inVocabulary = longs.keys().map(vocabulary.number(_))
      numbers.map(n => if (n < 0) n else inVocabulary(n))
    }
}

/** The tokens of an index. */
final class Vocabulary(longs: LongTable, others: KeyTable, override val size: Int)
    extends TokenNumbers
    with Serializable {
  override def number(token: Long): Int = longs.find(token)
  override def number(base: AnyRef, offset: Long, size: Int): Int = others.find(base, offset, size)
  def bytes: Long = if (longs != null) longs.bytes else others.bytes
}

/**
 * What tokens are made of.
 *
 * @param types of the equal keys, then of an element
 * @param nullTokens whether a null is a token, and not left out
 */
private[containment] final class TokenForm(val types: KeyTypes, val nullTokens: Boolean)
    extends Serializable {

  /** How many equal keys there are: they stand ahead of the set in a key row. */
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
    numbers: TokenNumbers
) {
  private val found = new IntsBuilder
  private val seen = new Stamps(numbers.size)
  private val (areNumbers, areBytes, areOrdered) = (form.areNumbers, form.areBytes, form.areOrdered)
  private val (keys, nullTokens) = (form.keys, form.nullTokens)
  private val elementType = form.elementType
  private val toLong: ElementLongs = if (areOrdered) ElementLongs(elementType) else null
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
    else if (areNumbers) add(numbers.number(key.getLong(0)))
    else if (areBytes) readBytes(key, 0)
    else readRow(key, if (areOrdered) key.getLong(keys) else key.get(keys, elementType))
  }

  /** A single value that is the key. */
  def read(key: Long): Unit = {
    start()
    add(numbers.number(key))
  }

  def read(base: AnyRef, offset: Long, size: Int): Unit = {
    start()
    add(numbers.number(base, offset, size))
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
      else if (areNumbers) add(numbers.number(toLong(array, i)))
      else if (areBytes) readBytes(array, i)
      else readRow(key, if (areOrdered) toLong(array, i) else array.get(i, elementType))
      i += 1
    }
  }

  private def readBytes(values: SpecializedGetters, i: Int): Unit = elementType match {
    case BinaryType =>
      val bytes = values.getBinary(i)
      add(numbers.number(bytes, Platform.BYTE_ARRAY_OFFSET.toLong, bytes.length))
    case _ =>
      val text = values.getUTF8String(i)
      add(numbers.number(text.getBaseObject, text.getBaseOffset, text.numBytes))
  }

  private def readRow(key: InternalRow, element: Any): Unit = {
    var i = 0
    while (i < keys) {
      fields.update(i, key.get(i, form.types.all(i)))
      i += 1
    }
    fields.update(keys, element)
    val token = toRow(fields)
    add(numbers.number(token.getBaseObject, token.getBaseOffset, token.getSizeInBytes))
  }

  private def add(token: Int): Unit =
    if (token < 0) hasOthers = true else if (seen.add(token)) found.add(token)
}

/** Reads an element as an [[OrderedLong]]. */
private abstract class ElementLongs {
  def apply(array: ArrayData, i: Int): Long
}

private object ElementLongs {
  def apply(t: DataType): ElementLongs = t match {
    case d: DecimalType =>
      (array, i) => array.getDecimal(i, d.precision, d.scale).toUnscaledLong
    case _ =>
      CodeGenerator.javaType(t) match {
        case "boolean" => (array, i) => if (array.getBoolean(i)) 1L else 0L
        case "byte" => (array, i) => array.getByte(i).toLong
        case "short" => (array, i) => array.getShort(i).toLong
        case "int" => (array, i) => array.getInt(i).toLong
        case "long" => (array, i) => array.getLong(i)
        case "float" => (array, i) => OrderedLong.ofDouble(array.getFloat(i).toDouble)
        case "double" => (array, i) => OrderedLong.ofDouble(array.getDouble(i))
      }
  }
}
