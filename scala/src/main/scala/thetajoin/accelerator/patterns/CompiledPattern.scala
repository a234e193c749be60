package thetajoin.accelerator.patterns

import org.apache.spark.unsafe.types.UTF8String

/** A pattern that can be used. */
private[patterns] trait CompiledPattern {
  def matches(text: Text): Boolean
}

private[patterns] final class Text(val bytes: Array[Byte]) {
  private var string: String = _

  /** Texts are shared by tasks, and each task may be the first to ask. */
  def characters: String = {
    val known = string
    if (known != null) known
    else {
      val decoded = UTF8String.fromBytes(bytes).toString
      string = decoded
      decoded
    }
  }
}
