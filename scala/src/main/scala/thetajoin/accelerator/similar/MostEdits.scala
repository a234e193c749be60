package thetajoin.accelerator.similar

/** The most edits between a build row's text and a match. */
private[similar] sealed trait MostEdits {

  /** @param ofRow the number that the build row has, if it has one */
  def apply(length: Int, ofRow: Int): Int

  /** For a build row's text and a probe row's text of these lengths. */
  def ofPair(ofBuild: Int, build: Int, probe: Int): Int
}

private[similar] object MostEdits {

  /** The same for all rows. */
  final case class Constant(edits: Int) extends MostEdits {
    override def apply(length: Int, ofRow: Int): Int = edits
    override def ofPair(ofBuild: Int, build: Int, probe: Int): Int = edits
  }

  /** A column of the build side, which follows the text in a key row. */
  case object OfRow extends MostEdits {
    override def apply(length: Int, ofRow: Int): Int = ofRow
    override def ofPair(ofBuild: Int, build: Int, probe: Int): Int = ofBuild
  }

  /**
   * A part of the longer text's length, less than 1. The difference of the lengths is a part of the edits, so that the
   * longer text has `length / (1 - part)` characters at most.
   */
  final case class OfLength(part: Double) extends MostEdits {
    override def apply(length: Int, ofRow: Int): Int =
      (part * length / (1.0 - part) + Rounding).toInt

    override def ofPair(ofBuild: Int, build: Int, probe: Int): Int =
      math.min(ofBuild, (part * math.max(build, probe) + Rounding).toInt)
  }

  /** Far above the error of the arithmetic, and far below an edit. */
  private val Rounding = 1e-6
}
