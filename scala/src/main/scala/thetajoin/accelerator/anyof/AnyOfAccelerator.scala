package thetajoin.accelerator.anyof

import org.apache.spark.sql.catalyst.expressions.{And, Expression, If, Literal}

import thetajoin.condition.{ConditionAnalysis, OneSided, Safety}
import thetajoin.contract.{Accelerator, Contract, Cost, JoinRequest, Offer}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * An OR. Another accelerator serves each of its arms. Every arm has an index of its own over the same build rows. A
 * probe row's candidates are the candidates of all arms, each once:
 *
 * {{{
 *   a.t = b.t OR a.id = b.id + 5      b by t: rows 3, 7      b by id + 5: rows 2, 7      candidates 3, 7, 2
 * }}}
 *
 * Equality keys next to the OR are part of each arm.
 */
object AnyOfAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "anyof"

  override val summary: String =
    "An OR, or a CASE or coalesce that is read as one, of conditions that other accelerators " +
      "serve: an index for each arm, each candidate once."

  case object NoOr
      extends ReasonCode(
        "NO_OR",
        "No conjunct is an OR over both sides",
        "Nothing to do."
      )

  case object ArmNotServed
      extends ReasonCode(
        "ARM_NOT_SERVED",
        "No accelerator serves an arm of the OR",
        "Compare expressions of one table each in every arm, or write the arms as separate joins."
      )

  case object TooManyArms
      extends ReasonCode(
        "TOO_MANY_ARMS",
        s"An OR has more arms than $MostArms, and each would be an index",
        "Join with a table of the arms' values, or write the OR as several joins."
      )

  override def reasons: Seq[ReasonCode] = Seq(ArmNotServed, NoOr, TooManyArms)

  override def wireClasses: Seq[Class[_]] =
    Seq(classOf[AnyOfIndex], classOf[ArmIndex], classOf[Array[ArmIndex]])

  override def offer(request: JoinRequest): Either[Reason, Offer] = {
    val ors =
      request.paired.map(_.source).map(e => e -> Arms.of(e, MostArms)).filter(_._2.count > 1)
    val offers = ors.map { case (or, arms) => offer(or, arms, request) }
    offers.collect { case Right(offer) => offer }
      .sortBy(offer => (offer.exact.isEmpty, offer.cost.share))
      .headOption.toRight(offers.collectFirst { case Left(reason) => reason }.getOrElse(NoOr()))
  }

  private def offer(
      or: Expression,
      arms: Arms,
      request: JoinRequest
  ): Either[Reason, Offer] =
    if (arms.count > MostArms) Left(TooManyArms(s"${arms.count} in ${or.sql}"))
    else {
      val served = arms.first.map(arm => arm -> this.arm(arm, request))
      served.collectFirst { case (arm, None) => arm } match {
        case Some(arm) => Left(ArmNotServed(arm.sql))
        // Conditions of single sides leave as many rows of a key as Spark's hash join looks at.
        case None if request.shape.equiKeys.nonEmpty && !served.exists(_._2.exists(_.isPaired)) =>
          Left(ReasonCode.EquiKeys("the OR next to them compares nothing between the sides"))
        case None => Right(combined(or, served.flatMap(_._2), request))
      }
    }

  private def combined(or: Expression, arms: Seq[Arm], request: JoinRequest): Offer = {
    val sources = request.shape.equiKeys.map(_.source) :+ or
    Offer(
      served = sources,
      exact = if (arms.forall(_.isExact)) sources else Nil,
      buildKeys = arms.flatMap(_.build),
      probeKeys = arms.flatMap(_.probe),
      AnyOfSpec(arms.map(arm =>
        ArmSpec(arm.offer.spec, arm.build.size, arm.probe.map(_.dataType))
      )),
      cost = cost(arms)
    )
  }

  private def cost(arms: Seq[Arm]): Cost = {
    val all = arms.map(_.offer.cost).reduce(_ + _)
    all.copy(share = math.min(all.share, MostShare))
  }

  /** None if no accelerator serves it. */
  private def arm(condition: Expression, request: JoinRequest): Option[Arm] = {
    val shape = request.shape
    val parts = ConditionAnalysis.shape(shape.left, shape.right, Some(condition))
    val (oneSided, paired) =
      parts.conjuncts.partition(c => c.isInstanceOf[OneSided] || c.source.references.isEmpty)
    if (oneSided.exists(!_.isInstanceOf[OneSided])) None
    else {
      val conjuncts = shape.equiKeys ++ paired
      val offer = if (conjuncts.isEmpty) Some(EveryRow.offer) else request.ask(conjuncts)
      offer.map { found =>
        // To an index that takes nulls a null says something else. A condition of one side is then tested on
        // candidates.
        val inKeys = if (found.spec.takesNulls) Nil else oneSided.collect { case o: OneSided => o }
        val (ofBuild, ofProbe) = inKeys.partition(_.side == request.buildSide)
        val isExact = found.checked(conjuncts).isEmpty && inKeys.size == oneSided.size &&
          (found.buildKeys ++ found.probeKeys).forall(Safety.cannotFail)
        Arm(
          found,
          isPaired = paired.nonEmpty,
          isExact,
          where(ofBuild.map(_.source), found.buildKeys),
          where(ofProbe.map(_.source), found.probeKeys)
        )
      }
    }
  }

  /** The keys. The first is null for rows that don't fulfil the conditions. */
  private def where(conditions: Seq[Expression], keys: Seq[Expression]): Seq[Expression] =
    conditions.reduceOption(And(_, _)).fold(keys) { condition =>
      If(condition, keys.head, Literal(null, keys.head.dataType)) +: keys.tail
    }

  /**
   * How one arm is served.
   *
   * @param isPaired whether it compares the sides by more than the equality keys of the join
   * @param build the offer's keys, null for rows to which the arm does not apply
   * @param probe the same for the other side
   */
  private final case class Arm(
      offer: Offer,
      isPaired: Boolean,
      isExact: Boolean,
      build: Seq[Expression],
      probe: Seq[Expression]
  )

  private val MostArms = 16

  /** Less than of a join that looks at all rows: a candidate of several arms is one. */
  private val MostShare = 0.9
}
