package thetajoin.driver

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildSide}

import thetajoin.aggregate.Fold
import thetajoin.condition.{OrderedLong, Safety}
import thetajoin.contract.KeyErrors
import thetajoin.relation.{RowRanks, ThetaRelation}

/**
 * The work of the driver code for one join, between sides that have these columns.
 *
 * @param stored the build columns that the relation holds, in its order
 * @param isOfKeys whether the relation's index is of the equality keys alone
 */
final case class JoinTask(
    join: ThetaJoin,
    probeOutput: Seq[Attribute],
    stored: Seq[Attribute],
    isOfKeys: Boolean = false
) {
  private def byKeys: Option[ByKeys] = if (isOfKeys) join.byKeys else None
  private def areSafe: Boolean = probeKeys.forall(Safety.cannotFail)

  def role: JoinRole = join.role
  def buildSide: BuildSide = join.buildSide
  def probeFilter: Option[Expression] = join.probeFilter
  def limit: Option[Int] = join.k
  def rank: Option[SortOrder] = join.rank
  def oneRowAtMost: Boolean = join.oneRowAtMost

  val probeKeys: Seq[Expression] = byKeys.fold(join.probeKeys)(_.probeKeys)

  /** The conjuncts that a candidate must still pass, in plan order. */
  val residual: Seq[Expression] = byKeys.fold(join.residual)(_.residual)

  /** The conjuncts among them that it must pass also if no key of the pair failed. */
  val ofFound: Seq[Expression] = byKeys.fold(join.ofFound)(_.residual)

  /** Whether evaluating a probe key can raise an error that is held; such a row meets every build row. */
  val keysCanFail: Boolean = join.spec.keyErrors == KeyErrors.Held && !areSafe

  /**
   * Whether evaluating a probe key can raise an error that is the query's. If there is no build row, none is
   * evaluated.
   */
  val keysMayRaise: Boolean = join.spec.keyErrors == KeyErrors.Raised && !areSafe

  /** Whether a probe row may have candidates if one of its keys is null. */
  val takesNullKeys: Boolean = join.spec.takesNulls && !isOfKeys

  /** How many probe rows are best asked for together, however large the index is; 0 for one at a time. */
  def rowsTogether: Int = if (isOfKeys) 0 else join.spec.batches.fold(0)(_.rows)

  /** The task for a relation, once it is known what its index answers. */
  def on(relation: ThetaRelation): JoinTask =
    if (join.byKeys.isDefined && relation.isOfKeys) copy(isOfKeys = true) else this

  /**
   * Whether an error of a pair is held back until it is known that the row has no match: where it has one, Spark may
   * not see the other pair.
   */
  val holdsErrors: Boolean = role.isExistence && !residual.forall(Safety.cannotFail)

  /** The expressions that are evaluated on probe rows and candidates. */
  def evaluated: Seq[Expression] = probeFilter.toSeq ++ probeKeys ++ ofCandidates

  /** The expressions that are evaluated on a candidate together with the probe row. */
  def ofCandidates: Seq[Expression] = residual ++ rank.map(_.child)

  /** Whether there is generated code for it. */
  def hasCode: Boolean = ranksRows || rank.forall(order => OrderedLong.orders(order.dataType))

  /** Whether candidates are ordered by the numbers of their rows, since their values are no numbers. */
  def ranksRows: Boolean =
    rank.exists(r => !OrderedLong.orders(r.dataType) && RowRanks.exist(r, stored))

  /** Whether several matches of a probe row are chosen, or one by its rank among all. */
  def choosesRows: Boolean = limit.exists(_ > 1) || rank.isDefined

  def fold: Option[Fold] = join.fold

  /** Whether all candidates of a run are matches, where no key failed, and come out by their buffers. */
  def foldsRuns: Boolean = fold.isDefined && ofFound.isEmpty

  /** Whether candidates may be given as sets of rows: it is not asked which build rows have a match. */
  def mayFoldSets: Boolean = foldsRuns && !role.needsMatchedBuildRows

  /** The build columns as aggregate functions read them: there may be none for a probe row. */
  def aggregated: Seq[Attribute] =
    if (role.padsProbe) stored.map(_.withNullability(true)) else stored

  /** The columns that come out for a build row, or for a run of them. */
  def buildOutput: Seq[Attribute] = fold.fold(stored)(_.buffers)

  /** Puts values for the probe and build columns into the order of the join's output. */
  def outputOrder[A](probe: Seq[A], build: Seq[A]): Seq[A] =
    if (buildSide == BuildLeft && fold.isEmpty) build ++ probe else probe ++ build
}
