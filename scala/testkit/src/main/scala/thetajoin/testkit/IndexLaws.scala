package thetajoin.testkit

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{BinaryType, DataType, LongType, StringType}
import org.apache.spark.unsafe.Platform

import thetajoin.contract._

/**
 * An index alone, without a join, against a loop over all rows.
 *
 * @param served what its candidates answer, and `exact` what holds for each of them, over probe row and build row
 * @param needsOne whether a candidate that matches is as good as all of them
 */
private[testkit] final class IndexLaws(
    spec: IndexSpec,
    build: Seq[Attribute],
    probe: Seq[Attribute],
    buildKeys: Seq[Expression],
    probeKeys: Seq[Expression],
    served: Seq[Expression],
    exact: Seq[Expression],
    needsOne: Boolean
) {
  private val toBuildKey = UnsafeProjection.create(buildKeys, build)
  private val toProbeKey = UnsafeProjection.create(probeKeys, probe)
  private val types = buildKeys.map(_.dataType)
  private val servedTests = served.map(Predicate.create(_, probe ++ build))
  private val exactTests = exact.map(Predicate.create(_, probe ++ build))
  private val joined = new JoinedRow

  /** What is wrong, if anything is. `sent` is what becomes of an index on its way to an executor. */
  def broken(builds: Seq[InternalRow], probes: Seq[InternalRow])(
      sent: JoinIndex => JoinIndex
  ): Option[String] = {
    val indexed = builds.flatMap(row => key(toBuildKey, row).map(row -> _))
    // A task leaves out rows that it knows to be needless.
    val seen = spec.sieve.map(_ => spec.newSeenKeys(types))
    val kept = indexed.filter { case (_, key) => seen.forall(_.isNew(key)) }
    broken(indexed, indexed, probes, sent).orElse(
      if (kept.size < indexed.size) broken(indexed, kept, probes, sent) else None
    )
  }

  private type Keyed = (InternalRow, UnsafeRow)

  /** @param indexed the rows that are given to the builder, of all that may match */
  private def broken(
      all: Seq[Keyed],
      indexed: Seq[Keyed],
      probes: Seq[InternalRow],
      sent: JoinIndex => JoinIndex
  ): Option[String] = {
    val builder = spec.newBuilder(types)
    val held = indexed.map { case (_, key) =>
      builder.add(key)
      builder.bytes
    }
    val built = builder.finish()
    val order = built.order.toSeq
    val index = sent(built.index)
    val asked = probes.flatMap(row => key(toProbeKey, row).map(row -> _))
    val prober = index.newProber()
    def found(key: UnsafeRow) = {
      prober.probe(key)
      Found.all(prober)
    }
    def wrongRows(row: InternalRow, positions: Seq[Int]) =
      wrong(positions, order, row, indexed.map(_._1), all.map(_._1))
    wrongBytes(held, index)
      .orElse(failed(order.distinct.size == order.size, s"the order names a row twice: $order"))
      .orElse(failed(
        order.forall(indexed.indices.contains),
        s"the order names rows that there are not: $order"
      ))
      .orElse(firstOf(asked) { case (row, key) => wrongRows(row, found(key)) })
      .orElse(firstOf(asked) { case (_, key) => wrongForms(index, key, found(key)) })
      .orElse(firstOf(asked) { case (_, key) =>
        val all = found(key)
        prober.probe(key)
        prober.next()
        failed(found(key) == all, "other candidates after a look-up that was left early")
      })
      .orElse(wrongInBatches(index, asked, wrongRows))
      .orElse(index.positionSets.flatMap(wrongSets(_, order.size, asked, wrongRows)))
  }

  /** The bytes of the builder ahead of its last step, and the index. */
  def built(builds: Seq[InternalRow]): (Long, JoinIndex) = {
    val builder = spec.newBuilder(types)
    builds.flatMap(key(toBuildKey, _)).foreach(builder.add)
    (builder.bytes, builder.finish().index)
  }

  private def firstOf(asked: Seq[Keyed])(law: Keyed => Option[String]): Option[String] =
    asked.view.flatMap { case (row, key) =>
      law((row, key)).map(what => s"probe key $key: $what")
    }.headOption

  private def wrong(
      positions: Seq[Int],
      order: Seq[Int],
      row: InternalRow,
      indexed: Seq[InternalRow],
      all: Seq[InternalRow]
  ): Option[String] = {
    // Of a pair for which a condition raises an error nothing is asked.
    def holds(tests: Seq[BasePredicate])(build: InternalRow) =
      try tests.forall(_.eval(joined(row, build)))
      catch { case e: Exception if e.isInstanceOf[SparkThrowable] => false }
    lazy val rows = positions.map(order)
    lazy val lacks = indexed.indices.filter(i => holds(servedTests)(indexed(i))).diff(rows)
    def hasOne = rows.exists(i => holds(servedTests)(indexed(i)))
    def covers = if (needsOne) hasOne || !all.exists(holds(servedTests)) else lacks.isEmpty
    // An index of distinct keys says that there is a match, and not which row it is.
    if (needsOne && spec.sieve.isDefined)
      failed(
        positions.nonEmpty || !all.exists(holds(servedTests)),
        "no candidate, but build rows match"
      ).orElse(failed(
        positions.isEmpty || all.exists(holds(exactTests)),
        s"candidates $positions, but no build row matches exactly"
      ))
    else failed(positions.forall(order.indices.contains), s"positions beyond the order: $positions")
      .orElse(failed(
        positions.distinct.size == positions.size,
        s"a position comes twice: $positions"
      ))
      .orElse(failed(covers, s"candidates $rows, but the build rows $lacks match too"))
      .orElse(failed(
        rows.forall(i => holds(exactTests)(indexed(i))),
        s"candidates $rows, of which some do not match exactly"
      ))
  }

  /** The same by the other forms of a key. */
  private def wrongForms(index: JoinIndex, key: UnsafeRow, expected: Seq[Int]): Option[String] = {
    val areLongs = !key.anyNull && probeKeys.forall(_.dataType == LongType)
    val isBytes = !key.anyNull && probeKeys.map(_.dataType).forall(isText) && probeKeys.size == 1
    def longs = Array.tabulate(key.numFields)(key.getLong)
    def bytes = if (isBytes) key.getBinary(0) else Array.emptyByteArray
    def asLookup(position: Int) = if (position < 0) Nil else List(position)
    val prober = index.newProber()
    val others = Seq(
      prober match {
        case p: LongsProber if areLongs => Some(if (p.probe(longs)) Found.all(p) else Nil)
        case p: BytesProber if isBytes =>
          p.probe(bytes, Platform.BYTE_ARRAY_OFFSET.toLong, bytes.length)
          Some(Found.all(p))
        case _ => None
      },
      index match {
        case i: LongsLookup if areLongs => Some(asLookup(i.find(longs)))
        case i: BytesLookup if isBytes =>
          Some(asLookup(i.find(bytes, Platform.BYTE_ARRAY_OFFSET.toLong, bytes.length)))
        case _ => None
      }
    )
    others.flatten.find(_ != expected).map(o => s"$o by its values, $expected by a row")
  }

  private def isText(dataType: DataType) = dataType match {
    case _: StringType | BinaryType => true
    case _ => false
  }

  /** All keys of a batch are asked for their groups first, and then by group. */
  private def wrongInBatches(
      index: JoinIndex,
      asked: Seq[Keyed],
      wrongRows: (InternalRow, Seq[Int]) => Option[String]
  ): Option[String] = {
    val areTaken = asked.nonEmpty && !asked.exists(_._2.anyNull)
    spec.batches.filter(_ => areTaken).zip(index.newBatchProber()).flatMap {
      case (batches, prober) =>
        val equal = probeKeys.dropRight(batches.bounds).map(_.dataType).zipWithIndex
          .map { case (dataType, i) => BoundReference(i, dataType, nullable = true) }
        val toEqual = UnsafeProjection.create(equal)
        def number(key: UnsafeRow, i: Int) = if (i < key.numFields) key.getLong(i) else 0L
        val groups = asked.map { case (_, key) =>
          equal match {
            case Nil => prober.group(0L)
            case Seq(one) if one.dataType == LongType => prober.group(key.getLong(0))
            case _ => prober.group(toEqual(key).copy(): InternalRow)
          }
        }.zip(asked).sortBy { case (group, (_, key)) => (-group, -number(key, equal.size)) }
        groups.view.flatMap { case (group, (row, key)) =>
          if (group >= 0) prober.probe(group, number(key, equal.size), number(key, equal.size + 1))
          val positions = if (group < 0) Nil else Found.all(prober)
          wrongRows(row, positions).map(what => s"probe key $key in a batch: $what")
        }.headOption
    }
  }

  /** A set stands for its rows. */
  private def wrongSets(
      sets: PositionSets,
      positions: Int,
      asked: Seq[Keyed],
      wrongRows: (InternalRow, Seq[Int]) => Option[String]
  ): Option[String] = {
    val members = (0 until sets.count).map { set =>
      (0 until positions).filter(p => sets.first(p) <= set && set < sets.end(p))
    }
    val prober = sets.newProber()
    members.indices.find(set => members(set).nonEmpty && sets.rows(set) != members(set).size)
      .map(set => s"set $set has ${sets.rows(set)} rows, but ${members(set)} are in it")
      .orElse(firstOf(asked) { case (row, key) =>
        prober.probe(key)
        val found =
          Found.all(prober).flatMap(p => if (p < positions) Seq(p) else members(p - positions))
        wrongRows(row, found).map(what => s"by sets, $what")
      })
  }

  private def wrongBytes(held: Seq[Long], index: JoinIndex): Option[String] =
    failed(
      held.zip(held.drop(1)).forall { case (a, b) => a <= b },
      s"bytes of the builder fall: $held"
    )
      .orElse(failed(index.bytes >= 0, s"the index says that it has ${index.bytes} bytes"))

  private def failed(holds: => Boolean, what: => String): Option[String] =
    if (holds) None else Some(what)

  /** None for rows that stay apart: a key failed, or is null where the index takes none. */
  private def key(projection: UnsafeProjection, row: InternalRow): Option[UnsafeRow] =
    try Some(projection(row).copy()).filter(key => spec.takesNulls || !key.anyNull)
    catch { case NonFatal(_) => None }
}

private[testkit] object IndexLaws {

  /** As Java sends it. */
  def byJava(index: JoinIndex): JoinIndex = {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(index)
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject()
      .asInstanceOf[JoinIndex]
  }
}
