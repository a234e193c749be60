package thetajoin.functions.spatial

/** A value that is not a geometry. */
final class InvalidGeometryException(function: String, why: String, bytes: Array[Byte])
    extends IllegalArgumentException(
      s"[INVALID_GEOMETRY] $function can't read a geometry: $why. Its well-known binary starts with " +
        s"${InvalidGeometryException.start(bytes)} (${bytes.length} bytes). Correct the value, or use try_$function, which is NULL for it."
    )

private object InvalidGeometryException {
  private val Shown = 16

  private def start(bytes: Array[Byte]): String =
    bytes.take(Shown).map(b => f"$b%02X").mkString("X'", "", "'")
}
