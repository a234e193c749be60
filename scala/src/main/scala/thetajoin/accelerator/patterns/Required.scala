package thetajoin.accelerator.patterns

/** Where in a text a string has to be. */
private[patterns] sealed abstract class Place(val number: Int)

private[patterns] object Place {
  case object Anywhere extends Place(0)
  case object Start extends Place(1)
  case object End extends Place(2)

  /** The place if no string is needed. */
  final val Nowhere = 3
}

/**
 * The need of a text that matches a pattern: one of these strings at this place. None of them is empty. Nothing is
 * known if there are no strings.
 *
 * @param isAll whether each text that has one matches, and each text at all if there are no strings
 * @param isFolded whether a text may have the strings in another case, as by [[Folding]]
 */
private[patterns] final case class Required(
    place: Place,
    anyOf: Seq[Array[Byte]],
    isAll: Boolean,
    isFolded: Boolean = false
) {

  /** What a folded text needs. */
  def folded: Required = copy(anyOf = anyOf.map(Folding.of), isAll = false, isFolded = false)
}

private[patterns] object Required {

  /** All texts match. */
  val Nothing: Required = Required(Place.Anywhere, Nil, isAll = true)

  /** Each text has to be tested. */
  val Unknown: Required = Required(Place.Anywhere, Nil, isAll = false)
}
