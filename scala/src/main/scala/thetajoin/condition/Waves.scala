package thetajoin.condition

import java.math.MathContext

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DecimalType, DoubleType, FloatType}

/**
 * A polynomial of sines and cosines of values, in a form that is the same for equal polynomials:
 *
 * {{{
 *   sin(x) * sin(x)         1 - cos(x) * cos(x)
 *   cos(x - y)              cos(x) * cos(y) + sin(x) * sin(y)
 *   pow(sin((x - y) / 2), 2)    0.5 - 0.5 * (cos(x) * cos(y) + sin(x) * sin(y))
 * }}}
 *
 * @param terms the factor of each product
 */
private[condition] final case class Waves(terms: Map[Waves.Product, Double]) {
  import Waves._

  def +(other: Waves): Waves = Waves.of(terms.toSeq ++ other.terms)
  def *(factor: Double): Waves = Waves.of(terms.toSeq.map { case (p, f) => p -> f * factor })
  def -(other: Waves): Waves = this + other * -1

  def *(other: Waves): Waves =
    Waves.of(for ((p, f) <- terms.toSeq; (q, g) <- other.terms.toSeq) yield times(p, q) -> f * g)

  def isZero: Boolean = terms.isEmpty
}

private[condition] object Waves {

  /** Powers of waves. */
  type Product = Map[Wave, Int]

  /** The sine or the cosine of an angle, which is a sum of values. */
  final case class Wave(isSine: Boolean, angle: Map[Turn, Int])

  /** A value times a factor: an angle in radians. */
  final class Turn(val value: Expression, val factor: Double) {
    private val key = (value.canonicalized, BigDecimal(factor).round(Digits))
    override def equals(other: Any): Boolean = other match {
      case turn: Turn => key == turn.key
      case _ => false
    }
    override def hashCode: Int = key.hashCode

    def radians: Expression = new Multiply(NumberForms.asDouble(value), Literal(factor))
  }

  val one: Waves = constant(1.0)

  def constant(value: Double): Waves = of(Seq((Map.empty: Product) -> value))

  def of(wave: Wave*): Waves = of(Seq(wave.groupBy(identity).map(w => w._1 -> w._2.size) -> 1.0))

  private def of(terms: Seq[(Product, Double)]): Waves =
    Waves(terms.groupMapReduce(_._1)(_._2)(_ + _).filter(t => math.abs(t._2) > Nothing))

  private def times(p: Product, q: Product): Product =
    (p.keySet ++ q.keySet).map(w => w -> (p.getOrElse(w, 0) + q.getOrElse(w, 0))).toMap

  /**
   * @param halves whether the square of the sine of a sum is read by the cosine of its double, which has the angles
   *   that other parts have
   */
  final class Reader(halves: Boolean) {
    def read(e: Expression): Option[Waves] = unreduced(e).filter(_.terms.size <= Most).map(reduced)

    private def unreduced(e: Expression): Option[Waves] = e match {
      case NumberForms.Constant(value) => Some(constant(value))
      case _ if e.dataType != DoubleType => None
      case Add(l, r, _) => for (x <- read(l); y <- read(r)) yield x + y
      case Subtract(l, r, _) => for (x <- read(l); y <- read(r)) yield x - y
      case Multiply(l, r, _) => for (x <- read(l); y <- read(r)) yield x * y
      case Divide(x, NumberForms.Constant(c), _) if c != 0 => read(x).map(_ * (1 / c))
      case Pow(x, NumberForms.Constant(2.0)) => read(x).map(w => w * w)
      case UnaryMinus(x, _) => read(x).map(_ * -1)
      case Sin(angle) => sum(angle).map(sine)
      case Cos(angle) => sum(angle).map(cosineOf)
      case _ => None
    }

    /** Without squares of sines. */
    def reduced(waves: Waves): Waves = {
      val squares = waves.terms.keys.flatten.collectFirst { case (w, n) if w.isSine && n > 1 => w }
      squares.fold(waves) { wave =>
        val square = one - cosineSquared(wave.angle)
        reduced(waves.terms.toSeq.map { case (product, factor) =>
          product.getOrElse(wave, 0) match {
            case n if n < 2 => Waves(Map(product -> factor))
            case 2 => Waves(Map((product - wave) -> factor)) * square
            case n => Waves(Map(product.updated(wave, n - 2) -> factor)) * square
          }
        }.reduce(_ + _))
      }
    }

    private def cosineSquared(angle: Map[Turn, Int]): Waves =
      if (angle.size == 1) {
        val cosine = of(Wave(isSine = false, angle))
        cosine * cosine
      } else (one + cosineOf(angle.toSeq.map { case (t, sign) => doubled(t) -> sign })) * 0.5

    private def doubled(turn: Turn): Turn = new Turn(turn.value, turn.factor * 2)

    private def sine(turns: Seq[(Turn, Int)]): Waves = turns match {
      case Seq((turn, sign)) => of(Wave(isSine = true, Map(turn -> 1))) * sign.toDouble
      case _ if halves => of(Wave(isSine = true, turns.toMap))
      case several => sineOf(several)
    }

    private def sineOf(turns: Seq[(Turn, Int)]): Waves = turns match {
      case (turn, sign) +: others =>
        of(Wave(isSine = true, Map(turn -> 1))) * sign.toDouble * cosineOf(others) +
          of(Wave(isSine = false, Map(turn -> 1))) * sineOf(others)
      case _ => constant(0.0)
    }

    private def cosineOf(turns: Seq[(Turn, Int)]): Waves = turns match {
      case (turn, sign) +: others =>
        of(Wave(isSine = false, Map(turn -> 1))) * cosineOf(others) -
          of(Wave(isSine = true, Map(turn -> 1))) * sign.toDouble * sineOf(others)
      case _ => one
    }
  }

  /** An angle as a sum of values, each with a factor of its own, added or subtracted. */
  private def sum(angle: Expression): Option[Seq[(Turn, Int)]] = {
    val turns = linear(angle, 1.0).groupMapReduce(_._1.canonicalized)(identity) {
      case ((value, f), (_, g)) => (value, f + g)
    }.values.toSeq
    if (turns.isEmpty || turns.size > 2 || turns.exists(_._2 == 0)) None
    else Some(turns.map { case (value, f) => new Turn(value, math.abs(f)) -> math.signum(f).toInt })
  }

  private def linear(e: Expression, factor: Double): Seq[(Expression, Double)] = e match {
    case ToRadians(x) => linear(x, factor * (math.Pi / 180))
    case Add(l, r, _) if e.dataType == DoubleType => linear(l, factor) ++ linear(r, factor)
    case Subtract(l, r, _) if e.dataType == DoubleType => linear(l, factor) ++ linear(r, -factor)
    case cast @ Cast(Subtract(l, r, _), DoubleType, _, _) if isRead(l) && isRead(r) =>
      linear(cast.withNewChildren(Seq(l)), factor) ++ linear(cast.withNewChildren(Seq(r)), -factor)
    case UnaryMinus(x, _) if e.dataType == DoubleType => linear(x, -factor)
    case Multiply(x, NumberForms.Constant(c), _) => linear(x, factor * c)
    case Multiply(NumberForms.Constant(c), x, _) => linear(x, factor * c)
    case Divide(x, NumberForms.Constant(c), _) => linear(x, factor / c)
    case value => Seq(value -> factor)
  }

  /** Numbers whose differences round by little, and never wrap around. */
  private def isRead(e: Expression): Boolean = e.dataType match {
    case FloatType | _: DecimalType => true
    case _ => false
  }

  private val Digits = new MathContext(12)

  /** Rounding of a few operations. */
  private val Nothing = 1e-13
  private val Most = 200
}
