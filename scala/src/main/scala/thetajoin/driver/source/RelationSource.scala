package thetajoin.driver.source

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

import thetajoin.contract.{IndexSpec, JoinIndex, KeyErrors}
import thetajoin.relation.{ReceivedRelation, ThetaRelation}
import thetajoin.rowstore.FlatColumn

/** Where generated code finds the build side. */
private[thetajoin] sealed trait RelationSource {

  /** A relation like the ones of the tasks: the code is made for it. */
  def sample: ThetaRelation

  /** Whether build rows may be candidates of every key, of whatever task. */
  def mayHaveAlways: Boolean

  /** Whether a column may hold nulls, of whatever task. */
  def mayHaveNulls(ofSample: FlatColumn, attribute: Attribute): Boolean

  /** The relation as Java text, for the initial value of a field. */
  def term(ctx: CodegenContext): String

  /** The class by which code calls the index. */
  def indexClass(index: JoinIndex, contract: Class[_]): Class[_]
}

/** Tasks have their own, made of other rows than the sample. */
private[driver] sealed trait OwnRelation extends RelationSource {
  override def mayHaveNulls(ofSample: FlatColumn, attribute: Attribute): Boolean =
    attribute.nullable

  override def indexClass(index: JoinIndex, contract: Class[_]): Class[_] = contract
}

/** Where a task finds it. */
private[thetajoin] sealed trait TaskSource extends RelationSource with Serializable {

  /** For a task with the given probe rows. */
  def relation(probe: Iterator[InternalRow]): ThetaRelation
}

/** All tasks share one. */
private[thetajoin] final class BroadcastSource(broadcast: Broadcast[ThetaRelation])
    extends TaskSource {
  override def relation(probe: Iterator[InternalRow]): ThetaRelation =
    ReceivedRelation.of(broadcast)

  override def sample: ThetaRelation = broadcast.value

  override def mayHaveAlways: Boolean = sample.always > 0

  override def mayHaveNulls(ofSample: FlatColumn, attribute: Attribute): Boolean =
    ofSample.nulls != null

  override def term(ctx: CodegenContext): String =
    ReceivedRelation.term(ctx.addReferenceObj(
      "joinRelation",
      broadcast,
      classOf[Broadcast[_]].getName
    ))

  override def indexClass(index: JoinIndex, contract: Class[_]): Class[_] = index.getClass
}

/** Each task has its own, which comes with its probe rows: the stage's input is [[PartitionRows]] of this join. */
private[thetajoin] final class PartitionSource(
    override val sample: ThetaRelation,
    join: Int,
    spec: IndexSpec
) extends TaskSource
    with OwnRelation {
  override def relation(probe: Iterator[InternalRow]): ThetaRelation =
    probe.asInstanceOf[PartitionRows].relation

  override def mayHaveAlways: Boolean = spec.keyErrors == KeyErrors.Held

  override def term(ctx: CodegenContext): String = {
    // A stage may be made of several joins' code, and each partition runs the code of one: see UnionExec. The same
    // code serves the query when it is run again, as another join.
    val (id, noRows) =
      (ctx.addReferenceObj("join", Int.box(join)), ctx.addReferenceObj("noRows", sample))
    s"${classOf[PartitionSource].getName}.ofPartition(inputs[0], $id.intValue(), $noRows)"
  }
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

/** Each task puts its own in the place that the sample has among the references of the code. */
private[driver] final class ReferenceSource(override val sample: ThetaRelation)
    extends OwnRelation {
  override def mayHaveAlways: Boolean = true

  override def term(ctx: CodegenContext): String = ctx.addReferenceObj("joinRelation", sample)
}

/** The probe rows of a partition of a join, by the id of its node, and the build rows that they may match. */
class PartitionRows(val relation: ThetaRelation, val join: Int, probe: Iterator[InternalRow])
    extends Iterator[InternalRow] {
  override def hasNext: Boolean = probe.hasNext
  override def next(): InternalRow = probe.next()
}
