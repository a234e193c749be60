package thetajoin.contract

import scala.annotation.unused

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}

import thetajoin.condition.{Conjunct, FoundByIndex, JoinShape, OneSided, Safety}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * A way to find the candidates of a probe row: an index over the build side's keys. It knows nothing of rows,
 * join types or the plan; the driver does the rest. Implementations are stateless and have a constructor
 * without arguments.
 *
 * {{{
 *   offer    what of this condition would the index answer, and from which keys?
 *   build    keys of build rows go in, an immutable index and an order for the rows come out
 *   probe    a key goes in, candidate positions come out
 * }}}
 *
 * The contract: the candidates of a probe key cover every build row for which all conjuncts
 * that the offer serves hold, and every position at most once.
 */
trait Accelerator {

  /** [[Contract.Version]], and nothing else. An accelerator of another version is refused. */
  def contract: Int

  /** Lower-case noun: the name in EXPLAIN and in `spark.thetajoin.accelerator.<id>.enabled`. */
  def id: String

  /** One sentence for the documentation. */
  def summary: String

  /** Reasons that only this accelerator gives. */
  def reasons: Seq[ReasonCode] = Nil

  /** The classes of its indexes and of their fields' values, for a Kryo that requires registration. */
  def wireClasses: Seq[Class[_]] = Nil

  /**
   * The condition that stands in for a conjunct of a join which Spark would not evaluate in the join, so that it stays
   * there and this accelerator can offer an index for it. Of a `SortOrder` it is the value by which a top-k join orders
   * its matches: it has no null, and the offer for it [[Offer.isRanked is ranked]]. It is asked before the optimizer.
   */
  def standIn(@unused of: Expression): Option[FoundByIndex] = None

  /**
   * The offer of this accelerator for the join if the request's side were indexed, or the reason against it. An
   * accelerator that is for another [[Need]] says `ReasonCode.OtherNeed`, which users are not told.
   */
  def offer(request: JoinRequest): Either[Reason, Offer]
}

/**
 * A join that an accelerator is asked about.
 *
 * @param shape the condition, split into conjuncts
 * @param buildSide the side that would be indexed
 * @param need which of a probe row's matches the result needs
 * @param ask how other accelerators would serve a part of the condition
 * @param mayRaise whether an index may raise the error of a test. The rest of a condition, if the shape is a part of
 *   it, may keep a pair from the error, and so may a match that is known at the end of all probe rows
 */
final case class JoinRequest(
    shape: JoinShape,
    buildSide: BuildSide,
    need: Need,
    ask: Ask,
    mayRaise: Boolean
) {

  /** The conjuncts that read both sides. */
  def paired: Seq[Conjunct] = shape.conjuncts.filterNot(_.isInstanceOf[OneSided])

  def build: Seq[Attribute] = buildSide match {
    case BuildLeft => shape.left
    case BuildRight => shape.right
  }

  def probe: Seq[Attribute] = buildSide match {
    case BuildLeft => shape.right
    case BuildRight => shape.left
  }

  /**
   * Whether a conjunct of both sides that an index tests may raise an error there that Spark's join would not raise:
   * another conjunct that stands before it may prevent that.
   *
   * @param exact the conjuncts that the index answers before it tests this one
   */
  def isGuarded(conjunct: Expression, exact: Seq[Expression]): Boolean =
    !mayRaise || paired.map(_.source).takeWhile(_ != conjunct).exists(!exact.contains(_))
}

/** Which of a probe row's matches the result needs. */
sealed trait Need

object Need {

  /** Each of them. */
  case object All extends Need

  /** Whether there is one. A build row may be left out of the index if, whenever it matches, one that stays does. */
  case object Any extends Need

  /** The first `k` in the order of `rank`, without rows whose rank is null. */
  final case class Lowest(k: Int, rank: SortOrder) extends Need
}

/** How one accelerator uses the others, for an arm of an OR for instance. */
trait Ask {

  /** The cheapest offer that serves at least one of the conjuncts, for all matches of a probe row. */
  def apply(part: Seq[Conjunct]): Option[Offer]
}

/**
 * @param served the conjuncts (as in [[JoinShape.conjuncts]]) that the candidates answer, and a rank, which is none
 *   of them
 * @param exact the conjuncts of `served` that hold for each candidate. A candidate whose key failed, or of a probe
 *   row whose key did, is checked by the driver
 * @param buildKeys one-sided expressions over the build side, evaluated once a row
 * @param probeKeys one-sided expressions over the probe side that the index understands
 * @param spec how to build the index: constants only, so that equal joins get equal specs
 * @param cost is compared with the costs of other offers; the cheapest wins
 * @param isRanked whether the candidates come in the order of rank that [[Need.Lowest]] asks for, and none has the
 *   rank null
 */
final case class Offer(
    served: Seq[Expression],
    exact: Seq[Expression],
    buildKeys: Seq[Expression],
    probeKeys: Seq[Expression],
    spec: IndexSpec,
    cost: Cost,
    isRanked: Boolean = false
) {

  /** The conjuncts among these that are tested on each candidate. */
  def checked(paired: Seq[Conjunct]): Seq[Conjunct] =
    paired.filterNot(conjunct => exact.contains(conjunct.source))

  /** Whether a row whose key failed may be a candidate. */
  def holdsFailed: Boolean =
    spec.keyErrors == KeyErrors.Held && !(buildKeys ++ probeKeys).forall(Safety.cannotFail)
}

/**
 * The expected cost of an index. Times are nanoseconds of one core. Only the order of magnitude counts.
 *
 * @param share how many of the build rows are candidates of a probe row, 0.0 to 1.0
 * @param perProbe time of a look-up, without its candidates
 * @param perBuildRow time to index a build row
 * @param perPair time that a look-up takes for each build row of its equality keys, candidate or not: 0 for an index
 *   that leaves rows out unseen
 */
final case class Cost(
    share: Double,
    perProbe: Double,
    perBuildRow: Double,
    perPair: Double = 0.0
) {

  /** The cost of two indexes over the same rows if both are asked. There are no more candidates than rows. */
  def +(other: Cost): Cost = Cost(
    math.min(share + other.share, 1.0),
    perProbe + other.perProbe,
    perBuildRow + other.perBuildRow,
    perPair + other.perPair
  )
}
