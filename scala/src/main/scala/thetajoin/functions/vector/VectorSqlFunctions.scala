package thetajoin.functions.vector

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, Literal}
import org.apache.spark.sql.types._

import thetajoin.functions.SqlFunction.{Description, description}

/** The functions of vectors that SQL gets, as Spark has them since 4.2. */
object VectorSqlFunctions {

  def descriptions: Seq[Description] = Seq(
    function(
      "vector_cosine_similarity",
      "vectorCosineSimilarity",
      "The cosine of the angle between two vectors. NULL if one of them has no length."
    ),
    function(
      "vector_inner_product",
      "vectorInnerProduct",
      "The sum of the products of the coordinates of two vectors."
    ),
    function("vector_l2_distance", "vectorL2Distance", "The distance of two vectors in space.")
  )

  private val vector = ArrayType(FloatType)

  private def function(name: String, method: String, meaning: String): Description =
    description[StaticInvoke](name, "array1, array2", meaning) { case arguments @ Seq(_, _) =>
      val vectors = arguments.zipWithIndex.map { case (e, i) => vectorOf(name, arguments, e, i) }
      StaticInvoke(
        classOf[VectorFunctions],
        FloatType,
        method,
        vectors :+ Literal(name),
        inputTypes = Seq(vector, vector, StringType)
      )
    }

  private def vectorOf(
      function: String,
      arguments: Seq[Expression],
      e: Expression,
      place: Int
  ): Expression = e.dataType match {
    case ArrayType(FloatType, _) => e
    case NullType => Cast(e, vector)
    case other =>
      throw new AnalysisException(
        "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
        Map(
          "sqlExpr" -> s"\"$function(${arguments.map(_.sql).mkString(", ")})\"",
          "paramIndex" -> (if (place == 0) "first" else "second"),
          "requiredType" -> s"\"${vector.sql}\"",
          "inputSql" -> s"\"${e.sql}\"",
          "inputType" -> s"\"${other.sql}\""
        )
      )
  }
}
