package thetajoin.accelerator.similar

import org.apache.spark.sql.execution.thetabridge.Cancellation
import org.apache.spark.unsafe.types.UTF8String

import thetajoin.kit.{IntsBuilder, Stamps}

/** The text of a probe row, read once, and its distance from build rows. */
private[similar] final class ProbeText(rows: TextRows) {
  private val letters = new Letters
  private val bits = new BitDistance
  private val table = new EditDistance
  private var areBitsRead = false
  val hashes = new PieceHashes
  var signature = 0L

  def read(text: UTF8String): Unit = {
    letters.read(text)
    hashes.read(letters.array, 0, letters.length)
    signature = Letters.signature(letters.array, 0, letters.length)
    areBitsRead = false
  }

  def length: Int = letters.length

  /** See [[Letters.pairs]]. Computed at each call. */
  def pairs: Long = Letters.pairs(letters.array, 0, letters.length)

  def isWithin(row: Int, edits: Int): Boolean = {
    val (from, until) = (rows.starts(row), rows.starts(row + 1))
    if (length > BitDistance.MostLetters)
      table.isWithin(letters.array, 0, length, rows.texts, from, until, edits)
    else {
      if (!areBitsRead) bits.read(letters.array, length)
      areBitsRead = true
      bits.isWithin(rows.texts, from, until, edits)
    }
  }
}

/** Finds the rows that are few edits from a text, one text after another. */
private[similar] final class PieceSearch(
    most: MostEdits,
    rows: TextRows,
    classes: TextClasses,
    pieces: Pieces,
    cancellation: Cancellation
) {
  private val seen = new Stamps(rows.size)
  private var text: ProbeText = _
  private var group = 0

  /** The rows that the last search has found. */
  val found = new IntsBuilder

  def apply(text: ProbeText, group: Int): Unit = {
    this.text = text
    this.group = group
    found.clear()
    seen.restart()
    val near = classesNear(text.length)
    var i = 0
    while (i < near.length) {
      search(near(i))
      i += 1
    }
  }

  /** The classes of texts that may match a text of some length, for the lengths that were met. */
  private var near = new Array[Array[Int]](64)

  private def classesNear(length: Int): Array[Int] = {
    if (length >= near.length) near = java.util.Arrays.copyOf(near, 2 * length)
    if (near(length) == null)
      near(length) = Array.range(0, classes.count).filter { kind =>
        math.abs(classes.lengths(kind) - length) <= mostEdits(kind, length)
      }
    near(length)
  }

  private def mostEdits(kind: Int, length: Int): Int =
    most.ofPair(classes.edits(kind), classes.lengths(kind), length)

  /**
   * Looks for each piece where it may stand in the probe row's text: the edits ahead of it move it, and so do the edits
   * behind it, if it is seen from the end. One piece more than the edits has no edit of its own, and as many edits
   * ahead of it as there are pieces at most.
   */
  private def search(kind: Int): Unit = {
    val edits = mostEdits(kind, text.length)
    val (cut, longer) = (classes.edits(kind), text.length - classes.lengths(kind))
    if (classes.lengths(kind) <= cut) compare(kind, 0, 0, 0, edits)
    else {
      var piece = 0
      while (piece <= cut) {
        val (start, length) = (classes.start(kind, piece), classes.length(kind, piece))
        val behind = cut - piece
        var from = math.max(0, math.max(start - piece, start + longer - behind))
        val last =
          math.min(text.length - length, math.min(start + piece, start + longer + behind))
        while (from <= last) {
          compare(kind, piece, from, from + length, edits)
          from += 1
        }
        piece += 1
      }
    }
  }

  /** Compares the rows of a class that have these characters of the probe row's text as their piece. */
  private def compare(kind: Int, piece: Int, from: Int, until: Int, edits: Int): Unit = {
    val hash = pieces.find(text.hashes.of(kind, group, piece, from, until))
    if (hash >= 0) {
      var i = pieces.starts(hash)
      val end = pieces.starts(hash + 1)
      cancellation.count(end - i)
      while (i < end) {
        if (Letters.fewestEdits(text.signature, pieces.signatures(i)) <= edits)
          test(pieces.rows(i), kind, edits)
        i += 1
      }
    }
  }

  private def test(row: Int, kind: Int, edits: Int): Unit =
    if (
      rows.groupOf(row) == group && classes.of(row) == kind && seen.add(row) &&
      text.isWithin(row, edits)
    ) found.add(row)
}
