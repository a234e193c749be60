package thetajoin.contract

/** What an accelerator was compiled against: the contract, and the parts of `thetajoin.kit`. */
object Contract {

  /**
   * Raised by a change for which accelerators must be compiled again. It is a constant: a compiler copies it into the
   * class that names it, which thereby tells the version that it was compiled against.
   */
  final val Version = 1
}
