package thetajoin.accelerator.containment

/**
 * How alike two sets must be, as the number of elements that they have in common. The number grows with the sizes of
 * the sets, and by less than they do.
 */
private[containment] sealed trait Measure {

  /** The fewest elements in common of two sets of these sizes. */
  def least(build: Int, probe: Int): Int

  /** The fewest elements that a build set of some size has in common with a set that is alike. */
  def leastOfBuild(size: Int): Int

  /** The same of a probe set. */
  def leastOfProbe(size: Int): Int
}

private[containment] object Measure {

  /** The part of all elements that both sets have. */
  final case class Jaccard(part: Double) extends Symmetric {
    override def least(one: Int, other: Int): Int =
      up(part / (1.0 + part) * (one.toDouble + other))
    override def leastOf(size: Int): Int = up(part * size)
  }

  /** Twice the elements in common, as a part of both sizes together. */
  final case class Dice(part: Double) extends Symmetric {
    override def least(one: Int, other: Int): Int = up(part / 2.0 * (one.toDouble + other))
    override def leastOf(size: Int): Int =
      if (part < 2.0) up(part / (2.0 - part) * size) else Int.MaxValue
  }

  /** A part of the root of the product of both sizes. */
  final case class Cosine(part: Double) extends Symmetric {
    override def least(one: Int, other: Int): Int = up(part * math.sqrt(one.toDouble * other))
    override def leastOf(size: Int): Int = up(part * part * size)
  }

  /** A part of the smaller set. */
  final case class OfSmaller(part: Double) extends Symmetric {
    override def least(one: Int, other: Int): Int = up(part * math.min(one, other))
    override def leastOf(size: Int): Int = math.min(size, 1)
  }

  /** A part of the larger set. */
  final case class OfLarger(part: Double) extends Symmetric {
    override def least(one: Int, other: Int): Int = up(part * math.max(one, other))
    override def leastOf(size: Int): Int = up(part * size)
  }

  /** A part of the build set. */
  final case class OfBuild(part: Double) extends Measure {
    override def least(build: Int, probe: Int): Int = up(part * build)
    override def leastOfBuild(size: Int): Int = up(part * size)
    override def leastOfProbe(size: Int): Int = math.min(size, 1)
  }

  /** A part of the probe set. */
  final case class OfProbe(part: Double) extends Measure {
    override def least(build: Int, probe: Int): Int = up(part * probe)
    override def leastOfBuild(size: Int): Int = math.min(size, 1)
    override def leastOfProbe(size: Int): Int = up(part * size)
  }

  sealed trait Symmetric extends Measure {
    def leastOf(size: Int): Int
    final override def leastOfBuild(size: Int): Int = leastOf(size)
    final override def leastOfProbe(size: Int): Int = leastOf(size)
  }

  val wireClasses: Seq[Class[_]] = Seq(
    classOf[Jaccard],
    classOf[Dice],
    classOf[Cosine],
    classOf[OfSmaller],
    classOf[OfLarger],
    classOf[OfBuild],
    classOf[OfProbe]
  )

  /** The next whole number, if it is not equal but for the error of the arithmetic. */
  private def up(number: Double): Int = math.ceil(number - 1e-6).toInt
}
