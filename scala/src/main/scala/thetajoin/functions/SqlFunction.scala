package thetajoin.functions

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry.FunctionBuilder
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}

/** Functions that SQL gets. */
object SqlFunction {

  type Description = (FunctionIdentifier, ExpressionInfo, FunctionBuilder)

  /** The functions that Spark itself lacks. */
  def lacking(all: Seq[Description]): Seq[Description] =
    all.filterNot { case (name, _, _) => FunctionRegistry.builtin.functionExists(name) }

  /** A function that takes as many arguments as are named. */
  def description[E](name: String, arguments: String, meaning: String)(
      make: PartialFunction[Seq[Expression], Expression]
  )(implicit of: reflect.ClassTag[E]): Description = {
    val taken = arguments.split(", ").length
    val info = new ExpressionInfo(
      of.runtimeClass.getName,
      null,
      name,
      s"_FUNC_($arguments) - $meaning",
      "",
      "",
      "",
      "misc_funcs",
      "0.1.0",
      "",
      "built-in"
    )
    def build(passed: Seq[Expression]) =
      make.applyOrElse(passed, (_: Seq[Expression]) => throw wrongNumber(name, taken, passed.size))
    (FunctionIdentifier(name), info, build)
  }

  private def wrongNumber(name: String, taken: Int, passed: Int) =
    new AnalysisException(
      "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
      Map(
        "functionName" -> s"`$name`",
        "expectedNum" -> taken.toString,
        "actualNum" -> passed.toString,
        "docroot" -> "https://spark.apache.org/docs/latest"
      )
    )
}
