package thetajoin.accelerator.similar

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{JoinIndex, ListProber, Prober}
import thetajoin.kit.keys.Groups
import thetajoin.kit.{IntsBuilder, Stamps}

/**
 * Texts that are few edits apart, by the method of Pass-Join: k edits leave one of k + 1 pieces of a text as it is, and
 * the other text has this piece near the same place. The rows with such a piece are compared.
 *
 * {{{
 *   build    "jonathan", 2 edits     jo nat han       hashes of the pieces, with length and edits
 *   probe    "jonatan", 7 to 9       jona, onat, ..   hashes of the parts that may be one of them
 * }}}
 *
 * @param keys how many columns of a probe key row are ahead of the text
 * @param groupOf the group of each row, by its keys
 * @param texts the characters of all rows
 * @param starts where the text of each row starts
 */
final class EditIndex(
    val most: MostEdits,
    val keys: Int,
    val groups: Groups,
    val groupOf: Array[Int],
    val classes: TextClasses,
    val pieces: Pieces,
    val texts: Array[Int],
    val starts: Array[Int]
) extends JoinIndex {
  override def bytes: Long = groups.bytes + classes.bytes + pieces.bytes +
    4L * (groupOf.length + texts.length + starts.length)

  override def newProber(): Prober = new EditProber(this)
}

private final class EditProber(index: EditIndex) extends Prober with ListProber {
  private val classes = index.classes
  private val pieces = index.pieces
  private val groups = new Groups.Finder(index.groups)
  private val letters = new Letters
  private val hashes = new PieceHashes
  private val distance = new EditDistance
  private val seen = new Stamps(index.groupOf.length)
  private val found = new IntsBuilder
  private var signature = 0L
  private var group = 0
  private var isPending = false

  override def positions: Array[Int] = found.array

  override def probe(row: InternalRow): Unit = {
    found.clear()
    group = groups.find(row)
    if (group >= 0) {
      letters.read(row.getUTF8String(index.keys))
      hashes.read(letters.array, 0, letters.length)
      signature = Letters.signature(letters.array, 0, letters.length)
      seen.restart()
      val near = classesNear(letters.length)
      var i = 0
      while (i < near.length) {
        search(near(i))
        i += 1
      }
    }
    isPending = found.length > 0
  }

  override def next(): Boolean = {
    runFrom = 0
    runUntil = found.length
    val isNext = isPending
    isPending = false
    isNext
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
    index.most.ofPair(classes.edits(kind), classes.lengths(kind), length)

  /**
   * Looks for each piece where it may stand in the probe row's text: the edits ahead of it move it, and so do the edits
   * behind it, if it is seen from the end. One piece more than the edits has no edit of its own, and as many edits
   * ahead of it as there are pieces at most.
   */
  private def search(kind: Int): Unit = {
    val edits = mostEdits(kind, letters.length)
    val (cut, longer) = (classes.edits(kind), letters.length - classes.lengths(kind))
    if (classes.lengths(kind) <= cut) compare(kind, 0, 0, 0, edits)
    else {
      var piece = 0
      while (piece <= cut) {
        val (start, length) = (classes.start(kind, piece), classes.length(kind, piece))
        val behind = cut - piece
        var from = math.max(0, math.max(start - piece, start + longer - behind))
        val last =
          math.min(letters.length - length, math.min(start + piece, start + longer + behind))
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
    val hash = pieces.find(hashes.of(kind, group, piece, from, until))
    if (hash >= 0) {
      var i = pieces.starts(hash)
      val end = pieces.starts(hash + 1)
      cancellation.count(end - i)
      while (i < end) {
        if (Letters.mayBeWithin(signature, pieces.signatures(i), edits))
          test(pieces.rows(i), kind, edits)
        i += 1
      }
    }
  }

  private def test(row: Int, kind: Int, edits: Int): Unit =
    if (
      index.groupOf(row) == group && classes.of(row) == kind && seen.add(row) &&
      distance.isWithin(
        letters.array,
        0,
        letters.length,
        index.texts,
        index.starts(row),
        index.starts(row + 1),
        edits
      )
    ) found.add(row)
}
