package thetajoin.relation

import scala.util.{Either, Left, Right}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode

import thetajoin.condition.Safety
import thetajoin.contract.{IndexSpec, KeyErrors}

/**
 * Broadcasts the build side as a [[thetajoin.relation.ThetaRelation]]. Once it is [[boundTo bound]] it holds
 * constants and expressions bound to the build side's output only, so that the modes of equal joins are equal: two
 * plans of the same query share a broadcast, and adaptive execution finds its own again. See [[RelationBuilder]] for
 * the fields.
 *
 * @param condition of the join, for an error in the driver; modes of equal fields are equal whatever it is
 */
final case class ThetaBroadcastMode(
    accelerator: String,
    spec: IndexSpec,
    keys: Seq[Expression],
    filter: Option[Expression],
    stored: Seq[Expression],
    keepUnmatchable: Boolean,
    equalKeys: Seq[Expression]
)(@transient val condition: Option[Expression])
    extends BroadcastMode
    with Logging {

  /**
   * For the rows of a plan with this output. A join is planned by the columns of a logical plan, and the physical
   * plan may have another order: Spark drops a projection that changes nothing else where a node above names its
   * columns anyway. Called for a mode that is bound it gives the same.
   */
  def boundTo(output: Seq[Attribute]): ThetaBroadcastMode = {
    val input = AttributeSeq(output)
    // Nullability may change between plans of one query, and must not make its modes differ.
    def bind(e: Expression): Expression =
      BindReferences.bindReference(e, input).transform {
        case reference: BoundReference => reference.copy(nullable = true)
      }
    val columns = AttributeSet.fromAttributeSets(stored.map(_.references))
    val kept = if (columns.isEmpty) stored else output.filter(columns.contains)
    copy(
      keys = keys.map(bind),
      filter = filter.map(bind),
      stored = kept.map(bind),
      equalKeys = equalKeys.map(bind)
    )(condition)
  }

  /**
   * Whether rows that the index's sieve leaves out, or with a null key, are of no use, and keys may be evaluated
   * without a net.
   */
  def hasSieve: Boolean =
    spec.sieve.isDefined && filter.isEmpty && !keepUnmatchable &&
      (spec.keyErrors == KeyErrors.Raised || keys.forall(Safety.cannotFail))

  override def transform(rows: Array[InternalRow]): Any =
    transform(rows.iterator, Some(rows.length.toLong))

  /**
   * In the driver. If its heap is full, Spark releases all that it can. If that is much, the rows are read once more.
   */
  override def transform(rows: Iterator[InternalRow], sizeHint: Option[Long]): Any = {
    def again(full: BroadcastMemoryException): ThetaRelation = {
      val repeated = rows match {
        case repeatable: RepeatableRows => repeatable.again(full.bytes)
        case _ => None
      }
      repeated.fold(throw full) { rows =>
        logWarning(
          "thetajoin: the heap was full when an index was built, which is tried once more",
          full
        )
        inDriver(rows, sizeHint).fold(throw _, identity)
      }
    }
    inDriver(rows, sizeHint).fold(again, identity)
  }

  private def inDriver(
      rows: Iterator[InternalRow],
      sizeHint: Option[Long]
  ): Either[BroadcastMemoryException, ThetaRelation] = {
    val measured = new MeasuredRows(rows)
    val room = new DriverRoom(sizeHint)
    try {
      val built = relation(measured, room.ask(_, measured.rows))
      // A second copy is written to be sent.
      room.make(built.bytes)
      Right(built)
    } catch {
      case e: OutOfMemoryError =>
        Left(new BroadcastMemoryException(condition, measured.rows, measured.bytes, e))
    }
  }

  /** @param hold is told the most bytes that it takes, now and then while rows come */
  def relation(rows: MeasuredRows, hold: Long => Unit): ThetaRelation = {
    val builder = new RelationBuilder(spec, keys, filter, stored, keepUnmatchable, equalKeys)
    builder.addAll(rows)(hold)
    builder.result()
  }

  /** Of few rows, or none. */
  def relation(rows: Iterator[InternalRow]): ThetaRelation =
    relation(new MeasuredRows(rows), _ => ())

  /** The text for a reader of EXPLAIN and of the SQL tab. */
  override def toString: String =
    s"ThetaBroadcastMode($accelerator, ${keys.mkString("[", ", ", "]")})"

  override lazy val canonicalized: ThetaBroadcastMode =
    copy(
      keys = keys.map(_.canonicalized),
      filter = filter.map(_.canonicalized),
      stored = stored.map(_.canonicalized),
      equalKeys = equalKeys.map(_.canonicalized)
    )(condition)
}

/**
 * A build side that the driver's heap can't hold. Spark's own error would name settings that have no effect on these
 * joins.
 */
final class BroadcastMemoryException(
    condition: Option[Expression],
    rows: Long,
    val bytes: Long,
    cause: OutOfMemoryError
) extends RuntimeException(
      s"[BROADCAST_OUT_OF_MEMORY] The driver's heap is too small to index a side of the join ON ${condition.fold("true")(_.sql)} for its broadcast: it may take " +
        s"${Runtime.getRuntime.maxMemory >> 20} MB, and $rows rows of " +
        s"${bytes >> 20} MB were read before it was full. Raise spark.driver.memory, and " +
        "spark.executor.memory with it; or filter that side, select fewer of its columns, or have the other side " +
        "built by a BROADCAST hint on it. A NO_THETA_JOIN hint leaves the join to Spark.",
      cause
    )
