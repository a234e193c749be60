package thetajoin.accelerator.patterns

import org.apache.spark.sql.catalyst.expressions.AttributeSet

import thetajoin.condition.{Safety, Sides}
import thetajoin.contract.{Accelerator, Cost, JoinRequest, Offer}
import thetajoin.kit.EqualKeys
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Texts that match patterns of a table, or have strings of it, perhaps beside equal keys.
 *
 * {{{
 *   a.text LIKE concat('%', b.name, '%')    a.text LIKE b.pattern    contains(a.text, b.name)    a.text RLIKE b.regex
 * }}}
 *
 * For each pattern the strings are known of which a text has to have one to match, such as the longest one between its wildcards. All of
 * them are looked for in one pass over a text by an automaton. A pattern that says more than its string is tested where that is found.
 */
object PatternsAccelerator extends Accelerator {
  override val id: String = "patterns"

  override val summary: String =
    "LIKE, RLIKE, contains, startswith, endswith, instr and the like with patterns of the other side, perhaps beside equal keys: one pass over a text " +
      "finds all patterns whose strings it has."

  case object NoTextCondition
      extends ReasonCode(
        "NO_TEXT_CONDITION",
        "No conjunct looks for patterns or strings of one side in texts of the other side",
        "Nothing to do unless the join is about texts: docs/texts.md lists the forms that are understood."
      )

  case object TextsBuilt
      extends ReasonCode(
        "TEXTS_BUILT",
        "The side that would be indexed has the texts; patterns are indexed, not texts",
        "Nothing to do: the other side is asked for as well."
      )

  override def reasons: Seq[ReasonCode] = Seq(NoTextCondition, TextsBuilt)

  override def wireClasses: Seq[Class[_]] =
    Seq(
      classOf[Patterns],
      classOf[Automaton],
      classOf[Array[Automaton]],
      classOf[Cells],
      classOf[StringTest],
      classOf[LikeTest],
      classOf[RegexTest]
    )

  override def offer(request: JoinRequest): Either[Reason, Offer] = {
    val paired = request.paired.map(_.source)
    val sides = new Sides(AttributeSet(request.build), AttributeSet(request.probe))
    val conditions =
      paired.flatMap(TextCondition.of).filter(c => sides.split(c.text, c.pattern))
    val (ofPatterns, ofTexts) = conditions.partition(c => sides.ofLeft(c.pattern))
    val refused = ofPatterns.flatMap(_.refusal)
    ofPatterns.filter(_.refusal.isEmpty).sortBy(!_.isDecided).headOption match {
      case Some(c) => EqualKeys.of(request.shape, request.buildSide).map(offer(c, _, request))
      case None if refused.nonEmpty => Left(refused.head)
      case None if ofTexts.nonEmpty => Left(TextsBuilt())
      case None => Left(NoTextCondition())
    }
  }

  private def offer(c: TextCondition, equal: EqualKeys, request: JoinRequest): Offer = {
    val areSafe = !equal.canFail && Safety.cannotFail(c.text) && Safety.cannotFail(c.pattern)
    val ofKeys = if (areSafe) equal.sources else Nil
    val isExact = areSafe && c.isDecided &&
      (c.form.test.cannotFail || !request.isGuarded(c.source, ofKeys))
    val (pattern, text) = c.keys
    Offer(
      served = equal.sources :+ c.source,
      exact = if (isExact) ofKeys :+ c.source else ofKeys,
      buildKeys = equal.build :+ pattern,
      probeKeys = equal.probe :+ text,
      PatternsSpec(equal.build.size, c.form, isExact),
      cost = if (equal.sources.isEmpty) Alone else Keyed
    )
  }

  private val Alone = Cost(share = 0.001, perProbe = 500, perBuildRow = 1000)
  private val Keyed = Alone.copy(share = 0.0005)
}
