package thetajoin.condition

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.types.{DataType, DoubleType}

/**
 * A coordinate of a point of the sphere of radius 1, of its latitude and longitude in radians. Angles so large
 * that differences of them lose digits give infinity. Never shown to a user: only used as an index key. It can't fail.
 *
 * @param axis 0, 1 or 2: the poles are at both ends of the last one
 * @param infinity in place of the coordinate that is not known
 */
private[condition] final case class SphereCoordinate(
    left: Expression,
    right: Expression,
    axis: Int,
    infinity: Double
) extends BinaryExpression
    with NeverFails {
  override def dataType: DataType = DoubleType
  override def nullIntolerant: Boolean = true
  override def prettyName: String = s"sphere_${"xyz".charAt(axis)}"

  override protected def nullSafeEval(latitude: Any, longitude: Any): Any =
    SphereCoordinate.of(
      latitude.asInstanceOf[Double],
      longitude.asInstanceOf[Double],
      axis,
      infinity
    )

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val of = SphereCoordinate.getClass.getName + ".MODULE$"
    val unknown =
      if (infinity > 0) "Double.POSITIVE_INFINITY" else "Double.NEGATIVE_INFINITY"
    defineCodeGen(ctx, ev, (lat, lon) => s"$of.of($lat, $lon, $axis, $unknown)")
  }

  override protected def withNewChildrenInternal(
      left: Expression,
      right: Expression
  ): SphereCoordinate = copy(left = left, right = right)
}

private[thetajoin] object SphereCoordinate {
  def of(latitude: Double, longitude: Double, axis: Int, infinity: Double): Double =
    if (math.abs(latitude) > MostRadians || math.abs(longitude) > MostRadians) infinity
    else if (axis == 0) math.cos(latitude) * math.cos(longitude)
    else if (axis == 1) math.cos(latitude) * math.sin(longitude)
    else if (longitude.isNaN) Double.NaN
    else math.sin(latitude)

  /**
   * More than 360 degrees. The difference of two such numbers of 32 bits is rounded by less than half of [[Arc.Slack]].
   */
  private final val MostRadians = 8.0
}
