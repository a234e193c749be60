package thetajoin.contract

/** By which of a probe row's bounds an index finds rows, counted from 0. */
final case class BoundPair(first: Int, second: Int) {

  /** Those of all bounds: two, or the only one. */
  def of[A](bounds: Seq[A]): Seq[A] = Seq(first, second).filter(_ < bounds.size).map(bounds)
}

object BoundPair {
  val FirstTwo: BoundPair = BoundPair(0, 1)
}
