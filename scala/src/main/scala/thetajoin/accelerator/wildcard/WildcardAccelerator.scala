package thetajoin.accelerator.wildcard

import org.apache.spark.sql.catalyst.expressions.{
  AttributeSet,
  Coalesce,
  EqualTo,
  Expression,
  Literal,
  Or
}
import org.apache.spark.sql.catalyst.optimizer.BuildLeft

import thetajoin.condition.{PackedLong, Safety, Sides}
import thetajoin.contract.{Accelerator, Contract, Cost, JoinRequest, Offer}
import thetajoin.kit.EqualKeys
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Rules, as in price lists and routing tables: each names values for some columns, and has wildcards for the others.
 *
 * {{{
 *   (b.x IS NULL OR a.x = b.x) AND (b.y = '*' OR a.y = b.y)      b built
 * }}}
 *
 * Build rows are grouped by their wildcard columns and by the values of the others. A probe row is looked up once for
 * each set of wildcard columns that there is. Equality keys are columns without wildcards.
 */
object WildcardAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "wildcard"

  override val summary: String =
    "Rules with wildcards, (b.x IS NULL OR a.x = b.x) AND ..: the rules are grouped by their " +
      "wildcard columns, a probe is one look-up for each group."

  case object NoOpenColumn
      extends ReasonCode(
        "NO_OPEN_COLUMN",
        "No conjunct is an OR of an equality and a wildcard of the build side, such as " +
          "(b.x IS NULL OR a.x = b.x)",
        "Nothing to do unless a side is a table of rules with wildcards. A BROADCAST hint on " +
          "that side has it built."
      )

  override def reasons: Seq[ReasonCode] = Seq(NoOpenColumn)

  override def wireClasses: Seq[Class[_]] = Seq(classOf[WildcardIndex], classOf[ComparedSets])

  override def offer(request: JoinRequest): Either[Reason, Offer] = {
    val sides = new Sides(AttributeSet(request.shape.left), AttributeSet(request.shape.right))
    val columns = request.paired.flatMap(c => OpenColumn.of(c.source, sides, request))
    val refused = columns.map(c => EqualKeys.refusal(c.source, c.build, c.probe))
    columns.zip(refused).collect { case (c, None) => c } match {
      case Nil => Left(refused.flatten.headOption.getOrElse(NoOpenColumn()))
      case usable => EqualKeys.of(request.shape, request.buildSide).flatMap(offer(usable, _))
    }
  }

  private def offer(usable: Seq[OpenColumn], equal: EqualKeys): Either[Reason, Offer] =
    usable.take(WildcardSpec.MostColumns - equal.size) match {
      case Nil => Left(NoOpenColumn())
      case open => Right(offerOf(open, equal))
    }

  private def offerOf(open: Seq[OpenColumn], equal: EqualKeys): Offer = {
    val served = open.map(_.source) ++ equal.sources
    val isOpen = open.map(c => Coalesce(Seq(c.isOpen, Literal.FalseLiteral)))
    Offer(
      served,
      exact = served,
      buildKeys = open.map(c => EqualKeys.key(c.build)) ++ equal.build ++ PackedLong.of(isOpen),
      probeKeys = open.map(c => EqualKeys.key(c.probe)) ++ equal.probe,
      WildcardSpec(open.size),
      cost = Cost(if (equal.isEmpty) 0.03 else 0.015, perProbe = 250, perBuildRow = 400)
    )
  }
}

/** A conjunct that asks a column to be equal, unless a condition of the build side holds. */
private final case class OpenColumn(
    source: Expression,
    build: Expression,
    probe: Expression,
    isOpen: Expression
)

private object OpenColumn {
  def of(conjunct: Expression, sides: Sides, request: JoinRequest): Option[OpenColumn] = {
    val isLeftBuilt = request.buildSide == BuildLeft
    def ofBuild(e: Expression) = if (isLeftBuilt) sides.ofLeft(e) else sides.ofRight(e)
    def column(isOpen: Expression, l: Expression, r: Expression) =
      if (!ofBuild(isOpen) || !Safety.cannotFail(isOpen) || !sides.split(l, r)) None
      else if (ofBuild(l)) Some(OpenColumn(conjunct, l, r, isOpen))
      else Some(OpenColumn(conjunct, r, l, isOpen))
    conjunct match {
      case Or(isOpen, EqualTo(l, r)) if sides.split(l, r) => column(isOpen, l, r)
      case Or(EqualTo(l, r), isOpen) => column(isOpen, l, r)
      case _ => None
    }
  }
}
