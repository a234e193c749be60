package thetajoin.accelerator

import thetajoin.contract.{ListProber, Prober}

/** What a prober finds. */
object Found {

  /** The positions of the current run. */
  def run(prober: Prober): Seq[Int] = {
    val places = prober.from until prober.until
    prober match {
      case lists: ListProber => places.map(lists.positions(_))
      case _ => places
    }
  }

  /** The positions of the runs that are still to come. */
  def all(prober: Prober): List[Int] =
    Iterator.continually(prober.next()).takeWhile(identity).flatMap(_ => run(prober)).toList
}
