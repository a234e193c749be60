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
 * @param probe if it finds all matches of a row: how many constants it takes then, at least and at most
 * @param nearest if it finds the rows that come first in this order: the same
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
    probe: Option[(Int, Int)],
    nearest: Option[(SortDirection, (Int, Int))],
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
    def field(name: String): Option[JsonNode] = Option(json.get(name)).filterNot(_.isNull)
    def range(node: JsonNode): (Int, Int) = (node.get(0).asInt, node.get(1).asInt)
    Definition(
      json.get("name").asText,
      json.get("function").asText,
      list("arguments").map(_.asText),
      list("build").map(_.asInt),
      field("probe").map(range),
      field("nearest").map { node =>
        (if (node.get("first").asText == "highest") Descending else Ascending) -> range(
          node.get("constants")
        )
      },
      field("carrier").map(_.asText),
      field("compared").map(_.asText),
      json.get("takes_nulls").asBoolean,
      json.get("command").asText
    )
  }
}

/**
 * A conjunct or an order that calls a function which an accelerator serves.
 *
 * @param bound the constant that the function is compared with, if it is
 * @param takes how many constants the accelerator takes, at least and at most
 */
private[python] final case class Call(
    definition: Definition,
    function: Expression,
    bound: Option[Expression],
    takes: (Int, Int)
)

private[python] object Call {
  def of(conjunct: Expression, definitions: Seq[Definition]): Option[Call] =
    definitions.iterator.flatMap(d => d.probe.flatMap(in(conjunct, d, _))).nextOption()

  /** A Python function by which matches are ordered. */
  def ofRank(order: SortOrder, definitions: Seq[Definition]): Option[Call] = order.child match {
    case function: PythonUDF =>
      definitions.filter(isCall(function, _)).flatMap(d => d.nearest.map((d, _))).collectFirst {
        case (definition, (order.direction, takes)) => Call(definition, function, None, takes)
      }
    case _ => None
  }

  private def isCall(e: Expression, definition: Definition): Boolean =
    name(e).equalsIgnoreCase(definition.function) &&
      e.children.size == definition.arguments.size &&
      !e.children.exists(_.isInstanceOf[NamedArgumentExpression])

  private def in(conjunct: Expression, definition: Definition, takes: (Int, Int)): Option[Call] = {
    def isCall(e: Expression) = this.isCall(e, definition)
    // Spark tests its own functions once more.
    def isServed(function: Expression, operator: String) = definition.compared.exists(served =>
      operator == served || !function.isInstanceOf[PythonUDF] && s"$operator=" == served
    )
    conjunct match {
      case call if definition.compared.isEmpty =>
        if (isCall(call)) Some(Call(definition, call, None, takes)) else None
      case comparison: BinaryComparison =>
        val (l, r) = (widened(comparison.left), widened(comparison.right))
        val symbol = comparison.symbol
        if (isCall(l) && r.foldable && isServed(l, symbol))
          Some(Call(definition, l, Some(r), takes))
        else if (isCall(r) && l.foldable && Flipped.get(symbol).exists(isServed(r, _)))
          Some(Call(definition, r, Some(l), takes))
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
