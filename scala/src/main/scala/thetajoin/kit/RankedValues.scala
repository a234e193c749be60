package thetajoin.kit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.contract.{IndexBuilder, IndexSpec, JoinIndex, LongsProber, OrderedIndex, Prober}

/**
 * A column of a key row that holds a value in place of its rank.
 *
 * @param place of the column
 * @param of the place of the build column among whose values it is ranked
 * @param isNegated whether the index is given the rank with all bits turned
 * @param isAbove set if it holds the number of a first field, for build values that are structs: whether the rank is
 *   above the structs with this first field, or below them
 */
final case class RankedColumn(
    place: Int,
    of: Int,
    isNegated: Boolean,
    isAbove: Option[Boolean] = None
)

/**
 * An index of numbers for values of any ordered type: see [[OrderedNumbers]]. Numbers compare as the values do.
 *
 * @param spec of the index, which is given numbers in place of values
 */
final case class RankedSpec(
    spec: IndexSpec,
    build: Seq[RankedColumn],
    probe: Seq[RankedColumn],
    probeTypes: KeyTypes
) extends IndexSpec {
  override def forOne: IndexSpec = copy(spec = spec.forOne)

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new RankedBuilder(this, keyTypes)
}

private object RankedSpec {

  /** The types of a key row that has numbers in place of values. */
  def numberTypes(types: Seq[DataType], columns: Seq[RankedColumn]): Seq[DataType] =
    columns.foldLeft(types)((found, column) => found.updated(column.place, LongType))
}

private final class RankedBuilder(spec: RankedSpec, types: Seq[DataType]) extends IndexBuilder {
  private val rows = new ValueRows

  override def add(row: InternalRow): Unit = rows.add(row.asInstanceOf[UnsafeRow])

  /** With the index that is made of numbers. */
  override def bytes: Long = 2 * rows.bytes

  override def finish(): OrderedIndex = {
    val (numbers, values) = spec.build.map(ranked).unzip
    val numberTypes = RankedSpec.numberTypes(types, spec.build)
    val builder = spec.spec.newBuilder(numberTypes)
    val toUnsafe = UnsafeProjection.create(numberTypes.toArray)
    val row = new GenericInternalRow(types.size)
    val others = types.indices.filterNot(i => spec.build.exists(_.place == i))
    for (i <- 0 until rows.size) {
      for (c <- others) row.update(c, rows(i).get(c, types(c)))
      for ((column, ofRows) <- spec.build.zip(numbers)) row.update(column.place, ofRows(i))
      builder.add(toUnsafe(row))
      cancellation.count(1)
    }
    val OrderedIndex(index, order) = builder.finish()
    val places = spec.build.map(_.place).toArray
    val ofValues =
      new RankedIndex(index, values.toArray, places, spec.probe.toArray, spec.probeTypes)
    OrderedIndex(ofValues, order)
  }

  /** Puts rows with equal prefixes into their order. */
  private def sortEqual(
      order: Array[Int],
      prefixes: Array[Long],
      ordering: Ordering[InternalRow]
  ): Unit = {
    var from = 0
    while (from < order.length) {
      var until = from + 1
      while (until < order.length && prefixes(order(until)) == prefixes(order(from))) until += 1
      if (until - from > 1) {
        val sorted = order.slice(from, until)
          .sortWith((a, b) => ordering.lt(rows(a), rows(b)))
        Array.copy(sorted, 0, order, from, sorted.length)
      }
      from = until
    }
  }

  /** The numbers of a column's values by row, and what numbers others. */
  private def ranked(column: RankedColumn): (Array[Long], OrderedNumbers) = {
    val prefix =
      OrderedNumbers.prefix(
        types(column.place),
        Iterator.tabulate(rows.size)(rows(_)),
        column.place
      )
    val prefixes = Array.tabulate(rows.size)(i => prefix.of(rows(i), column.place))
    val (numbers, ofOthers) =
      if (prefix.isExact) (prefixes, ExactNumbers(prefix)) else sorted(column, prefix, prefixes)
    (if (column.isNegated) numbers.map(~_) else numbers, ofOthers)
  }

  private def sorted(
      column: RankedColumn,
      prefix: ValuePrefix,
      prefixes: Array[Long]
  ): (Array[Long], OrderedNumbers) = {
    val t = types(column.place)
    val ordering = ValueOrder.at(column.place, t)
    val order = LongOrder.ascending(prefixes, rows.size)
    sortEqual(order, prefixes, ordering)
    val ranks = new Array[Long](order.length)
    val firsts = Array.newBuilder[Int]
    var rank = -1L
    for (i <- order.indices) {
      if (i == 0 || ordering.compare(rows(order(i - 1)), rows(order(i))) != 0) {
        rank += 2
        firsts += order(i)
      }
      ranks(order(i)) = rank
    }
    (ranks, DistinctValues(firsts.result().toSeq.map(rows(_)), column.place, t, prefix))
  }
}

/**
 * @param places the places of the build columns that have these values
 * @param columns of a probe key row that hold values
 * @param types of a probe key row
 */
final class RankedIndex(
    index: JoinIndex,
    values: Array[OrderedNumbers],
    places: Array[Int],
    columns: Array[RankedColumn],
    types: KeyTypes
) extends JoinIndex {
  override def bytes: Long = index.bytes + values.map(_.bytes).sum

  override def newProber(): Prober = {
    val finders = columns.map(c => values(places.indexOf(c.of)).newFinder())
    new RankedProber(columns, types.all, index.newProber(), finders)
  }
}

/** Looks values up, and hands their numbers to the prober of an index. */
private final class RankedProber(
    columns: Array[RankedColumn],
    types: Seq[DataType],
    prober: Prober,
    finders: Array[ValueFinder]
) extends Prober {
  private val others = types.indices.filterNot(i => columns.exists(_.place == i)).toArray
  private val row = new GenericInternalRow(types.size)
  private val toUnsafe =
    UnsafeProjection.create(RankedSpec.numberTypes(types, columns.toSeq).toArray)
  private val longs = prober match {
    case longs: LongsProber if others.isEmpty => longs
    case _ => null
  }
  private val numbers = new Array[Long](types.size)

  override def probe(keys: InternalRow): Unit = {
    var i = 0
    while (i < columns.length) {
      val column = columns(i)
      val rank = column.isAbove match {
        case None => finders(i).number(keys, column.place)
        case Some(isAbove) => finders(i).ofFirst(keys.getLong(column.place), isAbove)
      }
      numbers(column.place) = if (column.isNegated) ~rank else rank
      i += 1
    }
    if (longs != null) longs.probe(numbers): Unit
    else {
      others.foreach(c => row.update(c, keys.get(c, types(c))))
      columns.foreach(c => row.update(c.place, numbers(c.place)))
      prober.probe(toUnsafe(row))
    }
  }

  override def next(): Boolean = {
    val found = prober.next()
    runFrom = prober.from
    runUntil = prober.until
    found
  }
}
