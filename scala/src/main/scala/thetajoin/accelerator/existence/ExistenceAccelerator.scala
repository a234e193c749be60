package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.expressions.{Coalesce, Expression, IsNull, Literal}
import org.apache.spark.sql.catalyst.optimizer.BuildSide

import thetajoin.condition.{JoinShape, PackedLong}
import thetajoin.contract.{Accelerator, Contract, Cost, JoinRequest, Need, Offer}
import thetajoin.kit.EqualKeys
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Equality keys. Build rows are grouped by key, so that the candidates of a probe key are one run:
 *
 * {{{
 *   a.x = b.y, b built:   position 0 1 2 3      probe x = 4
 *                         y        1 4 4 9      run [1, 3)
 * }}}
 *
 * If the join asks only whether a key exists, each distinct key is kept once, and nothing else. With one or two
 * comparisons the rows of a key are kept that answer them for all. Spark's joins evaluate such keys for every row, so
 * an error in one is the query's error.
 */
object ExistenceAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "existence"

  override val summary: String =
    "Semi, anti and mark joins on equality keys: the distinct keys are a bitmap or a hash " +
      "table, a probe is one look-up."

  override def wireClasses: Seq[Class[_]] = Seq(
    classOf[TestedRows],
    classOf[TestedLongs],
    classOf[TestedBytes],
    classOf[HighestTest],
    classOf[UnequalTest],
    classOf[StaircaseTest],
    classOf[NullAwareSpec],
    classOf[NullAwareIndex]
  )

  override def offer(request: JoinRequest): Either[Reason, Offer] =
    ofKeys(request.shape, request.buildSide).map { offer =>
      if (request.need != Need.Any || offer.spec != ExistenceSpec()) offer
      else
        TestedComparisons(offer.checked(request.paired), request.buildSide, isOfKeys = true)
          .fold(offer)(_.beside(offer).copy(cost = TestedComparisons.cost))
    }

  private def ofKeys(shape: JoinShape, buildSide: BuildSide): Either[Reason, Offer] = {
    val equal = shape.equiKeys
    val aware = shape.nullAwareKeys.take(NullAwareSpec.MaxNullable)
    if (equal.isEmpty && aware.isEmpty) Left(ReasonCode.NoEquiKey())
    else {
      val refused = equal.flatMap(k => EqualKeys.refusal(k.source, k.left, k.right)) ++
        aware.flatMap(k => EqualKeys.refusal(k.source, k.left, k.right))
      refused.headOption.toLeft {
        val (build, probe) = equal.map(_.oriented(buildSide)).unzip
        val (awareOfBuild, awareOfProbe) = aware.map(_.oriented(buildSide)).unzip
        val served = equal.map(_.source) ++ aware.map(_.source)
        val spec =
          if (aware.isEmpty) ExistenceSpec() else NullAwareSpec(build.flatten.size, aware.size)
        Offer(
          served,
          exact = served,
          buildKeys = keys(build.flatten, awareOfBuild),
          probeKeys = keys(probe.flatten, awareOfProbe),
          spec,
          cost = Cost(share = 0.1, perProbe = 20, perBuildRow = 100)
        )
      }
    }
  }

  /** See [[ExistenceSpec]] and [[NullAwareSpec]] for their meaning. */
  private def keys(plain: Seq[Expression], nullAware: Seq[Expression]): Seq[Expression] =
    if (nullAware.isEmpty) EqualKeys.packed(plain)
    else {
      val values = nullAware.map(EqualKeys.key)
      plain.map(EqualKeys.key) ++
        values.map(value => Coalesce(Seq(value, Literal.default(value.dataType)))) ++
        PackedLong.of(nullAware.map(IsNull(_)))
    }
}
