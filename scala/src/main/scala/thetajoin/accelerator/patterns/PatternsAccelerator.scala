package thetajoin.accelerator.patterns

import org.apache.spark.sql.catalyst.expressions.AttributeSet

import thetajoin.condition.{Safety, Sides}
import thetajoin.contract.{Accelerator, Contract, Cost, JoinRequest, Offer}
import thetajoin.kit.EqualKeys
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Texts that match patterns of a table, or have strings of it, with or without equality keys.
 *
 * {{{
 *   a.text LIKE concat('%', b.name, '%')    a.text LIKE b.pattern    contains(a.text, b.name)    a.text RLIKE b.regex
 * }}}
 *
 * For each pattern strings are known, such as the longest one between its wildcards: a text needs one of them to
 * match. If patterns are built, an automaton looks for all of them in one pass over a text. If texts are built, a
 * pattern looks up the texts that have three bytes of a string, or begin or end with it. A pattern that says more
 * than its string is tested where that is found.
 */
object PatternsAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "patterns"

  override val summary: String =
    "LIKE, RLIKE, contains, startswith, endswith, instr and the like with patterns of the " +
      "other side, with or without equality keys: one pass over a text finds all patterns whose " +
      "strings it has, or each pattern's texts are looked up."

  case object NoTextCondition
      extends ReasonCode(
        "NO_TEXT_CONDITION",
        "No conjunct looks for patterns or strings of one side in texts of the other side",
        "Nothing to do unless the join is about texts: docs/texts.md lists the forms."
      )

  override def reasons: Seq[ReasonCode] = Seq(NoTextCondition)

  override def wireClasses: Seq[Class[_]] =
    Seq(
      classOf[Patterns],
      classOf[Automaton],
      classOf[Array[Automaton]],
      classOf[Cells],
      classOf[Reading],
      classOf[Texts],
      classOf[Trigrams],
      classOf[PatternForm.OfString],
      classOf[PatternForm.OfLike],
      classOf[PatternForm.OfRegex],
      Place.Anywhere.getClass,
      Place.Start.getClass,
      Place.End.getClass,
      classOf[StringTest],
      classOf[LikeTest],
      classOf[RegexTest]
    )

  override def offer(request: JoinRequest): Either[Reason, Offer] = {
    val paired = request.paired.map(_.source)
    val sides = new Sides(AttributeSet(request.build), AttributeSet(request.probe))
    val conditions =
      paired.flatMap(LikeOrRegexCondition.of).filter(c => sides.split(c.text, c.pattern))
    val refused = conditions.flatMap(_.refusal)
    def buildsTexts(c: LikeOrRegexCondition) = sides.ofLeft(c.text)
    conditions.filter(_.refusal.isEmpty).sortBy(c => (buildsTexts(c), !c.isDecided)) match {
      case c +: _ =>
        EqualKeys.of(request.shape, request.buildSide).map(offer(c, buildsTexts(c), _, request))
      case _ => Left(refused.headOption.getOrElse(NoTextCondition()))
    }
  }

  private def offer(
      c: LikeOrRegexCondition,
      buildsTexts: Boolean,
      equal: EqualKeys,
      request: JoinRequest
  ): Offer = {
    val areSafe = !equal.canFail && Safety.cannotFail(c.text) && Safety.cannotFail(c.pattern)
    val ofKeys = if (areSafe) equal.sources else Nil
    val isExact = areSafe && c.isDecided &&
      (c.form.test.forall(_.cannotFail) || !request.isGuarded(c.source, ofKeys))
    val (build, probe) = if (buildsTexts) (c.text, c.pattern) else (c.pattern, c.text)
    equal.ahead(Offer(
      served = Seq(c.source),
      exact = if (isExact) Seq(c.source) else Nil,
      buildKeys = Seq(build),
      probeKeys = Seq(probe),
      PatternsSpec(equal.size, c.form, buildsTexts, isExact),
      cost =
        if (buildsTexts) OfTexts
        else if (equal.isEmpty) OfPatterns
        else OfPatterns.copy(share = 0.0005)
    ))
  }

  private val OfPatterns = Cost(share = 0.001, perProbe = 500, perBuildRow = 1000)

  /** Candidates are tested, which takes much longer than their share says of others. */
  private val OfTexts = Cost(share = 0.02, perProbe = 1000, perBuildRow = 3000)
}
