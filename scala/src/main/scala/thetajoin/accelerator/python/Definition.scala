package thetajoin.accelerator.python

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.NumericType

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import thetajoin.Settings
import thetajoin.condition.Safety

/**
 * An accelerator that a Python client has registered in the session.
 *
 * @param name of its class
 * @param function the name of the function that it serves
 * @param arguments the names of the function's arguments
 * @param build the places of the arguments that it can index; none if either side will do
 * @param constants how many constants it takes, at least and at most
 * @param carrier the name of a Python function that is registered for its environment, if the served function is none
 *   of Python
 * @param compared the operator between the function and a constant, if the function is no condition by itself
 * @param takesNulls whether an argument may be null in a match
 * @param command the pickled functions that run in a Python worker, in Base64
 */
private[python] final case class Definition(
    name: String,
    function: String,
    arguments: Seq[String],
    build: Seq[Int],
    constants: (Int, Int),
    carrier: Option[String],
    compared: Option[String],
    takesNulls: Boolean,
    command: String
)

private[python] object Definition {

  private val mapper = new ObjectMapper

  def allIn(conf: SQLConf): Seq[Definition] =
    conf.getAllConfs.toSeq.collect {
      case (key, value) if key.startsWith(Settings.Registered) => read(value)
    }
      .sortBy(_.function)

  private def read(text: String): Definition = {
    val json = mapper.readTree(text)
    def list(field: String): Seq[JsonNode] = json.get(field).elements.asScala.toSeq
    def optional(field: String): Option[String] =
      Option(json.get(field)).filterNot(_.isNull).map(_.asText)
    Definition(
      json.get("name").asText,
      json.get("function").asText,
      list("arguments").map(_.asText),
      list("build").map(_.asInt),
      (json.get("constants").get(0).asInt, json.get("constants").get(1).asInt),
      optional("carrier"),
      optional("compared"),
      json.get("takes_nulls").asBoolean,
      json.get("command").asText
    )
  }
}

/**
 * A conjunct that calls a function which an accelerator serves.
 *
 * @param bound the constant that the function is compared with, if it is
 */
private[python] final case class Call(
    definition: Definition,
    function: Expression,
    bound: Option[Expression]
)

private[python] object Call {
  def of(conjunct: Expression, definitions: Seq[Definition]): Option[Call] =
    definitions.iterator.flatMap(in(conjunct, _)).nextOption()

  private def in(conjunct: Expression, definition: Definition): Option[Call] = {
    def isCall(e: Expression) = name(e).equalsIgnoreCase(definition.function) &&
      e.children.size == definition.arguments.size &&
      !e.children.exists(_.isInstanceOf[NamedArgumentExpression])
    // Spark tests its own functions once more.
    def isServed(function: Expression, operator: String) = definition.compared.exists(served =>
      operator == served || !function.isInstanceOf[PythonUDF] && s"$operator=" == served
    )
    conjunct match {
      case call if definition.compared.isEmpty =>
        if (isCall(call)) Some(Call(definition, call, None)) else None
      case comparison: BinaryComparison =>
        val (l, r) = (widened(comparison.left), widened(comparison.right))
        val symbol = comparison.symbol
        if (isCall(l) && r.foldable && isServed(l, symbol)) Some(Call(definition, l, Some(r)))
        else if (isCall(r) && l.foldable && Flipped.get(symbol).exists(isServed(r, _)))
          Some(Call(definition, r, Some(l)))
        else None
      case _ => None
    }
  }

  /** The number that was cast to a wider type. */
  private def widened(e: Expression): Expression = e match {
    case cast: Cast
        if cast.dataType.isInstanceOf[NumericType] && !cast.foldable &&
          Safety.widens(cast.child.dataType, cast.dataType) => cast.child
    case other => other
  }

  private def name(e: Expression): String = e match {
    case udf: PythonUDF => udf.name
    case other => other.prettyName
  }

  private val Flipped = Map("<" -> ">", "<=" -> ">=", ">" -> "<", ">=" -> "<=", "=" -> "=")
}
