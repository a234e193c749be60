package thetajoin.accelerator.patterns

/** Finds strings in texts. For one task. */
private[patterns] abstract class Strings {

  /** Starts on the bytes from one place until another. */
  def start(text: Array[Byte], from: Int, until: Int): Unit

  /** The next string by its number; -1 if there are no more. */
  def next(): Int

  /** Strings that end where the last string does need not be given: they were given when it was found before. */
  def skip(): Unit
}

/** Finds each of so many strings in each text. */
private[patterns] final class EveryString(count: Int) extends Strings {
  private var at = 0

  override def start(text: Array[Byte], from: Int, until: Int): Unit = at = 0

  override def next(): Int = {
    val string = if (at < count) at else -1
    at += 1
    string
  }

  override def skip(): Unit = ()
}
