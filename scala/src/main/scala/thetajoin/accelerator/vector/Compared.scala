package thetajoin.accelerator.vector

import org.apache.spark.sql.catalyst.expressions.Expression

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
 * An expression that compares two vectors.
 *
 * @param isSingle whether it is computed in 32 bits
 * @param isSquared whether it is the square of the measure
 */
private[vector] final case class Compared(
    measure: Measure,
    left: Expression,
    right: Expression,
    isSingle: Boolean,
    isSquared: Boolean = false
)
