package thetajoin.accelerator.python

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, Expression}

import thetajoin.condition.Sides
import thetajoin.contract.JoinRequest

/**
 * The arguments of a call by the side that they read, with their names.
 *
 * @param constants the arguments that read none, then what the function is compared with
 * @param areOfSides whether each reads one side or none, and the index can be made of the build side's
 */
private[python] final case class Arguments(
    build: Seq[(Expression, String)],
    probe: Seq[(Expression, String)],
    constants: Seq[Expression],
    areOfSides: Boolean
) {
  def all: Seq[Expression] = (build ++ probe).map(_._1) ++ constants
}

private[python] object Arguments {
  def apply(call: Call, request: JoinRequest): Arguments = {
    val sides = new Sides(AttributeSet(request.build), AttributeSet(request.probe))
    val places = call.function.children.zipWithIndex
    val (build, rest) = places.partition { case (e, _) => sides.ofLeft(e) }
    val (probe, constants) = rest.partition { case (e, _) => sides.ofRight(e) }
    val indexed = call.definition.build
    val (least, most) = call.takes
    def isIndexed(argument: (Expression, Int)) = indexed.contains(argument._2)
    def named(arguments: Seq[(Expression, Int)]) =
      arguments.map { case (e, place) => (e, call.definition.arguments(place)) }
    val values = constants.map(_._1) ++ call.bound
    Arguments(
      named(build),
      named(probe),
      values,
      build.nonEmpty && probe.nonEmpty && values.forall(_.foldable) &&
        values.size >= least && values.size <= most &&
        (indexed.isEmpty || build.forall(isIndexed) && !probe.exists(isIndexed))
    )
  }
}
