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
    )
  )
  override val proof: String =
    "Two points on a sphere are as far apart as their circles of latitude at least; cosines of latitudes are not negative."

  override def implied(l: Expression, operator: Operator, r: Expression): Option[Expression] =
    (l, r) match {
      case (Arc(diameter, latitudes), Number(most)) if diameter > 0 && most >= 0 =>
        val degrees = math.toDegrees(2 * most / diameter) * (1 + Rounding) + Rounding
        if (degrees >= MostDegrees) None
        else {
          val apart = Abs(latitudes, failOnError = false)
          val near = LessThanOrEqual(apart, Literal(degrees))
          val beyond = latitudes.children.map(l =>
            Not(LessThanOrEqual(Abs(l, failOnError = false), Literal(90.0)))
          )
          Some(beyond.foldLeft[Expression](near)((found, when) => Or(when, found)))
        }
      case _ => None
    }

  /** Arithmetic of eight steps with numbers of 64 bits rounds by far less. */
  private val Rounding = 1e-9

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
      case _ => None
    }
  }

  private object Haversine {
    def unapply(e: Expression): Option[Subtract] = e match {
      case Add(Square(Sin(Half(Latitudes(difference)))), rest, _)
          if isNotNegative(rest, difference) =>
        Some(difference)
      case _ => None
    }
  }

  private def isNotNegative(product: Expression, latitudes: Subtract): Boolean = product match {
    case Multiply(x, y, _) => isNotNegative(x, latitudes) && isNotNegative(y, latitudes)
    case Cos(ToRadians(latitude)) => latitudes.children.exists(_.semanticEquals(latitude))
    case Square(_) => true
    case _ => false
  }

  /** The difference of two latitudes in radians. */
  private object Latitudes {
    def unapply(e: Expression): Option[Subtract] = e match {
      case ToRadians(difference: Subtract) => Some(difference)
      case difference @ Subtract(ToRadians(x), ToRadians(y), _) =>
        Some(difference.withNewChildren(Seq(x, y)).asInstanceOf[Subtract])
      case _ => None
    }
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
