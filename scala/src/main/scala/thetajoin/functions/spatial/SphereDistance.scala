package thetajoin.functions.spatial

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DoubleType

/** The haversine formula for points of longitude and latitude in degrees, as people write it. */
private[spatial] object SphereDistance {

  /** Of the earth in metres, the mean of its axes (IUGG), as in PostGIS. */
  val Radius = 6371008.7714150598

  def apply(one: Expression, other: Expression, isTry: Boolean): Expression = {
    def angle(point: Expression, of: Conversion) = ToRadians(StConvert(point, of, isTry))
    def halfSquare(of: Conversion) = {
      val sine = Sin(new Multiply(new Subtract(angle(other, of), angle(one, of)), Literal(0.5)))
      new Multiply(sine, sine)
    }
    def cosine(point: Expression) = Cos(angle(point, Conversion.Y))
    val ofLongitudes =
      new Multiply(new Multiply(cosine(one), cosine(other)), halfSquare(Conversion.X))
    val haversine = new Add(halfSquare(Conversion.Y), ofLongitudes)
    // The least of a number and a null is the number.
    val distance =
      new Multiply(Literal(2 * Radius), Asin(Sqrt(Least(Seq(Literal(1.0), haversine)))))
    If(IsNull(haversine), Literal(null, DoubleType), distance)
  }
}
