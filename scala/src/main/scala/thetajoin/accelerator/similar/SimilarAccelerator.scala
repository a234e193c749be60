package thetajoin.accelerator.similar

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, Expression}
import org.apache.spark.sql.catalyst.optimizer.BuildLeft

import thetajoin.condition.Sides
import thetajoin.contract.{Accelerator, Cost, JoinRequest, Offer}
import thetajoin.kit.EqualKeys
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Texts that are few edits apart: names with typing errors.
 *
 * {{{
 *   levenshtein(a.name, b.name) <= 2
 *   levenshtein(a.name, b.name) / greatest(length(a.name), length(b.name)) <= 0.2
 * }}}
 *
 * The limit is a number, a column of the side that is built, or a part of the length.
 */
object SimilarAccelerator extends Accelerator {
  override val id: String = "similar"

  override val summary: String =
    "Texts that are few edits apart, by levenshtein: the pieces of texts are hashed, and texts with " +
      "a piece in common are compared."

  case object NoEditDistance
      extends ReasonCode(
        "NO_EDIT_DISTANCE",
        "No conjunct limits the Levenshtein distance of a text of one side and a text of the other by a number, by a " +
          "part of the length below 1, or by a column of the side that is built",
        "Nothing to do unless the join is about similar texts: docs/texts.md lists the forms."
      )

  override def reasons: Seq[ReasonCode] = Seq(NoEditDistance)

  override def wireClasses: Seq[Class[_]] = Seq(
    classOf[EditIndex],
    classOf[TextClasses],
    classOf[Pieces],
    classOf[MostEdits.Constant],
    MostEdits.OfRow.getClass,
    classOf[MostEdits.OfLength]
  )

  override def offer(request: JoinRequest): Either[Reason, Offer] = {
    val sides = new Sides(AttributeSet(request.shape.left), AttributeSet(request.shape.right))
    val buildIsLeft = request.buildSide == BuildLeft
    def ofBuild(e: Expression) = if (buildIsLeft) sides.ofLeft(e) else sides.ofRight(e)
    val usable = request.paired.flatMap(c => EditCondition.of(c.source, sides))
      .filter(_.column.forall(ofBuild)).sortBy(!_.exact)
    usable.headOption.toRight(NoEditDistance()).flatMap { c =>
      val (build, probe) = if (ofBuild(c.left)) (c.left, c.right) else (c.right, c.left)
      EqualKeys.of(request.shape, request.buildSide).map(equal =>
        equal.ahead(Offer(
          served = Seq(c.source),
          exact = if (c.exact) Seq(c.source) else Nil,
          buildKeys = build +: c.column.toSeq,
          probeKeys = Seq(probe),
          EditSpec(equal.size, c.most),
          cost = Cost(if (equal.isEmpty) 0.0002 else 0.0001, perProbe = 1000, perBuildRow = 1000)
        ))
      )
    }
  }
}
