package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._

import thetajoin.condition.Operator

object GreatCircle extends ComparisonRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "12742 * asin(sqrt(pow(sin(radians(b.lat - a.lat) / 2), 2) + " +
        "cos(radians(a.lat)) * cos(radians(b.lat)) * pow(sin(radians(b.lon - a.lon) / " +
        "2), 2))) <= 2000",
      "abs(b.lat - a.lat) <= 18"
    ),
    Reading(
      "6371 * acos(sin(radians(a.lat)) * sin(radians(b.lat)) + " +
        "cos(radians(a.lat)) * cos(radians(b.lat)) * cos(radians(a.lon - b.lon))) <= 2000",
      "abs(a.lat - b.lat) <= 18"
    )
  )
  override val proof: String =
    "Two points on a sphere are as far apart as their circles of latitude at least; cosines of latitudes are not negative."

  override def implied(l: Expression, operator: Operator, r: Expression): Option[Expression] =
    (l, r) match {
      case (Arc(diameter, latitudes), Number(most)) if diameter > 0 && most >= 0 =>
        val degrees = math.toDegrees(2 * most / diameter) * (1 + Rounding) + OfCosine
        if (degrees >= MostDegrees) None
        else {
          val apart = Abs(latitudes, failOnError = false)
          val near = LessThanOrEqual(apart, Literal(degrees))
          val beyond = latitudes.children.map(l =>
            Not(LessThanOrEqual(Abs(l, failOnError = false), Literal(Pole)))
          )
          Some(beyond.foldLeft[Expression](near)((found, when) => Or(when, found)))
        }
      case _ => None
    }

  /** Arithmetic of eight steps with numbers of 64 bits rounds by far less. */
  private val Rounding = 1e-9

  /** By how many degrees an angle whose cosine is rounded may differ: near zero by the root of the difference. */
  private val OfCosine = 1e-4

  /** A cosine is not below zero up to this latitude, whatever is rounded. */
  private val Pole = 89.9999

  /** By what part a number that turns degrees into radians may differ from another one. */
  private val OfFactor = 1e-12

  /** A wider band leaves out few rows. */
  private val MostDegrees = 60.0

  /** The length of an arc: the diameter of its sphere, and the difference of latitudes in degrees. */
  private object Arc {
    def unapply(e: Expression): Option[(Double, Subtract)] = e match {
      case Multiply(Number(factor), Arc(diameter, latitudes), _) =>
        Some((factor * diameter, latitudes))
      case Multiply(Arc(diameter, latitudes), Number(factor), _) =>
        Some((factor * diameter, latitudes))
      case Asin(Sqrt(Haversine(latitudes))) => Some((1.0, latitudes))
      case Atan2(Sqrt(haversine @ Haversine(latitudes)), Sqrt(Subtract(Number(1.0), same, _)))
          if haversine.semanticEquals(same) =>
        Some((1.0, latitudes))
      case Acos(Cosine(latitudes)) => Some((2.0, latitudes))
      case _ => None
    }
  }

  /** The spherical law of cosines. */
  private object Cosine {
    def unapply(e: Expression): Option[Subtract] = e match {
      case Add(Multiply(Sin(InRadians(x)), Sin(InRadians(y)), _), product, _) =>
        factors(product) match {
          case Seq(Cos(InRadians(l)), Cos(InRadians(r)), Cos(_))
              if isPair(x, y, l, r) => Some(new Subtract(x, y))
          case _ => None
        }
      case Add(product, sum @ Multiply(_: Sin, _: Sin, _), _) =>
        unapply(e.withNewChildren(Seq(sum, product)))
      case _ => None
    }

    private def factors(e: Expression): Seq[Expression] = e match {
      case Multiply(l, r, _) => factors(l) ++ factors(r)
      case other => Seq(other)
    }

    private def isPair(x: Expression, y: Expression, l: Expression, r: Expression): Boolean =
      x.semanticEquals(l) && y.semanticEquals(r) || x.semanticEquals(r) && y.semanticEquals(l)
  }

  private object Haversine {
    def unapply(e: Expression): Option[Subtract] = e match {
      case Add(Square(Sin(Half(Latitudes(difference)))), rest, _)
          if isNotNegative(rest, difference) =>
        Some(difference)
      case Add(Versine(Latitudes(difference)), rest, _) if isNotNegative(rest, difference) =>
        Some(difference)
      case _ => None
    }
  }

  private def isNotNegative(product: Expression, latitudes: Subtract): Boolean = product match {
    case Multiply(x, y, _) => isNotNegative(x, latitudes) && isNotNegative(y, latitudes)
    case Cos(InRadians(latitude)) => latitudes.children.exists(_.semanticEquals(latitude))
    case Half(x) => isNotNegative(x, latitudes)
    case Subtract(Number(1.0), Cos(_), _) => true
    case Versine(_) | Square(_) => true
    case _ => false
  }

  /** The square of the sine of half an angle, by its cosine. */
  private object Versine {
    def unapply(e: Expression): Option[Expression] = e match {
      case Half(Subtract(Number(1.0), Cos(angle), _)) => Some(angle)
      case Subtract(Number(0.5), Half(Cos(angle)), _) => Some(angle)
      case _ => None
    }
  }

  /** The difference of two latitudes in radians. */
  private object Latitudes {
    def unapply(e: Expression): Option[Subtract] = e match {
      case InRadians(difference: Subtract) => Some(difference)
      case difference @ Subtract(InRadians(x), InRadians(y), _) =>
        Some(difference.withNewChildren(Seq(x, y)).asInstanceOf[Subtract])
      case _ => None
    }
  }

  /** The number of degrees of an angle in radians. */
  private object InRadians {
    def unapply(e: Expression): Option[Expression] = e match {
      case ToRadians(degrees) => Some(degrees)
      case Multiply(degrees, Number(factor), _) if isDegree(factor) => Some(degrees)
      case Multiply(Number(factor), degrees, _) if isDegree(factor) => Some(degrees)
      case Divide(Multiply(degrees, Number(pi), _), Number(half), _) if isDegree(pi / half) =>
        Some(degrees)
      case Divide(degrees, Number(factor), _) if isDegree(1 / factor) => Some(degrees)
      case _ => None
    }

    private def isDegree(factor: Double): Boolean =
      math.abs(factor * 180 / math.Pi - 1) < OfFactor
  }

  private object Square {
    def unapply(e: Expression): Option[Expression] = e match {
      case Pow(x, Number(2.0)) => Some(x)
      case Multiply(x, y, _) if x.semanticEquals(y) => Some(x)
      case _ => None
    }
  }

  private object Half {
    def unapply(e: Expression): Option[Expression] = e match {
      case Divide(x, Number(2.0), _) => Some(x)
      case Multiply(x, Number(0.5), _) => Some(x)
      case Multiply(Number(0.5), x, _) => Some(x)
      case _ => None
    }
  }

  private object Number {
    def unapply(e: Expression): Option[Double] = e match {
      case Literal(number: Double, _) => Some(number)
      case _ => None
    }
  }
}
