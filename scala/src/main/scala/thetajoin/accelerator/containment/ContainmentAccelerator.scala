package thetajoin.accelerator.containment

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, Coalesce, Expression, Literal}
import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.types.StructType

import thetajoin.condition.Sides
import thetajoin.contract.{Accelerator, Contract, Cost, JoinRequest, Need, Offer}
import thetajoin.kit.EqualKeys
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Values in arrays of the other side, arrays with elements in common, and arrays that have all elements of others.
 * The build side is an inverted index: for each element the rows that have it.
 *
 * {{{
 *   array_contains(a.tags, b.tag)   b built: the rows of b by tag, looked up by each element of tags
 *                                   a built: for each element the rows of a that have it
 *   a.tags has all of b.needs       b built: each row at its rarest need, then the other needs are looked for
 *   a.tags is like b.tags           b built: each row at its rarest tags, of which one at least is in common
 *   the tags most like a.tags       b built: the rows of each tag of a, from the rarest on, until the rest is less alike
 * }}}
 *
 * With equality keys, elements are told apart by the keys too.
 */
object ContainmentAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "containment"

  override val summary: String =
    "Values in arrays or map keys of the other side, arrays that overlap or are alike, the most similar " +
      "arrays, supersets and subsets, and IN over columns: an inverted index of elements."

  case object NoSetCondition
      extends ReasonCode(
        "NO_SET_CONDITION",
        "No conjunct asks which elements an array of one side has in common with the other side. A limit of theirs " +
          "has to be a number or a column of the side that is built",
        "Nothing to do unless the join is about arrays: docs/arrays-and-ors.md lists the forms."
      )

  override def reasons: Seq[ReasonCode] = Seq(NoSetCondition)

  override def wireClasses: Seq[Class[_]] = Seq(
    classOf[TokenFinder],
    classOf[TokenForm],
    classOf[TokenSets],
    classOf[Postings],
    classOf[TokenRuns],
    classOf[AnyToken],
    classOf[AllOfProbe],
    classOf[AllOfBuild],
    classOf[RareFirst],
    classOf[AlikeSets],
    classOf[Parts],
    classOf[NearestSets],
    classOf[NearestOrder]
  ) ++ Measure.all.map(_.getClass)

  override def offer(request: JoinRequest): Either[Reason, Offer] = {
    val shape = request.shape
    val sides = new Sides(AttributeSet(shape.left), AttributeSet(shape.right))
    def ofBuild(e: Expression) =
      if (request.buildSide == BuildLeft) sides.ofLeft(e) else sides.ofRight(e)
    val conditions = request.paired.flatMap(c => SetCondition.of(c.source, sides))
      .filter(_.column.forall(ofBuild))
    val nearest = request.need match {
      case Need.Lowest(_, rank) =>
        for {
          form <- NearestForm.of(rank)
          alike <- SetCondition.ofRank(rank.child, form, sides)
          if refusal(alike).isEmpty
        } yield (alike, form)
      case _ => None
    }
    val (refused, usable) = conditions.partitionMap(c => refusal(c).toLeft(c))
    def equal = EqualKeys.of(shape, request.buildSide)
    (nearest, usable.sortBy(rank).headOption) match {
      case (Some((alike, form)), _) =>
        // A product is true of two arrays without elements, which have no rank.
        val bound = conditions.collectFirst {
          case a: Alike if a.isOfSame(alike) && a.column.isEmpty && a.form.isQuotient => a
        }
        equal.map(offer(alike, form, bound, _, request))
      case (None, Some(condition)) => equal.map(offer(condition, _, request))
      case (None, None) => Left(refused.headOption.getOrElse(NoSetCondition()))
    }
  }

  private def refusal(c: SetCondition): Option[Reason] =
    EqualKeys.refusal(c.source, c.left.elementType, c.right.elementType)

  /** Exact ones first, then the conditions that the fewest pairs fulfil. */
  private def rank(c: SetCondition): (Boolean, Int) = c match {
    case _: Alike => (false, 0)
    case _: Covers => (!c.exact, 0)
    case s: Shares if s.least > 1 => (!c.exact, 1)
    // A map's entry tells more than its key.
    case _ => (!c.exact, if (c.left.elementType.isInstanceOf[StructType]) 2 else 3)
  }

  private def offer(c: SetCondition, equal: EqualKeys, request: JoinRequest): Offer = {
    val buildIsLeft = request.buildSide == BuildLeft
    val (build, probe) = c.oriented(buildIsLeft)
    val inCommon = c match {
      case s: Shares if s.least == 1 => InCommon.One
      case s: Shares => InCommon.Alike(Measure.Count, Some(s.least.toDouble), matchEmpty = false)
      case s: Covers =>
        if (s.leftCovers == buildIsLeft) InCommon.AllOfProbe else InCommon.AllOfBuild
      case a: Alike =>
        InCommon.Alike(a.measure(buildIsLeft), a.form.constant, matchEmpty = !a.form.giveNull)
    }
    val spec = ContainmentSpec(
      inCommon,
      build.elementType,
      buildsArrays = build.isArray,
      probesArrays = probe.isArray,
      nullTokens = c.nullsAreEqual && build.mayHaveNulls && probe.mayHaveNulls
    )
    val offer = equal.ahead(Offer(
      served = Seq(c.source),
      exact = if (c.exact) Seq(c.source) else Nil,
      buildKeys = key(build) +: c.column.toSeq,
      probeKeys = Seq(key(probe)),
      spec,
      cost = Cost(if (equal.isEmpty) 0.001 else 0.0005, perProbe = 250, perBuildRow = 400)
    ))
    // An array without elements meets arrays of any row, whatever its keys.
    if (c.isInstanceOf[Shares]) offer
    else offer.copy(exact = offer.exact.filterNot(equal.sources.contains))
  }

  /** For the first k matches in an order. */
  private def offer(
      alike: Alike,
      form: NearestForm,
      bound: Option[Alike],
      equal: EqualKeys,
      request: JoinRequest
  ): Offer = {
    val buildIsLeft = request.buildSide == BuildLeft
    val (build, probe) = alike.oriented(buildIsLeft)
    // By another rounding, a part at the bound may be a little less.
    val least = bound.flatMap(_.form.constant).fold(0.0)(part => math.max(part - 1e-6, 0.0))
    // A pair without a rank may be a match, also because one of its arrays is null.
    def key(set: Elements) =
      if (form.mayBeNull) Coalesce(Seq(set.e, Literal.create(Seq.empty, set.e.dataType))) else set.e
    equal.ahead(Offer(
      served = bound.map(_.source).toSeq :+ alike.source,
      exact = Nil,
      buildKeys = Seq(key(build)),
      probeKeys = Seq(key(probe)),
      ContainmentSpec(
        InCommon.Nearest(form.order(alike.measure(buildIsLeft), least)),
        build.elementType,
        buildsArrays = true,
        probesArrays = true,
        nullTokens = build.mayHaveNulls || probe.mayHaveNulls
      ),
      cost = Cost(share = 0.0005, perProbe = 3000, perBuildRow = 600)
    ))
  }

  private def key(set: Elements) = if (set.isArray) set.e else EqualKeys.key(set.e)
}
