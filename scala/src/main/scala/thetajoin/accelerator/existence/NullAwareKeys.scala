package thetajoin.accelerator.existence

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.array.ByteArrayMethods

import thetajoin.contract.{
  IndexBuilder,
  IndexSpec,
  JoinIndex,
  KeyErrors,
  OrderedIndex,
  Prober,
  SeenKeys
}
import thetajoin.kit.keys.{GroupedBytesBuilder, KeyBytes, LongHash}
import thetajoin.rowstore.{RowCursor, RowPages}

/**
 * The keys of NOT IN, where null matches everything: a pair matches if in each column the values are equal, or one of
 * them is null. A key row has first columns that must be equal, then columns that may be null with some value in
 * place of the null, and last a mask with a bit for each of those, set if it is null.
 *
 * Build rows of the same mask are null in the same columns. For a probe row with a mask of its own, a pair is then
 * compared in the columns that neither mask has: one look-up for each mask of the build side.
 *
 * @param plain how many columns must be equal
 * @param nullable how many may be null, [[NullAwareSpec.MaxNullable]] at most
 * @param distinct whether one row of each key is kept
 */
final case class NullAwareSpec(plain: Int, nullable: Int, distinct: Boolean = false)
    extends IndexSpec {
  override def forOne: IndexSpec = copy(distinct = true)
  override def sieve: Option[Seq[DataType] => SeenKeys] =
    if (distinct) Some(types => new SeenMany(() => KeyMemory.ofKeys(types))) else None
  override def keyErrors: KeyErrors = KeyErrors.Raised
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new NullAwareBuilder(this, keyTypes)

  /** Of a key row; the mask comes after them. */
  def columns: Int = plain + nullable

  /**
   * Whether a column is compared where the values are null that `ignored` has a bit for. The first column that may be
   * null has the highest bit.
   */
  def compares(column: Int, ignored: Long): Boolean =
    column < plain || ((ignored >>> (columns - 1 - column)) & 1L) == 0L
}

object NullAwareSpec {

  /** A mask has a bit for each. */
  val MaxNullable: Int = java.lang.Long.SIZE
}

private final class NullAwareBuilder(spec: NullAwareSpec, types: Seq[DataType])
    extends IndexBuilder {
  private val groups = new GroupedBytesBuilder(types, spec.distinct)

  override def add(keys: InternalRow): Unit = groups.add(keys)
  override def bytes: Long = groups.bytes

  override def finish(): OrderedIndex = {
    val grouped = groups.grouped()
    val fixed = types.map(UnsafeRow.isFixedLength).toArray
    val index = new NullAwareIndex(spec, fixed, groups.groupKeys(), grouped.starts)
    OrderedIndex(index, grouped.order)
  }
}

/**
 * Groups of rows with equal keys, with a hash table for each mask that a probe row has had. Group g is
 * `[starts(g), starts(g + 1))`; `starts` is null if each group is one row.
 */
final class NullAwareIndex(
    spec: NullAwareSpec,
    fixed: Array[Boolean],
    val keys: RowPages,
    val starts: Array[Int]
) extends JoinIndex {
  @transient private lazy val tables = new ConcurrentHashMap[Long, MaskedTable]

  /** The masks of build rows. */
  @transient lazy val masks: Array[Long] = {
    val cursor = keys.newCursor()
    Iterator.range(0, keys.rows).map(g => mask(cursor.at(g))).toArray.distinct
  }

  def mask(key: UnsafeRow): Long = key.getLong(spec.columns)

  /** The table for probe rows of a mask. */
  def table(probeMask: Long): MaskedTable =
    tables.computeIfAbsent(probeMask, _ => new MaskedTable(this, probeMask))

  override def bytes: Long = keys.bytes + (if (starts == null) 0L else 4L * starts.length)
  override def newProber(): Prober = new NullAwareProber(this)

  /** Of the columns that are compared if either side is null as `ignored` says. */
  def hash(key: UnsafeRow, buildMask: Long, ignored: Long): Int = {
    var hash = buildMask
    var i = 0
    while (i < spec.columns) {
      if (spec.compares(i, ignored)) {
        val word = key.getLong(i)
        hash = KeyBytes.mix(
          hash,
          if (fixed(i)) word
          else
            KeyBytes.hash(
              key.getBaseObject,
              key.getBaseOffset + (word >>> 32),
              word.toInt
            ).toLong
        )
      }
      i += 1
    }
    KeyBytes.folded(hash)
  }

  def equal(a: UnsafeRow, b: UnsafeRow, ignored: Long): Boolean = {
    var i = 0
    while (i < spec.columns) {
      if (spec.compares(i, ignored) && !equal(a, b, i)) return false
      i += 1
    }
    true
  }

  private def equal(a: UnsafeRow, b: UnsafeRow, column: Int): Boolean = {
    val (x, y) = (a.getLong(column), b.getLong(column))
    if (fixed(column)) x == y
    else
      x.toInt == y.toInt && ByteArrayMethods.arrayEquals(
        a.getBaseObject,
        a.getBaseOffset + (x >>> 32),
        b.getBaseObject,
        b.getBaseOffset + (y >>> 32),
        x.toInt.toLong
      )
  }
}

/** For probe rows of one mask: chains of groups that are equal in the columns which are compared. */
final class MaskedTable(index: NullAwareIndex, probeMask: Long) {
  private val capacity = LongHash.capacity(index.keys.rows)
  private val shift = LongHash.shift(capacity)
  private val heads = new Array[Int](capacity)
  private val hashes = new Array[Int](capacity)
  private val nexts = new Array[Int](index.keys.rows)

  locally {
    val (cursor, other) = (index.keys.newCursor(), index.keys.newCursor())
    var group = 0
    while (group < index.keys.rows) {
      val key = cursor.at(group)
      val hash = hashOf(key, index.mask(key))
      val at = slot(key, hash, index.mask(key), other)
      hashes(at) = hash
      nexts(group) = heads(at) - 1
      heads(at) = group + 1
      group += 1
    }
  }

  /** The first group of a build mask whose rows match; -1 if there is none. */
  def first(key: UnsafeRow, buildMask: Long, cursor: RowCursor): Int =
    heads(slot(key, hashOf(key, buildMask), buildMask, cursor)) - 1

  /** The group after `group`; -1 if there is none. */
  def next(group: Int): Int = nexts(group)

  private def hashOf(key: UnsafeRow, buildMask: Long): Int =
    index.hash(key, buildMask, buildMask | probeMask)

  private def slot(key: UnsafeRow, hash: Int, buildMask: Long, cursor: RowCursor): Int = {
    var at = LongHash.slot(hash.toLong, shift)
    while (
      heads(at) != 0 &&
      !(hashes(at) == hash && isOf(cursor.at(heads(at) - 1), key, buildMask, buildMask | probeMask))
    )
      at = (at + 1) & (capacity - 1)
    at
  }

  private def isOf(group: UnsafeRow, key: UnsafeRow, buildMask: Long, ignored: Long): Boolean =
    index.mask(group) == buildMask && index.equal(group, key, ignored)
}

private final class NullAwareProber(index: NullAwareIndex) extends Prober {
  private val cursor = index.keys.newCursor()
  private var table: MaskedTable = _
  private var tableMask = 0L
  private var key: UnsafeRow = _
  private var nextMask = 0
  private var group = -1

  override def probe(row: InternalRow): Unit = {
    key = row.asInstanceOf[UnsafeRow]
    val mask = index.mask(key)
    if (table == null || mask != tableMask) {
      // It may be a new one, which all keys are put into.
      cancellation.count(index.keys.rows)
      table = index.table(mask)
      tableMask = mask
    }
    nextMask = 0
    group = -1
  }

  override def next(): Boolean = {
    while (group < 0 && nextMask < index.masks.length) {
      group = table.first(key, index.masks(nextMask), cursor)
      nextMask += 1
      cancellation.count(1)
    }
    if (group < 0) false
    else {
      runFrom = if (index.starts == null) group else index.starts(group)
      runUntil = if (index.starts == null) group + 1 else index.starts(group + 1)
      group = table.next(group)
      true
    }
  }
}
