package thetajoin.accelerator.interval

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.BuildSide

import thetajoin.accelerator.existence.TestedComparisons
import thetajoin.condition.JoinShape
import thetajoin.contract.{Accelerator, Contract, Cost, IndexSpec, JoinRequest, Need, Offer}
import thetajoin.kit.{Bound, EqualKeys, Segments, ValueRank}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Two comparisons between the sides, or one or two of them next to equality keys: a point in an interval, intervals
 * that overlap, any other two inequalities.
 *
 * {{{
 *   a.t BETWEEN b.lo AND b.hi, a built:   one value, two bounds: one run of the sorted values (Between)
 *   a.t BETWEEN b.lo AND b.hi, b built    \
 *   a.lo <= b.hi AND b.lo <= a.hi          } two values, a bound for each (BothAtLeast)
 *   a.x < b.x AND a.y > b.y               /
 * }}}
 *
 * If there are more comparisons, the index answers two.
 *
 * The work for a probe row is a search, and then little more than its matches, however long or nested the intervals
 * are. With equality keys there is a sorted segment of rows for each key.
 */
object IntervalAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "interval"

  override val summary: String =
    "Two comparisons between the sides (points in intervals, overlaps, any two inequalities), " +
      "or one or two next to equality keys: a probe is a search in sorted rows and gives its " +
      "matches."

  override def wireClasses: Seq[Class[_]] = Seq(
    classOf[BetweenSpec],
    classOf[Between],
    classOf[BothAtLeastSpec],
    classOf[BothAtLeast],
    classOf[Segments],
    classOf[MaxTree]
  ) ++ ValueRank.wireClasses

  override def offer(request: JoinRequest): Either[Reason, Offer] =
    ofPairs(request.shape, request.buildSide).map { offer =>
      val tested =
        if (request.need != Need.Any) None
        else TestedComparisons(request.paired, request.buildSide, isOfKeys = false)
      tested.fold(offer)(_.beside(Offer(Nil, Nil, Nil, Nil, offer.spec, TestedComparisons.cost)))
    }

  private def ofPairs(shape: JoinShape, buildSide: BuildSide): Either[Reason, Offer] =
    EqualKeys.of(shape, buildSide).flatMap { equal =>
      // A row whose key fails meets all rows, not only the rows with its equality keys.
      val comparisons =
        if (equal.isEmpty) shape.comparisons else shape.plainComparisons
      indexed(comparisons.flatMap(Bound.ofAnyType(_, buildSide)), equal.size) match {
        case Some(index) => Right(offer(equal, index))
        case None if shape.equiKeys.isEmpty => Left(ReasonCode.NoSecondComparison())
        case None => Left(ReasonCode.NoComparison())
      }
    }

  private def offer(equal: EqualKeys, index: Indexed): Offer = {
    val served = index.bounds.map(_.source).distinct
    val rough = index.bounds.filterNot(_.equivalent).map(_.source)
    val offer = equal.ahead(Offer(
      served,
      exact = served.filterNot(rough.contains),
      index.build,
      index.probe,
      index.spec,
      cost = Cost(if (equal.isEmpty) 0.25 else 0.05, perProbe = 150, perBuildRow = 250)
    ))
    // A probe value is compared with the build value of its bound. Both bounds may have the same build value.
    val compared = offer.probeKeys.indices.map(math.min(_, offer.buildKeys.size - 1))
    ValueRank.resolved(offer, compared)
  }

  /** The comparisons of an index, next to the keys that must be equal. */
  private final case class Indexed(
      bounds: Seq[Bound],
      build: Seq[Expression],
      probe: Seq[Expression],
      spec: IndexSpec
  )

  /** The bounds that an index with so many keys serves; exact ones if they are enough, or else equivalent ones. */
  private def indexed(bounds: Seq[Bound], keys: Int): Option[Indexed] = {
    val (exact, equivalent) = (bounds.filter(_.exact), bounds.filter(_.equivalent))
    Seq(exact, equivalent, bounds).iterator.flatMap(pair(_, keys)).nextOption()
      .orElse(if (keys == 0) None else exact.headOption.map(bound => between(Seq(bound), keys)))
  }

  private def pair(bounds: Seq[Bound], keys: Int): Option[Indexed] =
    opposite(bounds, _.build).map { case (a, b) => between(Seq(a, b), keys) }
      .orElse {
        val first = bounds.take(2) match {
          case Seq(a, b) => Some((a, b))
          case _ => None
        }
        opposite(bounds, _.probe).orElse(first).map { case (a, b) => bothAtLeast(a, b, keys) }
      }

  /** The first two bounds from opposite ends on the same value. */
  private def opposite(bounds: Seq[Bound], value: Bound => Expression): Option[(Bound, Bound)] = {
    val ofValue = bounds.groupBy(bound => (value(bound).canonicalized, bound.isLower))
    bounds.iterator.flatMap { bound =>
      ofValue.get((value(bound).canonicalized, !bound.isLower)).map(others => (bound, others.head))
    }.nextOption()
  }

  private def between(bounds: Seq[Bound], keys: Int): Indexed = {
    val (lower, upper) = (bounds.find(_.isLower), bounds.find(!_.isLower))
    val spec = BetweenSpec(keys, lower.map(_.strict), upper.map(_.strict))
    Indexed(bounds, Seq(bounds.head.build), (lower ++ upper).map(_.probe).toSeq, spec)
  }

  private def bothAtLeast(first: Bound, second: Bound, keys: Int): Indexed = {
    val bounds = Seq(first, second)
    val (build, probe) = bounds.map(_.ascending).unzip
    val spec = BothAtLeastSpec(
      keys,
      first.strict,
      second.strict,
      first.isSamePoint(second),
      first.isOnLineOf(second)
    )
    Indexed(bounds, build, probe, spec)
  }
}
