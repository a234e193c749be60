package thetajoin.accelerator.wildcard

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{JoinIndex, Prober}
import thetajoin.kit.KeyTypes
import thetajoin.kit.keys.{KeyBytes, LongHash, LongTable, ValueNumbers}

/**
 * Groups of rules. The rules of group g are `[starts(g), starts(g + 1))`. Rules that match nothing come after all
 * groups.
 *
 * @param types of the columns
 * @param sets of columns that rules compare
 * @param numbers of the values of group g, from `g * columns.length` on; [[WildcardIndex.Open]] for a wildcard
 * @param hashes finds a group's rank by the sum of its values' hashes
 * @param groupOf the group of each rank
 * @param seen a bit for each hash of such a sum, most of them not set: it rejects most sums that no group has
 */
final class WildcardIndex(
    val columns: Array[ValueNumbers],
    val types: KeyTypes,
    val sets: ComparedSets,
    val numbers: Array[Int],
    val starts: Array[Int],
    val hashes: LongTable,
    val groupOf: Array[Int],
    val seen: Array[Long],
    val seed: Long
) extends JoinIndex {
  override def bytes: Long = columns.map(_.bytes).sum + hashes.bytes + sets.bytes +
    4L * (numbers.length + starts.length + groupOf.length) + 8L * seen.length
  override def newProber(): Prober = new WildcardProber(this)
}

private[wildcard] object WildcardIndex {

  /** In place of the number of a value. */
  final val Open = -1L

  /** A bit's place is an `Int`. */
  private val MostWords = 1 << 24

  /** Groups are told apart by sums of hashes: another seed is tried until no two have the same. */
  def apply(
      columns: Array[ValueNumbers],
      types: KeyTypes,
      sets: ComparedSets,
      numbers: Array[Int],
      starts: Array[Int]
  ): WildcardIndex = {
    val groups = starts.length - 1
    val (seed, sums) = Iterator.from(1).map(_.toLong).map { seed =>
      val seeds = seedsOf(columns.length, seed)
      seed -> Array.tabulate(groups)(g => sum(seeds, numbers, g))
    }.find { case (_, sums) => sums.distinct.length == groups }.get
    val table = LongTable.numbered(sums.sorted)
    val groupOf = new Array[Int](groups)
    sums.indices.foreach(g => groupOf(table.find(sums(g))) = g)
    // With a word for each group, one of 64 bits is set.
    val seen = new Array[Long](math.min(LongHash.capacity(groups) / 2, MostWords))
    sums.foreach { sum =>
      val bit = bitOf(sum, seen)
      seen(bit >>> 6) |= 1L << bit
    }
    new WildcardIndex(columns, types, sets, numbers, starts, table, groupOf, seen, seed)
  }

  private def sum(seeds: Array[Long], numbers: Array[Int], group: Int): Long =
    seeds.indices.map { i =>
      val number = numbers(group * seeds.length + i)
      if (number < 0) 0L else hash(number, seeds(i))
    }.sum

  /** The start values of each column's hashes. */
  def seedsOf(columns: Int, seed: Long): Array[Long] =
    Array.tabulate(columns)(i => KeyBytes.mix(seed, i + 1L))

  /** The hash of a value's number. */
  def hash(number: Int, seed: Long): Long = KeyBytes.mix(seed, number + 1L)

  /** The place of a sum's bit. */
  def bitOf(sum: Long, seen: Array[Long]): Int =
    LongHash.slot(sum, java.lang.Long.numberOfLeadingZeros(seen.length - 1L) - 6)
}

/** One look-up for each set of columns that some group compares and in which all values are known. */
private final class WildcardProber(index: WildcardIndex) extends Prober {
  private val columns = index.columns
  private val count = columns.length
  private val sets = index.sets
  private val seen = index.seen
  private val seeds = WildcardIndex.seedsOf(count, index.seed)
  private val readers = ColumnReader.ofAll(index.types.all)
  private val numbers = new Array[Int](count)
  private val hashes = new Array[Long](count)
  private val sums = new Array[Long](sets.size)

  /** A bit for each column whose value no rule has. */
  private var unknown = 0L
  private var at = 0

  override def probe(keys: InternalRow): Unit = {
    at = 0
    unknown = 0L
    var i = 0
    while (i < count) {
      val number = if (keys.isNullAt(i)) -1 else readers(i).numberOf(keys, columns(i))
      numbers(i) = number
      if (number < 0) unknown |= 1L << i
      else hashes(i) = WildcardIndex.hash(number, seeds(i))
      i += 1
    }
  }

  override def next(): Boolean = {
    val from = at
    var found = false
    while (!found && at < sums.length) {
      val sum = sets.sum(at, hashes, sums)
      if ((sets.columns(at) & unknown) == 0L && isSeen(sum)) {
        val group = find(sum, sets.columns(at))
        if (group >= 0) {
          runFrom = index.starts(group)
          runUntil = index.starts(group + 1)
          found = true
        }
      }
      at += 1
    }
    cancellation.count(at - from)
    found
  }

  private def isSeen(sum: Long): Boolean = {
    val bit = WildcardIndex.bitOf(sum, seen)
    ((seen(bit >>> 6) >>> bit) & 1L) != 0L
  }

  private def find(sum: Long, compared: Long): Int = {
    val rank = index.hashes.find(sum)
    if (rank >= 0 && isOf(index.groupOf(rank), compared)) index.groupOf(rank) else -1
  }

  /** Whether the group compares these columns and has the probe row's values in them. */
  private def isOf(group: Int, compared: Long): Boolean = {
    var i = 0
    while (i < count && index.numbers(group * count + i) == expected(i, compared)) i += 1
    i == count
  }

  private def expected(column: Int, compared: Long): Int =
    if (((compared >>> column) & 1L) != 0L) numbers(column) else WildcardIndex.Open.toInt
}
