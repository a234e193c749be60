package thetajoin.accelerator.vector

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._

import thetajoin.condition.Sides
import thetajoin.functions.vector.VectorFunctions

/** A value that follows from how two vectors compare: by the line from their measure, apart from rounding. */
private[vector] final case class Similarity(compared: Compared, line: Line) {

  /** Whether more of this value means nearer. */
  def isNearerIfMore: Boolean = compared.measure.isSimilarity == (line.sign > 0)

  /** The vectors of (build, probe). */
  def oriented(sides: Sides): Option[(Expression, Expression)] = {
    val Compared(_, left, right, _, _) = compared
    if (sides.ofLeft(left) && sides.ofRight(right)) Some((left, right))
    else if (sides.ofLeft(right) && sides.ofRight(left)) Some((right, left))
    else None
  }

  def negated: Similarity = copy(line = line.copy(sign = -line.sign))
  def plus(offset: Double): Similarity = copy(line = line.copy(offset = offset))
}

private[vector] object Similarity {

  /**
   * One constant may be added, which rounds once. Several constants might cancel each other and leave earlier
   * rounding.
   */
  def of(e: Expression): Option[Similarity] = e match {
    case Cast(child, DoubleType, _, _) if child.dataType == FloatType => of(child)
    case Subtract(Constant(c), child, _) => plain(child).map(_.negated.plus(c))
    case Subtract(child, Constant(c), _) => plain(child).map(_.plus(-c))
    case Add(Constant(c), child, _) => plain(child).map(_.plus(c))
    case Add(child, Constant(c), _) => plain(child).map(_.plus(c))
    case other => plain(other)
  }

  private def plain(e: Expression): Option[Similarity] = e match {
    case Function(compared) => Some(similarity(compared))
    case WrittenOut(compared) if areVectors(compared) => Some(similarity(compared))
    case Cast(child, DoubleType, _, _) if child.dataType == FloatType => plain(child)
    case UnaryMinus(child, _) => plain(child).map(_.negated)
    case _ => None
  }

  private def similarity(compared: Compared) =
    Similarity(compared, Line(sign = 1, offset = 0.0, compared.isSquared))

  private def areVectors(compared: Compared): Boolean =
    Seq(compared.left, compared.right).forall(_.dataType match {
      case ArrayType(FloatType | DoubleType, _) => true
      case _ => false
    })

  /** Spark's functions, and ours of the same names where Spark has none. */
  private object Function {
    def unapply(e: Expression): Option[Compared] = e match {
      case i: StaticInvoke if Owners.contains(i.staticObject.getName) =>
        for {
          measure <- Measure.all.find(_.function == i.functionName)
          Seq(l, r) <- Some(i.arguments.take(2))
          compared = Compared(measure, l, r, isSingle = addsSingles)
          if areVectors(compared)
        } yield compared
      case _ => None
    }
  }

  /** The classes whose methods are called. */
  private val Owners = Set(
    "org.apache.spark.sql.catalyst.expressions.VectorFunctionImplUtils",
    classOf[VectorFunctions].getName
  )

  /** Whether Spark's functions add up in 32 bits, as the functions of 4.2 do. */
  lazy val addsSingles: Boolean = {
    val vectors = Seq(Seq(1e30f, 1e30f), Seq(1e30f, -1e30f)).map { v =>
      Literal.create(new GenericArrayData(v), ArrayType(FloatType, containsNull = false))
    }
    val product = FunctionIdentifier("vector_inner_product")
    FunctionRegistry.builtin.functionExists(product) && (
      FunctionRegistry.builtin.lookupFunction(product, vectors) match {
        case r: RuntimeReplaceable => r.replacement.eval() != 0f
        case e => e.eval() != 0f
      }
    )
  }

  private object Constant {
    def unapply(e: Expression): Option[Double] = value(e).filter(math.abs(_) < MostConstant)

    private def value(e: Expression): Option[Double] = e match {
      case Literal(value: Double, DoubleType) => Some(value)
      case Literal(value: Float, FloatType) => Some(value.toDouble)
      case _ => None
    }
  }

  /** A sum with a greater one may be infinite. */
  private val MostConstant = 1e30
}
