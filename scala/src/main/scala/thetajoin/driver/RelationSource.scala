package thetajoin.driver

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

import thetajoin.accelerator.JoinIndex
import thetajoin.rowstore.ThetaRelation

/** Where a task finds the build side. */
private[thetajoin] sealed trait RelationSource extends Serializable {

  /** For a task with the given probe rows. */
  def relation(probe: Iterator[InternalRow]): ThetaRelation

  /** One like those of the tasks: the code is made for it. */
  def sample: ThetaRelation

  /** The same as Java text, for the initial value of a field. */
  def term(ctx: CodegenContext): String

  /** The class by which code calls the index. */
  def indexClass(index: JoinIndex, contract: Class[_]): Class[_]
}

/** All tasks share one. */
private[thetajoin] final class BroadcastSource(broadcast: Broadcast[ThetaRelation])
    extends RelationSource {
  override def relation(probe: Iterator[InternalRow]): ThetaRelation = broadcast.value

  override def sample: ThetaRelation = broadcast.value

  override def term(ctx: CodegenContext): String =
    s"(${classOf[ThetaRelation].getName}) ${ctx.addReferenceObj("joinRelation", broadcast)}.value()"

  override def indexClass(index: JoinIndex, contract: Class[_]): Class[_] = index.getClass
}

/** Each task has its own, which comes with its probe rows: the stage's input is [[PartitionRows]] of this join. */
private[thetajoin] final class PartitionSource(override val sample: ThetaRelation, join: Int)
    extends RelationSource {
  override def relation(probe: Iterator[InternalRow]): ThetaRelation =
    probe.asInstanceOf[PartitionRows].relation

  override def term(ctx: CodegenContext): String =
    // A stage may be made of several joins' code, of which each partition runs one: see UnionExec.
    s"${classOf[PartitionSource].getName}.ofPartition(inputs[0], $join, ${ctx.addReferenceObj("noRows", sample)})"

  /** One partition's index may be of another class than the next one's. */
  override def indexClass(index: JoinIndex, contract: Class[_]): Class[_] = contract
}

private[thetajoin] object PartitionSource {

  /** The relation that comes with the rows of a partition of this join; `other` for rows of something else. */
  def ofPartition(
      rows: Iterator[InternalRow],
      join: Int,
      other: ThetaRelation
  ): ThetaRelation = rows match {
    case ofPartition: PartitionRows if ofPartition.join == join => ofPartition.relation
    case _ => other
  }
}

/** The probe rows of a partition of a join, by the id of its node, and the build rows that they may match. */
final class PartitionRows(val relation: ThetaRelation, val join: Int, probe: Iterator[InternalRow])
    extends Iterator[InternalRow] {
  override def hasNext: Boolean = probe.hasNext
  override def next(): InternalRow = probe.next()
}
