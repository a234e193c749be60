package thetajoin.accelerator.python

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, PythonUDF, SortOrder}
import org.apache.spark.sql.catalyst.trees.TreePattern.PYTHON_UDF
import org.apache.spark.sql.execution.thetabridge.PythonEnvironment
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{SparkSession, classic}

import thetajoin.condition.FoundByIndex
import thetajoin.contract.{Accelerator, Contract, Cost, JoinRequest, Need, Offer}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Accelerators written in Python. A client registers a class that builds an index of the keys of one side, and finds
 * candidates for a batch of keys of the other. Both run in Spark's Python workers.
 *
 * {{{
 *   near_name(a.name, b.name, 0.8)         where near_name is a Python function that the class serves
 *   ORDER BY far(a.name, b.name) LIMIT 3   where it gives the rows for which far is the lowest
 * }}}
 */
object PythonAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "python"

  override val summary: String =
    "Functions of both sides that an accelerator written in Python serves: its index is built, pickled and probed " +
      "in Spark's Python workers, a batch of rows at a time."

  case object NoPythonAccelerator
      extends ReasonCode(
        "NO_PYTHON_ACCELERATOR",
        "No conjunct calls a function that a registered Python accelerator serves",
        "docs/accelerators-in-python.md says which calls are served."
      )

  case object OtherSides
      extends ReasonCode(
        "OTHER_SIDES",
        "The arguments of a function do not suit its Python accelerator: each argument reads one side or is a " +
          "constant, there are as many constants as its methods take, and the side that is built has the arguments " +
          "to index",
        "Let the other side be built, or change the accelerator."
      )

  case object FirstRowsAlone
      extends ReasonCode(
        "FIRST_ROWS_ALONE",
        "A Python accelerator gives the first k rows in its order, among which another condition of both sides would " +
          "leave fewer than k",
        "Filter one side, or give the function the columns that are compared."
      )

  override def reasons: Seq[ReasonCode] = Seq(NoPythonAccelerator, OtherSides, FirstRowsAlone)

  override def wireClasses: Seq[Class[_]] = Seq(classOf[PythonIndex], classOf[Array[Array[Byte]]])

  override def standIn(of: Expression): Option[FoundByIndex] =
    if (!of.containsPattern(PYTHON_UDF) || !of.deterministic) None
    else {
      val definitions = Definition.allIn(SQLConf.get)
      of match {
        case order: SortOrder =>
          Call.ofRank(order, definitions).map(PythonStandIn(order.child, _, isRank = true))
        case conjunct =>
          Call.of(conjunct, definitions).collect { case call @ Call(_, _: PythonUDF, _, _) =>
            PythonStandIn(conjunct, call, isRank = false)
          }
      }
    }

  override def offer(request: JoinRequest): Either[Reason, Offer] = request.need match {
    case Need.Lowest(k, order @ SortOrder(rank: PythonStandIn, _, _, _)) =>
      if (request.paired.nonEmpty)
        Left(FirstRowsAlone(request.paired.map(_.source.sql).mkString(" AND ")))
      else {
        val call = Call.ofRank(order.copy(child = rank.original), Seq(rank.definition)).get
        offer(rank, call, request, Some(k))
      }
    case _ => ofMatches(request)
  }

  private def ofMatches(request: JoinRequest): Either[Reason, Offer] = {
    val conjuncts = request.paired.map(_.source)
    val ofPython = conjuncts.collectFirst { case condition: PythonStandIn =>
      (condition, Call.of(condition.original, Seq(condition.definition)).get)
    }
    lazy val definitions = Definition.allIn(SQLConf.get)
    lazy val ofFunctions = definitions.filter(_.carrier.isDefined)
    def ofSpark = conjuncts.iterator.flatMap(c => Call.of(c, ofFunctions).map((c, _))).nextOption()
    // Who has registered none is not told of it.
    def none = if (definitions.isEmpty) ReasonCode.OtherNeed() else NoPythonAccelerator()
    ofPython.orElse(ofSpark).toRight(none).flatMap { case (conjunct, call) =>
      offer(conjunct, call, request, None)
    }
  }

  /** @param nearest how many rows are asked for, if not all */
  private def offer(
      served: Expression,
      call: Call,
      request: JoinRequest,
      nearest: Option[Int]
  ): Either[Reason, Offer] = {
    val arguments = Arguments(call, request)
    if (!arguments.areOfSides) Left(OtherSides(served.sql))
    else
      for {
        environment <- environment(call).toRight(NoPythonAccelerator(call.definition.name))
        _ <- ArrowFrames.refusal(arguments.all).toLeft(())
      } yield Offer(
        // Rows that are not equal in the keys are candidates too, which are tested on them.
        served = served +: request.shape.equiKeys.map(_.source),
        exact = Seq(served).filter(_.isInstanceOf[PythonStandIn]),
        buildKeys = arguments.build.map(_._1),
        probeKeys = arguments.probe.map(_._1),
        PythonSpec(PythonProgram(
          call.definition,
          environment,
          arguments.build.map(_._2),
          arguments.probe.map(_._2),
          arguments.probe.map(_._1.dataType),
          ArrowFrames.ofConstants(arguments.constants),
          nearest,
          ArrowForm.of(SQLConf.get)
        )),
        LookUp,
        isRanked = nearest.isDefined
      )
  }

  private def environment(call: Call): Option[PythonEnvironment] = {
    def carrier = for {
      name <- call.definition.carrier
      session <- SparkSession.getActiveSession.collect { case s: classic.SparkSession => s }
    } yield session.sessionState.catalog.lookupFunction(FunctionIdentifier(name), Nil)
    Seq(call.function).concat(carrier).collectFirst { case function: PythonUDF =>
      PythonEnvironment.of(function)
    }
  }

  private val LookUp = Cost(share = 0.001, perProbe = 2000, perBuildRow = 2000)
}
