package thetajoin.hints

import java.util.Locale

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.unsafe.types.UTF8String

import thetajoin.Settings
import thetajoin.accelerator.Registry
import thetajoin.condition.FoundByIndex

/**
 * A hint about the joins that a relation is part of. It is a Spark hint with more in it, so Spark carries it from the
 * relation to its join.
 *
 * @param name as the query says it
 * @param accelerator the only one to be asked, if the hint names one
 * @param forces whether a join is accelerated that would be left to Spark for its size or its keys
 */
final class ThetaHint(
    val name: String,
    val accelerator: Option[String],
    val forces: Boolean,
    strategy: Option[JoinStrategyHint] = None
) extends HintInfo(strategy) {

  def forbids: Boolean = name == ThetaHint.Never

  /** A note for a reader of the plan. */
  def note: Option[String] =
    if (name == ThetaHint.Range)
      Some("the bin size of RANGE_JOIN is not used: the index has no bins")
    else None

  /** A strategy that another hint asks for stays next to this one; of two like this the outer counts. */
  override def merge(other: HintInfo, errors: HintErrorHandler): HintInfo =
    copy(strategy.orElse(other.strategy))

  /** Adaptive execution adds a strategy of its own to a hint. */
  override def copy(strategy: Option[JoinStrategyHint]): HintInfo =
    new ThetaHint(name, accelerator, forces, strategy)

  override def equals(other: Any): Boolean = other match {
    case that: ThetaHint =>
      name == that.name && accelerator == that.accelerator && forces == that.forces &&
      strategy == that.strategy
    case _ => false
  }
  override def hashCode: Int = (name, accelerator, forces, strategy).hashCode
  override def toString: String =
    s"(${(name +: accelerator.toSeq).mkString(" ")}${strategy.map(s => s", strategy=$s").mkString})"
}

object ThetaHint {
  val Use = "THETA_JOIN"
  val Never = "NO_THETA_JOIN"

  /** A hint of another engine: its second parameter is the width of its bins. There are none here. */
  val Range = "RANGE_JOIN"

  val all: Set[String] = Set(Use, Never, Range)

  /**
   * Whether the join is accelerated whatever its size and keys: a hint on a side asks for it, or Spark's joins can't
   * test its condition.
   */
  def isForced(join: Join): Boolean =
    of(join).exists(_.forces) || join.condition.exists(FoundByIndex.isIn)

  /** The hints on the sides of a join. */
  def of(join: Join): Seq[ThetaHint] =
    (join.hint.leftHint.toSeq ++ join.hint.rightHint).collect { case hint: ThetaHint => hint }
}

/**
 * Takes the hints out of a query's text: `THETA_JOIN(t)`, `NO_THETA_JOIN`, `THETA_JOIN(interval)`, `RANGE_JOIN(t,
 * 10)`. Words name relations of the hinted block or accelerators. Without a relation a hint is on all joins of its
 * block or, where that has none, on the block as a side of a join.
 */
object ResolveThetaHints extends Rule[LogicalPlan] with SQLConfHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case hint: UnresolvedHint if ThetaHint.all.contains(hint.name.toUpperCase(Locale.ROOT)) =>
      if (Settings.Enabled.in(conf)) resolved(hint) else hint.child
  }

  private def resolved(hint: UnresolvedHint): LogicalPlan = {
    val name = hint.name.toUpperCase(Locale.ROOT)
    val words = hint.parameters.flatMap(named)
    val known = if (name == ThetaHint.Use) Registry.accelerators(conf).map(_.id) else Nil
    val (ofRelations, others) = words.partition(word => relations(hint.child).exists(is(word, _)))
    val (ofAccelerators, unknown) =
      others.partition(word => word.size == 1 && known.contains(word.head))
    if (unknown.nonEmpty)
      conf.hintErrorHandler.hintRelationsNotFound(hint.name, hint.parameters, unknown.toSet)
    val block = HintNotes.on(hint.child, unused(name, hint.parameters, unknown))
    val accelerator = ofAccelerators.headOption.map(_.head)
    val forces = name == ThetaHint.Use && (ofRelations.nonEmpty || accelerator.nonEmpty)
    val info = new ThetaHint(name, accelerator, forces)
    if (ofRelations.nonEmpty) onRelations(block, ofRelations, info)
    else if (unknown.nonEmpty) block
    // A DataFrame's own hint is on the DataFrame as a side.
    else if (block.resolved) hinted(block, info)
    else onBlock(block, info)
  }

  /** Notes on hints, or parts of them, that have no effect. */
  private def unused(
      name: String,
      parameters: Seq[Any],
      unknown: Seq[Seq[String]]
  ): Seq[String] = {
    val named = if (name == ThetaHint.Use) "no relation of its block and no accelerator"
    else "no relation of its block"
    val words = unknown.map(_.mkString(".")) ++
      parameters.filter(p => name != ThetaHint.Range && this.named(p).isEmpty).map(shown)
    words.map(word => s"$word in the hint $name is not used: it names $named")
  }

  private def shown(parameter: Any): String = parameter match {
    case e: Expression => e.sql
    case other => other.toString
  }

  /** A bin's width is a number, and no name. */
  private def named(parameter: Any): Option[Seq[String]] = parameter match {
    case attribute: UnresolvedAttribute => Some(attribute.nameParts)
    case text: String => Some(UnresolvedAttribute.parseAttributeName(text))
    case Literal(value: UTF8String, _) =>
      Some(UnresolvedAttribute.parseAttributeName(value.toString))
    case _: Expression => None
    case _ => None
  }

  /** The names of a relation that stands in a block. */
  private def nameOf(plan: LogicalPlan): Option[Seq[String]] = plan match {
    case alias: SubqueryAlias => Some(alias.identifier.qualifier :+ alias.identifier.name)
    case relation: UnresolvedRelation => Some(relation.multipartIdentifier)
    case ResolvedHint(child, _) => nameOf(child)
    case _ => None
  }

  private def relations(plan: LogicalPlan): Seq[Seq[String]] =
    nameOf(plan).map(Seq(_)).getOrElse(inner(plan).flatMap(relations))

  /** Whether a word names a relation: the last parts of the relation's name are equal to it. */
  private def is(word: Seq[String], relation: Seq[String]): Boolean =
    word.size <= relation.size &&
      relation.takeRight(word.size).zip(word).forall { case (a, b) => conf.resolver(a, b) }

  private def inner(plan: LogicalPlan): Seq[LogicalPlan] = plan match {
    case _: View | _: UnresolvedWith => Nil
    case other => other.children
  }

  private def onRelations(
      plan: LogicalPlan,
      words: Seq[Seq[String]],
      info: ThetaHint
  ): LogicalPlan = nameOf(plan) match {
    case Some(name) => if (words.exists(is(_, name))) hinted(plan, info) else plan
    case None if inner(plan).isEmpty => plan
    case None => plan.mapChildren(onRelations(_, words, info))
  }

  private def onBlock(plan: LogicalPlan, info: ThetaHint): LogicalPlan = {
    def hasJoin(plan: LogicalPlan): Boolean =
      nameOf(plan).isEmpty && (plan.isInstanceOf[Join] || inner(plan).exists(hasJoin))
    def onJoins(plan: LogicalPlan): LogicalPlan =
      if (nameOf(plan).isDefined || inner(plan).isEmpty) plan
      else plan.mapChildren(onJoins) match {
        case join: Join => join.withNewChildren(Seq(hinted(join.left, info), join.right))
        case other => other
      }
    if (hasJoin(plan)) onJoins(plan) else hinted(plan, info)
  }

  private def hinted(plan: LogicalPlan, info: ThetaHint): LogicalPlan = plan match {
    case ResolvedHint(child, other) =>
      ResolvedHint(child, info.merge(other, conf.hintErrorHandler))
    case _ => ResolvedHint(plan, info)
  }
}
