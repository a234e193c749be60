package thetajoin.testkit

import thetajoin.contract.{ListProber, Prober}

/** What a prober finds. */
private[testkit] object Found {

  /** The positions of the runs that are still to come. */
  def all(prober: Prober): List[Int] =
    Iterator.continually(prober.next()).takeWhile(identity).flatMap(_ => run(prober)).toList

  /** An empty run breaks the contract. */
  private def run(prober: Prober): Seq[Int] = {
    require(prober.from < prober.until, s"an empty run: [${prober.from}, ${prober.until})")
    val places = prober.from until prober.until
    prober match {
      case lists: ListProber =>
        val positions = lists.positions
        places.map(positions(_))
      case _ => places
    }
  }
}
