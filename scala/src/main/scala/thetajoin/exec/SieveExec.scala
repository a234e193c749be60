package thetajoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodegenContext,
  ExprCode,
  GenerateUnsafeProjection
}
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BindReferences,
  Expression,
  UnsafeProjection
}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.contract.{IndexSpec, SeenKeys}

/**
 * Drops rows that an index does not need in addition to the rows that the task has seen, and rows with a null key,
 * before they are collected or shuffled.
 *
 * @param keys by the names of the child's columns, or bound to its output
 */
final case class SieveExec(spec: IndexSpec, keys: Seq[Expression], child: SparkPlan)
    extends RowsInPlace
    with CodegenSupport {
  override def nodeName: String = "Sieve"
  override protected def stringArgs: Iterator[Any] = Iterator(keys)
  override def output: Seq[Attribute] = child.output

  override lazy val metrics: Map[String, SQLMetric] = Map(
    SieveExec.OutputRows -> SQLMetrics.createMetric(sparkContext, "number of output rows")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val (index, expressions, rows) = (spec, boundKeys, longMetric(SieveExec.OutputRows))
    child.execute().mapPartitions { input =>
      val project = UnsafeProjection.create(expressions)
      val seen = index.newSeenKeys(expressions.map(_.dataType))
      input.filter { row =>
        val key = project(row)
        val isNew = !key.anyNull && seen.isNew(key)
        if (isNew) rows += 1
        isNew
      }
    }
  }

  private def boundKeys: Seq[Expression] = BindReferences.bindReferences(keys, child.output)

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  override protected def doProduce(ctx: CodegenContext): String =
    child.asInstanceOf[CodegenSupport].produce(ctx, this)

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val types =
      ctx.addReferenceObj("keyTypes", keys.map(_.dataType), classOf[Seq[DataType]].getName)
    val index = ctx.addReferenceObj("indexSpec", spec, classOf[IndexSpec].getName)
    val seen = ctx.addMutableState(
      classOf[SeenKeys].getName,
      "seenKeys",
      v => s"$v = $index.newSeenKeys($types);",
      forceInline = true
    )
    val evaluated = evaluateRequiredVariables(child.output, input, child.outputSet)
    ctx.currentVars = input
    ctx.INPUT_ROW = null
    val (code, isNull, value) = boundKeys match {
      case Seq(key) if key.dataType == LongType =>
        val k = key.genCode(ctx)
        (k.code, k.isNull.toString, k.value.toString)
      case _ =>
        val k = GenerateUnsafeProjection.createCode(ctx, boundKeys)
        (k.code, s"${k.value}.anyNull()", k.value.toString)
    }
    s"""
       |$evaluated
       |$code
       |if (!$isNull && $seen.isNew($value)) {
       |  ${metricTerm(ctx, SieveExec.OutputRows)}.add(1);
       |  ${consume(ctx, input)}
       |}""".stripMargin
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SieveExec =
    copy(child = newChild)
}

object SieveExec {
  private val OutputRows = "numOutputRows"
}
