package thetajoin.driver

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

import thetajoin.accelerator.{BytesProber, LongMembership}
import thetajoin.rowstore.ThetaRelation

/** The fields of a generated class for the build side: the relation, the candidates of a probe row, the columns. */
private[driver] final class RelationCode(
    ctx: CodegenContext,
    task: JoinTask,
    broadcast: Broadcast[ThetaRelation]
) {
  private val relationClass = classOf[ThetaRelation].getName
  private val candidatesClass = classOf[Candidates].getName

  private val relation = {
    val term = ctx.addReferenceObj("joinRelation", broadcast)
    ctx.addMutableState(
      relationClass,
      "relation",
      v => s"$v = ($relationClass) $term.value();",
      forceInline = true
    )
  }

  /** A [[Candidates]]. */
  val candidates: String = ctx.addMutableState(
    candidatesClass,
    "candidates",
    v => s"$v = new $candidatesClass($relation);",
    forceInline = true
  )

  /** The index, if it knows by one call whether a key has a candidate, and nothing else is one. */
  lazy val membership: Option[String] = broadcast.value.index match {
    case index: LongMembership if broadcast.value.always == 0 =>
      val indexClass = index.getClass.getName
      Some(ctx.addMutableState(
        indexClass,
        "index",
        v => s"$v = ($indexClass) $relation.index();",
        forceInline = true
      ))
    case _ => None
  }

  /** Whether the index takes a string or binary where it lies. */
  lazy val takesBytes: Boolean = broadcast.value.index.newProber().isInstanceOf[BytesProber]

  def newColumns(): BuildColumns =
    new BuildColumns(ctx, broadcast.value.store, task.stored, relation)
}
