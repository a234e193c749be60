package thetajoin.accelerator.vector

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._

import thetajoin.condition.Sides
import thetajoin.vector.VectorFunctions

/** How two vectors are compared. */
private[vector] sealed abstract class Measure(val function: String) extends Serializable {

  /** Whether more means nearer. */
  def isSimilarity: Boolean = this != Measure.Distance
}

private[vector] object Measure {
  case object Cosine extends Measure("vectorCosineSimilarity")
  case object Product extends Measure("vectorInnerProduct")
  case object Distance extends Measure("vectorL2Distance")

  val all: Seq[Measure] = Seq(Cosine, Product, Distance)
}

/**
 * A value that follows from how two vectors compare: `offset + sign * measure(left, right)`, but for what arithmetic rounds.
 *
 * @param sign 1 or -1
 */
private[vector] final case class Similarity(
    measure: Measure,
    left: Expression,
    right: Expression,
    sign: Int,
    offset: Double
) {

  /** Whether more of this value means nearer. */
  def isNearerIfMore: Boolean = measure.isSimilarity == (sign > 0)

  /** The vectors of (build, probe). */
  def oriented(sides: Sides): Option[(Expression, Expression)] =
    if (sides.ofLeft(left) && sides.ofRight(right)) Some((left, right))
    else if (sides.ofLeft(right) && sides.ofRight(left)) Some((right, left))
    else None
}

private[vector] object Similarity {

  /** One constant may be added, which rounds once: others might cancel each other and leave what was rounded before. */
  def of(e: Expression): Option[Similarity] = e match {
    case Cast(child, DoubleType, _, _) if child.dataType == FloatType => of(child)
    case Subtract(Constant(c), child, _) =>
      plain(child).map(s => s.copy(sign = -s.sign, offset = c))
    case Subtract(child, Constant(c), _) => plain(child).map(_.copy(offset = -c))
    case Add(Constant(c), child, _) => plain(child).map(_.copy(offset = c))
    case Add(child, Constant(c), _) => plain(child).map(_.copy(offset = c))
    case other => plain(other)
  }

  private def plain(e: Expression): Option[Similarity] = e match {
    case Compared(measure, l, r) => Some(Similarity(measure, l, r, sign = 1, offset = 0.0))
    case Cast(child, DoubleType, _, _) if child.dataType == FloatType => plain(child)
    case UnaryMinus(child, _) => plain(child).map(s => s.copy(sign = -s.sign))
    case _ => None
  }

  /** Spark's functions, and ours of the same names where Spark has none. */
  private object Compared {
    def unapply(e: Expression): Option[(Measure, Expression, Expression)] = e match {
      case i: StaticInvoke if Owners.contains(i.staticObject.getName) =>
        for {
          measure <- Measure.all.find(_.function == i.functionName)
          Seq(l, r) <- Some(i.arguments.take(2))
          if Seq(l, r).forall(isVector)
        } yield (measure, l, r)
      case _ => None
    }

    private def isVector(e: Expression): Boolean = e.dataType match {
      case ArrayType(FloatType, _) => true
      case _ => false
    }
  }

  /** The classes whose methods are called. */
  private val Owners = Set(
    "org.apache.spark.sql.catalyst.expressions.VectorFunctionImplUtils",
    classOf[VectorFunctions].getName
  )

  /** Whether Spark's functions add up in 32 bits, as those of 4.2 do. */
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
