package thetajoin.accelerator.similar

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, Expression, Levenshtein}

import thetajoin.condition.{Safety, Sides}
import thetajoin.contract.{Accelerator, Contract, Cost, JoinRequest, Need, Offer}
import thetajoin.kit.EqualKeys
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Texts that are few edits apart: names with typing errors.
 *
 * {{{
 *   levenshtein(a.name, b.name) <= 2
 *   levenshtein(a.name, b.name) / greatest(length(a.name), length(b.name)) <= 0.2
 *   NEAREST 3 BY DISTANCE levenshtein(a.name, b.name)
 * }}}
 *
 * The limit is a number, a column of the side that is built, or a part of the length.
 */
object SimilarAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "similar"

  override val summary: String =
    "Texts that are few edits apart, by levenshtein, or the nearest first: the pieces of texts are " +
      "hashed, and texts with a piece in common are compared."

  case object NoEditDistance
      extends ReasonCode(
        "NO_EDIT_DISTANCE",
        "No conjunct limits the Levenshtein distance of a text of one side and a text of the other by a number, by a " +
          "part of the length below 1, or by a column of the side that is built, and no order ranks by one",
        "Nothing to do unless the join is about similar texts: docs/texts.md lists the forms."
      )

  override def reasons: Seq[ReasonCode] = Seq(NoEditDistance)

  override def wireClasses: Seq[Class[_]] = Seq(
    classOf[EditIndex],
    classOf[TextRows],
    classOf[NearestTexts],
    classOf[Array[EditIndex]],
    classOf[TextClasses],
    classOf[Pieces],
    classOf[MostEdits.Constant],
    MostEdits.OfRow.getClass,
    classOf[MostEdits.OfLength]
  )

  override def offer(request: JoinRequest): Either[Reason, Offer] = {
    val sides = new Sides(AttributeSet(request.shape.left), AttributeSet(request.shape.right))
    limited(request, sides).orElse(nearest(request, sides)).toRight(NoEditDistance()).flatMap {
      offer => EqualKeys.of(request.shape, request.buildSide).map(e => e.ahead(offer(e.size)))
    }
  }

  /** By the number of columns that must be equal. */
  private def limited(request: JoinRequest, sides: Sides): Option[Int => Offer] = {
    val ofBuild = this.ofBuild(request)
    request.paired.flatMap(c => EditCondition.of(c.source, sides)).filter(_.column.forall(ofBuild))
      .sortBy(!_.exact).headOption.map { c =>
        val (build, probe) = if (ofBuild(c.left)) (c.left, c.right) else (c.right, c.left)
        (keys: Int) =>
          Offer(
            served = Seq(c.source),
            exact = if (c.exact) Seq(c.source) else Nil,
            buildKeys = build +: c.column.toSeq,
            probeKeys = Seq(probe),
            EditSpec(keys, c.most),
            cost = Cost(if (keys == 0) 0.0002 else 0.0001, perProbe = 1000, perBuildRow = 1000)
          )
      }
  }

  private def nearest(request: JoinRequest, sides: Sides): Option[Int => Offer] =
    request.need match {
      case Need.Lowest(_, rank) if rank.isAscending =>
        rank.child match {
          case l: Levenshtein
              if l.threshold.isEmpty && sides.split(l.left, l.right) &&
                Seq(l.left, l.right).forall(Safety.cannotFail) =>
            val (build, probe) =
              if (ofBuild(request)(l.left)) (l.left, l.right) else (l.right, l.left)
            Some((keys: Int) =>
              Offer(
                served = Seq(l),
                exact = Nil,
                buildKeys = Seq(build),
                probeKeys = Seq(probe),
                NearestTextsSpec(keys),
                cost = Cost(share = 0.0005, perProbe = 20000, perBuildRow = 3000, perPair = 1)
              )
            )
          case _ => None
        }
      case _ => None
    }

  private def ofBuild(request: JoinRequest): Expression => Boolean =
    _.references.subsetOf(AttributeSet(request.build))
}
