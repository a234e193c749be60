package thetajoin.driver

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}

import thetajoin.condition.{OrderedLong, Safety}
import thetajoin.contract.{BatchLookup, LongsLookup}
import thetajoin.relation.ThetaRelation

/**
 * What the driver does for one join: made from the fields of an exec node when it runs.
 *
 * @param stored the build columns that the relation holds, in its order
 * @param probeFilter a condition on probe rows alone: a row that fails it has no match
 * @param residual conjuncts that a candidate must still pass, in plan order
 * @param keysCanFail whether evaluating a probe key can raise an error that is held; such a row meets every build row
 * @param keysMayRaise whether evaluating a probe key can raise an error that is the query's. If there is no build row, none is evaluated
 * @param takesNullKeys whether a probe row of which a key is null may have candidates
 * @param limit how many matches of a probe row are joined at most
 * @param rank by what the matches are ordered of which `limit` are taken, if they are not found in that order. Where it is null the pair is no match
 * @param byKeys set if the relation's index may be of the equality keys alone
 */
final case class JoinTask(
    role: JoinRole,
    buildSide: BuildSide,
    probeOutput: Seq[Attribute],
    stored: Seq[Attribute],
    probeKeys: Seq[Expression],
    probeFilter: Option[Expression],
    residual: Seq[Expression],
    keysCanFail: Boolean,
    keysMayRaise: Boolean,
    takesNullKeys: Boolean,
    limit: Option[Int] = None,
    rank: Option[SortOrder] = None,
    byKeys: Option[ByKeys] = None
) {

  /** The task for a relation of which it is known what its index answers. */
  def on(relation: ThetaRelation): JoinTask = byKeys match {
    case Some(keys) if relation.isOfKeys =>
      copy(
        probeKeys = keys.probeKeys,
        residual = keys.residual,
        keysCanFail = false,
        takesNullKeys = false,
        byKeys = None
      )
    case _ => this
  }

  /**
   * Whether an error of a pair is held back until it is known that the row has no match: where it has one, Spark may not
   * see the other pair.
   */
  val holdsErrors: Boolean = role.isExistence && !residual.forall(Safety.cannotFail)

  /** What is evaluated of probe rows and candidates. */
  def evaluated: Seq[Expression] = probeFilter.toSeq ++ probeKeys ++ ofCandidates

  /** What is evaluated of a candidate together with the probe row. */
  def ofCandidates: Seq[Expression] = residual ++ rank.map(_.child)

  /** Whether a probe row gives one row at most. */
  def oneRowAtMost: Boolean = role.oneRowAtMost || limit.contains(1)

  /** Whether there is generated code for it. */
  def hasCode: Boolean = rank.forall(order => OrderedLong.orders(order.dataType))

  /** Whether the index of this relation gives, by one call, all that a probe row is joined with. */
  def looksUp(relation: ThetaRelation, inBatches: Boolean = false): Boolean =
    role.pairs && !role.needsMatchedBuildRows && !keysCanFail && relation.always == 0 &&
      (relation.index match {
        case _: BatchLookup => true
        case _: LongsLookup => !inBatches
        case _ => false
      })

  /** Puts what stands for the probe and build columns into the order of the join's output. */
  def outputOrder[A](probe: Seq[A], build: Seq[A]): Seq[A] = buildSide match {
    case BuildLeft => build ++ probe
    case BuildRight => probe ++ build
  }
}

/**
 * A join by its equality keys, where few build rows have the same ones.
 *
 * @param residual all other conjuncts of both sides, and equalities that the keys do not answer exactly
 */
final case class ByKeys(probeKeys: Seq[Expression], residual: Seq[Expression])
