package thetajoin.accelerator.anyof

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  Literal,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.contract.{
  Cost,
  IndexBuilder,
  IndexSpec,
  JoinIndex,
  ListProber,
  LongsProber,
  Offer,
  OrderedIndex,
  Prober
}
import thetajoin.kit.keys.Groupings
import thetajoin.kit.{IntsBuilder, KeyTypes, Stamps}

/**
 * @param spec of the arm's index
 * @param buildKeys how many of the keys are the arm's
 * @param probeTypes the types of the arm's keys of probe rows
 */
final case class ArmSpec(spec: IndexSpec, buildKeys: Int, probeTypes: Seq[DataType])

/**
 * The keys of all arms, one after another. A row with a null key of an arm has no part in it, unless the arm takes
 * nulls.
 */
final case class AnyOfSpec(arms: Seq[ArmSpec]) extends IndexSpec {
  override def takesNulls: Boolean = true
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new AnyOfBuilder(this, keyTypes)
}

/** All rows are in one group: an arm that asks nothing of a pair. */
private[anyof] case object EveryRow extends IndexSpec {
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = Groupings.by(keyTypes)
  val offer: Offer = Offer(
    Nil,
    Nil,
    Seq(Literal(0L)),
    Seq(Literal(0L)),
    this,
    Cost(share = 0.5, perProbe = 20, perBuildRow = 100)
  )
}

/** Takes the keys of one arm, of these types, out of the keys of all arms. */
private final class ArmKeys(types: Seq[DataType], from: Int, takesNulls: Boolean) {
  private val project = UnsafeProjection.create(types.zipWithIndex.map { case (t, i) =>
    BoundReference(from + i, t, nullable = true)
  })

  /** Null if the row has no part in the arm. */
  def of(keys: InternalRow): UnsafeRow = {
    val row = project(keys)
    if (!takesNulls && row.anyNull) null else row
  }
}

private final class AnyOfBuilder(spec: AnyOfSpec, types: Seq[DataType]) extends IndexBuilder {
  private val arms = {
    val firstKeys = spec.arms.scanLeft(0)(_ + _.buildKeys)
    spec.arms.zip(firstKeys).map { case (arm, from) =>
      new ArmBuilder(arm, types.slice(from, from + arm.buildKeys), from)
    }.toArray
  }
  private var rows = 0

  override def add(keys: InternalRow): Unit = {
    arms.foreach(_.add(keys, rows))
    rows += 1
  }

  override def bytes: Long = arms.map(_.bytes).sum + 4L * rows

  override def finish(): OrderedIndex =
    OrderedIndex(new AnyOfIndex(arms.map(_.finish()), rows), Array.range(0, rows))
}

private final class ArmBuilder(arm: ArmSpec, types: Seq[DataType], from: Int) {
  private val index = arm.spec.newBuilder(types)
  private val keysOf = new ArmKeys(types, from, arm.spec.takesNulls)
  private val rows = new IntsBuilder

  def add(keys: InternalRow, row: Int): Unit = {
    val key = keysOf.of(keys)
    if (key != null) {
      index.add(key)
      rows.add(row)
    }
  }

  def bytes: Long = index.bytes + 2 * rows.bytes

  def finish(): ArmIndex = {
    val OrderedIndex(ofArm, order) = index.finish()
    new ArmIndex(ofArm, order.map(rows.array(_)), KeyTypes(arm.probeTypes), arm.spec.takesNulls)
  }
}

/**
 * @param rows the build row at each of the index's positions
 * @param types of the arm's keys of a probe row
 */
final class ArmIndex(
    val index: JoinIndex,
    val rows: Array[Int],
    val types: KeyTypes,
    val takesNulls: Boolean
) extends Serializable {
  def bytes: Long = index.bytes + 4L * rows.length
}

/** Positions are the order of arrival. */
final class AnyOfIndex(arms: Array[ArmIndex], rows: Int) extends JoinIndex {
  override def bytes: Long = arms.map(_.bytes).sum
  override def newProber(): Prober = new AnyOfProber(arms, rows)
}

/** The candidates of one arm after another, without rows that an earlier one has given. */
private final class AnyOfProber(indexes: Array[ArmIndex], rows: Int)
    extends Prober
    with ListProber {
  private val arms = {
    val firstKeys = indexes.scanLeft(0)(_ + _.types.all.size)
    indexes.zip(firstKeys).map { case (index, from) => new ArmProber(index, from) }
  }
  private lazy val seen = new Stamps(rows)
  private val found = new IntsBuilder
  private var keys: InternalRow = _
  private var arm: ArmProber = _
  private var started = 0
  private var place = 0
  private var end = 0

  override def positions: Array[Int] = found.array

  override def probe(row: InternalRow): Unit = {
    keys = row
    arm = null
    started = 0
    place = end
    seen.restart()
  }

  override def next(): Boolean = {
    found.clear()
    while (found.length == 0 && (place < end || nextRun())) collect()
    runFrom = 0
    runUntil = found.length
    runUntil > 0
  }

  private def nextRun(): Boolean = {
    var isFound = arm != null && arm.prober.next()
    while (!isFound && started < arms.length) {
      arm = arms(started)
      started += 1
      isFound = arm.start(keys) && arm.prober.next()
    }
    if (isFound) {
      place = arm.prober.from
      end = arm.prober.until
    }
    isFound
  }

  /** A part of the run: an existence test may need no more. */
  private def collect(): Unit = {
    val until = math.min(end, place + AnyOfProber.MostRows)
    cancellation.count(until - place)
    while (place < until) {
      val row = arm.rowAt(place)
      if (seen.add(row)) found.add(row)
      place += 1
    }
  }
}

private object AnyOfProber {
  private val MostRows = 1024
}

private final class ArmProber(arm: ArmIndex, from: Int) {
  val prober: Prober = arm.index.newProber()
  private val list = prober match {
    case p: ListProber => p
    case _ => null
  }
  private val rows = arm.rows
  private val ofLong = (prober, arm.types.all) match {
    case (p: LongsProber, Seq(LongType)) if !arm.takesNulls => p
    case _ => null
  }
  private val number = new Array[Long](1)
  private lazy val keysOf = new ArmKeys(arm.types.all, from, arm.takesNulls)

  /** Whether the probe row has a part in the arm. */
  def start(keys: InternalRow): Boolean =
    if (ofLong != null) {
      !keys.isNullAt(from) && {
        number(0) = keys.getLong(from)
        ofLong.probe(number)
      }
    } else {
      val key = keysOf.of(keys)
      if (key != null) prober.probe(key)
      key != null
    }

  /** The build row at a place of the prober's run. */
  def rowAt(place: Int): Int = rows(if (list != null) list.positions(place) else place)
}
