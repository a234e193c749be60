package thetajoin.exec

import scala.annotation.unused
import scala.collection.mutable

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan}

import thetajoin.contract.Batches
import thetajoin.driver.code.{JoinCode, RowConsumer}
import thetajoin.driver.probe.InterpretedJoin
import thetajoin.driver.source.{RelationSource, TaskSource}
import thetajoin.driver.{JoinMetrics, JoinTask}
import thetajoin.relation.ThetaRelation

/** A node right above a join that takes its rows within the join's loops. */
private[thetajoin] trait ConsumesJoin {
  def consumer(consume: Seq[ExprCode] => String): RowConsumer
}

/** How the driver is put into a generated stage, or run without one. */
trait JoinLoops extends CodegenSupport {
  protected def task: JoinTask

  override lazy val metrics: Map[String, SQLMetric] = JoinMetrics.create(sparkContext)

  protected def interpreted(rows: RDD[InternalRow], source: TaskSource): RDD[InternalRow] = {
    val (joinTask, joinMetrics) = (task, metrics)
    val together = batches(source.sample).fold(0)(_.rows)
    rows.mapPartitionsWithIndex { (partition, probe) =>
      val relation = source.relation(probe)
      new InterpretedJoin(joinTask.on(relation), relation, joinMetrics, partition, together)
        .run(probe)
    }
  }

  /** A loop over the rows of the stage's first input. */
  protected def produceOwnLoop(ctx: CodegenContext, source: RelationSource): String = {
    val input = ctx.addMutableState(
      "scala.collection.Iterator",
      "input",
      v => s"$v = inputs[0];",
      forceInline = true
    )
    val stop = if (parent.needStopCheck) Some("shouldStop()") else None
    joinCode(ctx, source).ownLoop(input, consumer(ctx), stop, goesOn)
  }

  @transient private lazy val fused = mutable.ArrayBuffer.empty[JoinCode]

  /**
   * The loop of the probe side, which calls [[consumeFused]], and the code after it. The probe side may call it for
   * each of several loops, as a union does, or not at all.
   */
  protected def produceFused(ctx: CodegenContext, probe: SparkPlan): String = {
    fused.clear()
    val loop = probe.asInstanceOf[CodegenSupport].produce(ctx, this)
    val text =
      (fused.map(_.beforeFused) ++ Seq(loop) ++ fused.map(_.afterFused)).mkString("\n")
    fused.clear()
    text
  }

  /**
   * Within the loop of the probe side.
   *
   * @param stops whether that loop may be left after each row of the join
   */
  protected def consumeFused(
      ctx: CodegenContext,
      source: RelationSource,
      input: Seq[ExprCode],
      stops: Boolean
  ): String = {
    val code = joinCode(ctx, source)
    fused += code
    if (stops && parent.needStopCheck)
      code.fusedWithStops(input, consumer(ctx), "shouldStop()", goesOn)
    else code.fused(input, consumer(ctx))
  }

  private def goesOn: String = parent.limitNotReachedChecks.map(_ + " && ").mkString

  /** If probe rows of this stage are sorted in batches: by how many of the last keys. */
  protected def batches(@unused relation: ThetaRelation): Option[Batches] = None

  private def joinCode(ctx: CodegenContext, source: RelationSource): JoinCode =
    new JoinCode(
      ctx,
      task.on(source.sample),
      source,
      batches(source.sample),
      metricTerm(ctx, _)
    )

  private def consumer(ctx: CodegenContext): RowConsumer = parent match {
    case aggregate: ConsumesJoin => aggregate.consumer(consume(ctx, _))
    case _ =>
      new RowConsumer {
        override def emit(row: Seq[ExprCode]): String = consume(ctx, row)
      }
  }
}
