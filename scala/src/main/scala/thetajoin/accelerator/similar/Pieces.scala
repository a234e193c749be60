package thetajoin.accelerator.similar

import java.util.Arrays

import org.apache.spark.sql.execution.thetabridge.Cancellation

import thetajoin.kit.keys.{KeyBytes, LongTable}
import thetajoin.kit.{IntsBuilder, LongOrder, LongsBuilder}

/**
 * Texts of the same length, with the same number of edits, are of one class. The text of a class is cut into one piece
 * more than there are edits, all of about the same length. Texts that are not longer than their edits are one piece
 * without characters.
 *
 * @param lengths of the texts of each class
 * @param edits of each class
 * @param of the class of each row; -1 for a row that matches nothing, since its edits are below 0
 */
private[similar] final class TextClasses(
    val lengths: Array[Int],
    val edits: Array[Int],
    val of: Array[Int]
) extends Serializable {
  def bytes: Long = 4L * (2 * lengths.length + of.length)
  def count: Int = lengths.length
  def pieces(kind: Int): Int = if (lengths(kind) <= edits(kind)) 1 else edits(kind) + 1

  /** Where a piece starts. The last ones are longer by one character if they are not all of one length. */
  def start(kind: Int, piece: Int): Int =
    if (lengths(kind) <= edits(kind)) 0
    else {
      val all = edits(kind) + 1
      piece * (lengths(kind) / all) + math.max(0, piece - (all - lengths(kind) % all))
    }

  def length(kind: Int, piece: Int): Int =
    if (lengths(kind) <= edits(kind)) 0
    else if (piece == edits(kind)) lengths(kind) - start(kind, piece)
    else start(kind, piece + 1) - start(kind, piece)
}

private[similar] object TextClasses {

  /** @param starts where the text of each row starts, and the end of the last */
  def apply(starts: Array[Int], edits: Array[Int], rows: Int): TextClasses = {
    def kind(row: Int) = ((starts(row + 1) - starts(row)).toLong << 32) | edits(row)
    val kinds = Array.range(0, rows).filter(edits(_) >= 0).map(kind).distinct.sorted
    val table = LongTable.numbered(kinds)
    new TextClasses(
      kinds.map(k => (k >> 32).toInt),
      kinds.map(_.toInt),
      Array.tabulate(rows)(row => if (edits(row) < 0) -1 else table.find(kind(row)))
    )
  }
}

/** Hashes of parts of one text after another. */
private[similar] final class PieceHashes {
  private var sums, powers = Array(0L)

  def read(letters: Array[Int], from: Int, until: Int): Unit = {
    val length = until - from
    if (sums.length <= length) {
      sums = new Array[Long](2 * length + 1)
      powers = new Array[Long](2 * length + 1)
      powers(0) = 1L
      var i = 1
      while (i < powers.length) {
        powers(i) = powers(i - 1) * PieceHashes.Base
        i += 1
      }
    }
    var i = 0
    while (i < length) {
      sums(i + 1) = sums(i) * PieceHashes.Base + letters(from + i)
      i += 1
    }
  }

  /** Of the characters `[from, until)` as a piece of a class, next to keys of a group. */
  def of(kind: Int, group: Int, piece: Int, from: Int, until: Int): Long = {
    val letters = if (from == until) 0L else sums(until) - sums(from) * powers(until - from)
    KeyBytes.mix(KeyBytes.mix(letters, (kind.toLong << 32) | piece), group + 1L)
  }
}

private object PieceHashes {

  /** Any odd number with many bits. */
  private final val Base = 0x9e3779b97f4a7c15L
}

/**
 * The rows that have a piece, by the hash of the piece. Rows stand next to their signatures, in the order in which they
 * are read.
 *
 * @param starts where the rows of each hash start, and the end of the last
 */
private[similar] final class Pieces(
    table: LongTable,
    val starts: Array[Int],
    val rows: Array[Int],
    val signatures: Array[Long]
) extends Serializable {
  def bytes: Long = table.bytes + 4L * (starts.length + rows.length) + 8L * signatures.length

  /** The number of a hash; -1 if no row has it. */
  def find(hash: Long): Int = table.find(hash)
}

private[similar] object Pieces {
  def apply(rows: TextRows, classes: TextClasses, cancellation: Cancellation): Pieces = {
    val (hashes, rowOf) = (new LongsBuilder, new IntsBuilder)
    val hashing = new PieceHashes
    var row = 0
    while (row < rows.size) {
      val kind = classes.of(row)
      if (kind >= 0) {
        hashing.read(rows.texts, rows.starts(row), rows.starts(row + 1))
        var piece = 0
        while (piece < classes.pieces(kind)) {
          val start = classes.start(kind, piece)
          val end = start + classes.length(kind, piece)
          hashes.add(hashing.of(kind, rows.groupOf(row), piece, start, end))
          rowOf.add(row)
          piece += 1
        }
        cancellation.count(rows.length(row))
      }
      row += 1
    }
    byHash(hashes, rowOf, rows.signatures)
  }

  /**
   * @param hashes of all pieces
   * @param rows the row of each piece
   * @param signatures by row
   */
  private def byHash(hashes: LongsBuilder, rows: IntsBuilder, signatures: Array[Long]): Pieces = {
    val (all, order) = (hashes.array, LongOrder.ascending(hashes.array, hashes.length))
    val distinct = new Array[Long](order.length)
    val starts = new Array[Int](order.length + 1)
    var found = 0
    var i = 0
    while (i < order.length) {
      if (found == 0 || distinct(found - 1) != all(order(i))) {
        distinct(found) = all(order(i))
        starts(found) = i
        found += 1
      }
      i += 1
    }
    starts(found) = order.length
    i = 0
    while (i < order.length) {
      order(i) = rows.array(order(i))
      i += 1
    }
    new Pieces(
      LongTable.numbered(Arrays.copyOf(distinct, found)),
      Arrays.copyOf(starts, found + 1),
      order,
      LongOrder.at(signatures, order)
    )
  }
}
