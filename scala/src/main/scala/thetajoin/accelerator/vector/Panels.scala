package thetajoin.accelerator.vector

import org.apache.spark.sql.catalyst.util.ArrayData

import thetajoin.kit.keys.Groups

/**
 * The build vectors of an index.
 *
 * @param starts where the rows of each group start, and the end of the last
 * @param unusual of each group, where the rows start that are candidates of every row: of another length, not finite,
 *   or too long
 * @param panels the vectors by position, scaled; zeros where a vector is compared with none
 * @param taken by position, the number that is subtracted from a product: half the square of the scaled vector for
 *   distances; infinite for a vector that is compared with none
 * @param scale by which all vectors are multiplied, unless each has length 1
 * @param keys how many columns of a key row come before the vector
 */
private[vector] final class VectorRows(
    val groups: Groups,
    val starts: Array[Int],
    val unusual: Array[Int],
    val panels: Panels,
    val taken: Array[Float],
    val scale: Double,
    val keys: Int,
    val asked: Asked
) extends Serializable {
  def bytes: Long =
    groups.bytes + 4L * (starts.length + unusual.length + taken.length) + panels.bytes
}

/** Vectors in panels, as [[Products]] takes them. */
private[vector] final class Panels(val dimensions: Int, rows: Int) extends Serializable {
  import Panels._

  private val count = rounded(rows)
  private val pieces = new Array[Array[Float]]((count + PanelsOfPiece - 1) / PanelsOfPiece)

  def bytes: Long = 4L * count * Products.LANES * dimensions

  /**
   * Makes room for a position. All of them are asked for in their order, so that vectors which were placed can be let
   * go of meanwhile.
   */
  def reach(position: Int): Unit = {
    val i = position / Products.LANES / PanelsOfPiece
    if (pieces(i) == null) {
      val panels = math.min(PanelsOfPiece, count - i * PanelsOfPiece)
      pieces(i) = new Array[Float](Math.multiplyExact(panels * Products.LANES, dimensions))
    }
  }

  def put(position: Int, vector: Array[Float], scale: Double): Unit = {
    val panel = position / Products.LANES
    val to = piece(panel)
    var at = start(panel) + position % Products.LANES
    var d = 0
    while (d < dimensions) {
      to(at) = (vector(d) * scale).toFloat
      at += Products.LANES
      d += 1
    }
  }

  /** Where a panel lies: in which array, and from where on. */
  def piece(panel: Int): Array[Float] = pieces(panel / PanelsOfPiece)
  def start(panel: Int): Int = panel % PanelsOfPiece * Products.LANES * dimensions

  /** The end of the panels that lie in one array with this one. */
  def endOfPiece(panel: Int): Int = (panel / PanelsOfPiece + 1) * PanelsOfPiece
}

private[vector] object Panels {
  private final val PanelsOfPiece = 64

  /** Panels that so many rows take. */
  def rounded(rows: Int): Int = (rows + Products.LANES - 1) / Products.LANES
}

private[vector] object Coordinates {

  def hasNull(array: ArrayData): Boolean = {
    var i = 0
    while (i < array.numElements() && !array.isNullAt(i)) i += 1
    i < array.numElements()
  }

  /** The length of a vector in space; NaN or infinite if a coordinate is. */
  def norm(vector: Array[Float]): Double = {
    var sum = 0.0
    var i = 0
    while (i < vector.length) {
      sum += vector(i).toDouble * vector(i)
      i += 1
    }
    math.sqrt(sum)
  }
}
