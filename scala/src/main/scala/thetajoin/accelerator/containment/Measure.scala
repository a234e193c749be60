package thetajoin.accelerator.containment

/**
 * How alike two sets are: the elements that they have in common, as a part of a number that follows from the sizes. To
 * be alike by some part, sets need more elements in common the larger they are, but by less than they grow.
 */
private[containment] sealed trait Measure extends Serializable {

  /** The fewest elements in common of two sets of these sizes that are alike by this part. */
  def least(part: Double, build: Int, probe: Int): Int

  /** The fewest elements that a build set of some size has in common with a set that is alike. */
  def leastOfBuild(part: Double, size: Int): Int

  /** The same of a probe set. */
  def leastOfProbe(part: Double, size: Int): Int

  /** The part by which two sets of these sizes are alike, rounded as a quotient is. NaN if it is 0 of 0. */
  def part(common: Int, build: Int, probe: Int): Double
}

private[containment] object Measure {

  /** A part of all elements of both sets. */
  case object Jaccard extends Symmetric {
    override def least(part: Double, one: Int, other: Int): Int =
      up(part / (1.0 + part) * (one.toDouble + other))
    override def leastOf(part: Double, size: Int): Int = up(part * size)
    override def part(common: Int, one: Int, other: Int): Double =
      common / (one.toDouble + other - common)
  }

  /** A part of both sizes together. */
  case object OfSum extends Symmetric {
    override def least(part: Double, one: Int, other: Int): Int = up(part * (one.toDouble + other))
    override def leastOf(part: Double, size: Int): Int =
      if (part < 1.0) up(part / (1.0 - part) * size) else Int.MaxValue
    override def part(common: Int, one: Int, other: Int): Double =
      common / (one.toDouble + other)
  }

  /** A part of the root of the product of both sizes. */
  case object Cosine extends Symmetric {
    override def least(part: Double, one: Int, other: Int): Int =
      up(part * math.sqrt(one.toDouble * other))
    override def leastOf(part: Double, size: Int): Int = up(part * part * size)
    override def part(common: Int, one: Int, other: Int): Double =
      common / math.sqrt(one.toDouble * other)
  }

  /** A part of the smaller set. */
  case object OfSmaller extends Symmetric {
    override def least(part: Double, one: Int, other: Int): Int = up(part * math.min(one, other))
    override def leastOf(part: Double, size: Int): Int = math.min(size, 1)
    override def part(common: Int, one: Int, other: Int): Double =
      common.toDouble / math.min(one, other)
  }

  /** A part of the larger set. */
  case object OfLarger extends Symmetric {
    override def least(part: Double, one: Int, other: Int): Int = up(part * math.max(one, other))
    override def leastOf(part: Double, size: Int): Int = up(part * size)
    override def part(common: Int, one: Int, other: Int): Double =
      common.toDouble / math.max(one, other)
  }

  /** So many, whatever the sizes. */
  case object Count extends Symmetric {
    override def least(part: Double, one: Int, other: Int): Int = up(part)
    override def leastOf(part: Double, size: Int): Int = up(part)
    override def part(common: Int, one: Int, other: Int): Double = common.toDouble
  }

  /** A part of the build set. */
  case object OfBuild extends Measure {
    override def least(part: Double, build: Int, probe: Int): Int = up(part * build)
    override def leastOfBuild(part: Double, size: Int): Int = up(part * size)
    override def leastOfProbe(part: Double, size: Int): Int = math.min(size, 1)
    override def part(common: Int, build: Int, probe: Int): Double =
      common.toDouble / build
  }

  /** A part of the probe set. */
  case object OfProbe extends Measure {
    override def least(part: Double, build: Int, probe: Int): Int = up(part * probe)
    override def leastOfBuild(part: Double, size: Int): Int = math.min(size, 1)
    override def leastOfProbe(part: Double, size: Int): Int = up(part * size)
    override def part(common: Int, build: Int, probe: Int): Double =
      common.toDouble / probe
  }

  sealed trait Symmetric extends Measure {
    def leastOf(part: Double, size: Int): Int
    final override def leastOfBuild(part: Double, size: Int): Int = leastOf(part, size)
    final override def leastOfProbe(part: Double, size: Int): Int = leastOf(part, size)
  }

  val all: Seq[Measure] =
    Seq(Jaccard, OfSum, Cosine, OfSmaller, OfLarger, Count, OfBuild, OfProbe)

  /** The next whole number, if it is not equal but for the error of the arithmetic. */
  private def up(number: Double): Int = math.ceil(number - 1e-6).toInt
}
