package thetajoin.accelerator.vector

import thetajoin.contract.{JoinIndex, Prober}

/** Finds vectors by their products with a probe row's vector: see [[VectorProber]]. */
private[vector] final class Vectors(rows: VectorRows) extends JoinIndex {
  override def bytes: Long = rows.bytes
  override def newProber(): Prober = new VectorProber(rows)
}
