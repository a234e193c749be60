package thetajoin.driver

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.optimizer.BuildSide
import org.apache.spark.sql.types.{DataType, NullType}

import thetajoin.aggregate.Fold
import thetajoin.contract.IndexSpec
import thetajoin.relation.ThetaBroadcastMode

/**
 * The decision for a join: all that is the same wherever its rows meet. It is an expression, as an aggregate function
 * is, so that Spark's canonical forms, transforms and references reach the expressions inside.
 *
 * @param accelerator its id
 * @param buildKeys the values of a build row that the index is made of
 * @param probeKeys the values of a probe row that are looked up in it
 * @param buildFilter a condition on build rows alone: a row that fails it has no match
 * @param probeFilter the same on probe rows
 * @param served the conjuncts that the index answers, exactly or roughly
 * @param residual the conjuncts that are tested on candidates, in plan order
 * @param ofFound the conjuncts of the residual that are also tested on a candidate if no key of the pair failed
 * @param k how many matches of a probe row are joined at most
 * @param rank the order of the matches whose first `k` are joined, if the index does not give them in that order. A
 *   pair with the rank null is no match
 * @param byKeys set if the index may turn out to be of the equality keys alone
 * @param fold the aggregate functions whose buffers come out in place of build columns
 */
final case class ThetaJoin(
    accelerator: String,
    spec: IndexSpec,
    role: JoinRole,
    buildSide: BuildSide,
    buildKeys: Seq[Expression],
    probeKeys: Seq[Expression],
    buildFilter: Option[Expression],
    probeFilter: Option[Expression],
    served: Seq[Expression],
    residual: Seq[Expression],
    ofFound: Seq[Expression],
    k: Option[Int] = None,
    rank: Option[SortOrder] = None,
    byKeys: Option[ByKeys] = None,
    fold: Option[Fold] = None
) extends Expression {
  override def dataType: DataType = NullType
  override def nullable: Boolean = true

  // Spark's own traits of expressions without a value differ between its versions.
  override def eval(input: InternalRow): Any = refuse()
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = refuse()
  private def refuse(): Nothing =
    throw new IllegalStateException(s"a join has no value: $accelerator")

  override lazy val canonicalized: Expression = withCanonicalizedChildren match {
    case join: ThetaJoin => join.copy(fold = join.fold.map(_.canonicalized))
    case other => other
  }

  override def children: Seq[Expression] =
    buildKeys ++ probeKeys ++ buildFilter ++ probeFilter ++ served ++ residual ++ ofFound ++ rank ++
      byKeys.toSeq.flatMap(_.all) ++ fold.toSeq.flatMap(_.functions)

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): ThetaJoin = {
    val rest = newChildren.iterator
    def as(old: Iterable[Expression]): Seq[Expression] = old.map(_ => rest.next()).toSeq
    copy(
      buildKeys = as(buildKeys),
      probeKeys = as(probeKeys),
      buildFilter = as(buildFilter).headOption,
      probeFilter = as(probeFilter).headOption,
      served = as(served),
      residual = as(residual),
      ofFound = as(ofFound),
      rank = as(rank).headOption.map(_.asInstanceOf[SortOrder]),
      byKeys = byKeys.map(b => ByKeys(as(b.buildKeys), as(b.probeKeys), as(b.residual))),
      fold = fold.map(f =>
        f.copy(functions = as(f.functions).map(_.asInstanceOf[AggregateExpression]))
      )
    )
  }

  /** Whether a probe row gives one row at most. */
  def oneRowAtMost: Boolean = role.oneRowAtMost || k.contains(1)

  /** The columns of a build side with this output that its relation must hold. */
  def stored(build: Seq[Attribute]): Seq[Attribute] =
    if (role.emitsBuildColumns) build
    else {
      val read = AttributeSet.fromAttributeSets(residual.map(_.references))
      build.filter(read.contains)
    }

  /** How a build side with this output becomes a relation, by the names of its columns. */
  def mode(build: Seq[Attribute], condition: Option[Expression]): ThetaBroadcastMode =
    ThetaBroadcastMode(
      accelerator,
      spec,
      buildKeys,
      buildFilter,
      stored(build),
      role.needsMatchedBuildRows,
      byKeys.toSeq.flatMap(_.buildKeys)
    )(condition)
}

/**
 * A join by its equality keys, where few build rows have the same ones.
 *
 * @param residual all other conjuncts of both sides, and equalities that the keys do not answer exactly
 */
final case class ByKeys(
    buildKeys: Seq[Expression],
    probeKeys: Seq[Expression],
    residual: Seq[Expression]
) {
  def all: Seq[Expression] = buildKeys ++ probeKeys ++ residual
}
