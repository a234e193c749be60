package thetajoin.accelerator.piecewise

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.BuildSide
import org.apache.spark.sql.types._

import thetajoin.condition.{Comparison, OrderedLong}
import thetajoin.contract.{
  Accelerator,
  Batches,
  Contract,
  Cost,
  IndexBuilder,
  IndexSpec,
  JoinRequest,
  Offer,
  SeenKeys
}
import thetajoin.kit.ValueOrder
import thetajoin.reason.{Reason, ReasonCode}

/**
 * One comparison `<`, `<=`, `>` or `>=` between the sides. The build side is sorted by its key, so that the
 * candidates of a probe key are one run, at the start or at the end:
 *
 * {{{
 *   a.x > b.y, b built and sorted by y:   position 0 1 2 3      probe x = 6
 *                                         y        1 4 7 9      run [0, 2)
 * }}}
 *
 * A probe costs one search, a build one sort. Rows with a null key are in no run.
 */
object PiecewiseAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "piecewise"

  override val summary: String =
    "One comparison (<, <=, >, >=) between the sides: the build side is sorted, a probe is one search and one run."

  override def wireClasses: Seq[Class[_]] = Seq(
    classOf[Boundary],
    classOf[SortedLongs],
    classOf[SortedValues]
  )

  override def offer(request: JoinRequest): Either[Reason, Offer] =
    if (request.shape.comparisons.isEmpty) Left(ReasonCode.NoComparison())
    else {
      val keyed = request.shape.comparisons.map(c => refusal(c).toLeft(c))
      val usable = keyed.collect { case Right(c) => c }
      usable.find(_.exact).orElse(usable.find(_.equivalent)).orElse(usable.headOption) match {
        case Some(comparison) => Right(offer(comparison, request.buildSide))
        case None => Left(keyed.collectFirst { case Left(reason) => reason }.get)
      }
    }

  private def offer(comparison: Comparison, buildSide: BuildSide): Offer = {
    val (build, operator, probe) = comparison.oriented(buildSide)
    Offer(
      served = Seq(comparison.source),
      exact = if (comparison.equivalent) Seq(comparison.source) else Nil,
      buildKeys = Seq(key(build)),
      probeKeys = Seq(key(probe)),
      spec = PiecewiseSpec(operator.symbol),
      cost = Cost(share = 0.5, perProbe = 60, perBuildRow = 150)
    )
  }

  /** Why a comparison can't be indexed, if so. */
  private def refusal(c: Comparison): Option[Reason] = {
    val (l, r) = (c.left.dataType, c.right.dataType)
    if (!ValueOrder.isShared(l, r))
      Some(ReasonCode.KeyType(s"${l.sql} and ${r.sql} in ${c.source.sql}"))
    else
      ValueOrder.unordered(l).map {
        case s: StringType => ReasonCode.KeyCollation(s"${s.sql} in ${c.source.sql}")
        case t => ReasonCode.KeyType(s"${t.sql} in ${c.source.sql}")
      }
  }

  private def key(e: Expression): Expression = e.dataType match {
    case t if OrderedLong.orders(t) => OrderedLong(e)
    case _ => e
  }
}

/** `build key <operator> probe key`. If `extreme`, only the build row that satisfies it most easily is kept. */
final case class PiecewiseSpec(operator: String, extreme: Boolean = false) extends IndexSpec {
  override def forOne: IndexSpec = copy(extreme = true)

  override def batches: Option[Batches] = if (extreme) None else Batches.by(1)

  override def sieve: Option[Seq[DataType] => SeenKeys] =
    if (extreme) Some(types => new ExtremeSoFar(Boundary(operator), types.head)) else None

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = keyTypes match {
    case Seq(LongType) => new SortedLongsBuilder(Boundary(operator), extreme)
    case Seq(other) => new SortedValuesBuilder(Boundary(operator), extreme, other)
    case _ => throw new IllegalArgumentException(s"piecewise takes one key, not ${keyTypes.size}")
  }
}
