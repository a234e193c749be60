package thetajoin.accelerator.patterns

import org.apache.spark.sql.execution.thetabridge.Cancellation

/**
 * Some strings of bytes as a tree of their beginnings. There is a state for each beginning. States are numbered level
 * by level, so the states that are one byte longer than a state are neighbours. Each state has a link to the longest
 * other state that it ends with. This is an Aho-Corasick automaton, which finds all strings in a text in one pass.
 *
 * Most bytes of a text end in the first states. These have a table of the next state for each byte. Bytes that no
 * string has share a column of it.
 *
 * @param children of each state, the first that is one byte longer; one more at the end
 * @param labels the byte that leads to each state
 * @param shorter of each state, the longest other one that it ends with
 * @param strings the string that ends at each state; -1 without one
 * @param ending of each state, the longest other one that it ends with and at which a string ends; 0 without one
 * @param columns of each byte, its column in the table
 * @param width how many columns there are
 * @param table of the first states, the results of [[Automaton.next]]
 */
private[patterns] final class Automaton private (
    children: Array[Int],
    labels: Array[Byte],
    shorter: Array[Int],
    strings: Array[Int],
    ending: Array[Int],
    columns: Array[Int],
    width: Int,
    table: Array[Int]
) extends Serializable {
  import Automaton._

  private val inTable = table.length / width

  def bytes: Long = 17L * labels.length + 4L * (table.length + columns.length)

  /** The state after one more byte of a text; below zero, as [[Automaton.flagged]] has it, if a string ends there. */
  private def next(state: Int, byte: Byte): Int = {
    var s = state
    while (s >= inTable) {
      val found = child(s, byte)
      if (found != 0) return if (isEnding(found)) flagged(found) else found
      s = shorter(s)
    }
    table(s * width + columns(byte & 0xff))
  }

  /** Whether a string ends there. */
  private def isEnding(state: Int): Boolean = strings(state) >= 0 || ending(state) != 0

  /** The state one byte longer; 0 without one. */
  private def child(state: Int, byte: Byte): Int = {
    val end = children(state + 1)
    var i = children(state)
    if (state < inTable) {
      val found = unflagged(table(state * width + columns(byte & 0xff)))
      if (found >= i) found else 0
    } else {
      while (i < end && labels(i) != byte) i += 1
      if (i < end) i else 0
    }
  }

  /** All strings that a text has, each as often as it is there, by their ends. */
  final class InText extends Strings {
    private var bytes: Array[Byte] = _
    private var at = 0
    private var end = 0
    private var state = 0

    /** Where the next string ends that is to be given; 0 if that is to be looked for. */
    private var open = 0

    override def start(text: Array[Byte], from: Int, until: Int): Unit = {
      bytes = text
      at = from
      end = until
      state = 0
      open = 0
    }

    override def next(): Int = {
      if (open == 0) advance()
      if (open == 0) -1
      else {
        val string = strings(open)
        open = ending(open)
        string
      }
    }

    override def skip(): Unit = open = 0

    private def advance(): Unit = {
      var s = state
      var i = at
      var isEnding = false
      while (i < end && !isEnding) {
        s = Automaton.this.next(s, bytes(i))
        i += 1
        if (s < 0) {
          isEnding = true
          s = unflagged(s)
        }
      }
      state = s
      at = i
      if (isEnding) open = if (strings(s) >= 0) s else ending(s)
    }
  }

  /**
   * The strings that a text begins with, the shortest first. If strings are written backwards, the strings that it
   * ends with.
   */
  final class AtEdge(backwards: Boolean) extends Strings {
    private val step = if (backwards) -1 else 1
    private var bytes: Array[Byte] = _
    private var at = 0
    private var end = 0
    private var state = 0

    override def start(text: Array[Byte], from: Int, until: Int): Unit = {
      bytes = text
      at = if (backwards) until - 1 else from
      end = if (backwards) from - 1 else until
      state = 0
    }

    override def skip(): Unit = ()

    override def next(): Int = {
      while (at != end) {
        state = child(state, bytes(at))
        at = if (state == 0) end else at + step
        if (strings(state) >= 0) return strings(state)
      }
      -1
    }
  }
}

private[patterns] object Automaton {

  /** A table has so many numbers at most: as many as a core's own cache holds. */
  private final val TableSize = 1 << 18

  private def flagged(state: Int): Int = ~state
  private def unflagged(state: Int): Int = state ^ (state >> 31)

  /**
   * @param sorted strings that are not empty, different from each other, in the order of their bytes without sign
   * @param cancellation counts the states
   */
  def apply(sorted: Array[Array[Byte]], cancellation: Cancellation): Automaton = {
    val tree = new StringTree(sorted, cancellation)
    val states = tree.size
    val columns = columnsOf(tree.labels)
    val width = 1 + columns.max
    val inTable = math.max(1, math.min(states, TableSize / width))
    val shorter, ending = new Array[Int](states)
    val table = new Array[Int](inTable * width)
    val automaton = new Automaton(
      tree.children,
      tree.labels,
      shorter,
      tree.strings,
      ending,
      columns,
      width,
      table
    )
    // The needs of shorter states are known when their turn comes.
    var s = 0
    while (s < states) {
      cancellation.count(1)
      val parent = tree.parents(s)
      if (parent > 0) shorter(s) = unflagged(automaton.next(shorter(parent), tree.labels(s)))
      ending(s) = if (tree.strings(shorter(s)) >= 0) shorter(s) else ending(shorter(s))
      if (s < inTable) {
        if (s > 0) System.arraycopy(table, shorter(s) * width, table, s * width, width)
        var child = tree.children(s)
        while (child < tree.children(s + 1)) {
          table(s * width + columns(tree.labels(child) & 0xff)) = child
          child += 1
        }
      }
      s += 1
    }
    var i = 0
    while (i < table.length) {
      if (automaton.isEnding(table(i))) table(i) = flagged(table(i))
      i += 1
    }
    automaton
  }

  /** For each byte its column. The first column is for all bytes that are no label, if there are any. */
  private def columnsOf(labels: Array[Byte]): Array[Int] = {
    val isLabel = new Array[Boolean](256)
    var s = 1
    while (s < labels.length) {
      isLabel(labels(s) & 0xff) = true
      s += 1
    }
    val columns = new Array[Int](256)
    var next = if (isLabel.contains(false)) 1 else 0
    var b = 0
    while (b < 256) {
      if (isLabel(b)) {
        columns(b) = next
        next += 1
      }
      b += 1
    }
    columns
  }
}
