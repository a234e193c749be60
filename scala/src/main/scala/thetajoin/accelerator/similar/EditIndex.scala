package thetajoin.accelerator.similar

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.thetabridge.Cancellation

import thetajoin.contract.{JoinIndex, ListProber, Prober}
import thetajoin.kit.keys.Groups

/**
 * Texts that are few edits apart, by the method of Pass-Join: k edits leave one of k + 1 pieces of a text as it is, and
 * the other text has this piece near the same place. The rows with such a piece are compared.
 *
 * {{{
 *   build    "jonathan", 2 edits     jo nat han       hashes of the pieces, with length and edits
 *   probe    "jonatan", 7 to 9       jona, onat, ..   hashes of the parts that may be one of them
 * }}}
 */
final class EditIndex(
    val most: MostEdits,
    val rows: TextRows,
    val classes: TextClasses,
    val pieces: Pieces
) extends JoinIndex {
  override def bytes: Long = rows.bytes + classes.bytes + pieces.bytes

  override def newProber(): Prober = new EditProber(this)

  private[similar] def newSearch(cancellation: Cancellation): PieceSearch =
    new PieceSearch(most, rows, classes, pieces, cancellation)
}

private[similar] object EditIndex {

  /** @param edits of each row; a row matches nothing if they are below 0 */
  def apply(
      most: MostEdits,
      rows: TextRows,
      edits: Array[Int],
      cancellation: Cancellation
  ): EditIndex = {
    val classes = TextClasses(rows.starts, edits, rows.size)
    new EditIndex(most, rows, classes, Pieces(rows, classes, cancellation))
  }
}

private final class EditProber(index: EditIndex) extends Prober with ListProber {
  private val groups = new Groups.Finder(index.rows.groups)
  private val text = new ProbeText(index.rows)
  private val search = index.newSearch(cancellation)
  private var isPending = false

  override def positions: Array[Int] = search.found.array

  override def probe(row: InternalRow): Unit = {
    val group = groups.find(row)
    search.found.clear()
    if (group >= 0) {
      text.read(row.getUTF8String(index.rows.keys))
      search(text, group)
    }
    isPending = search.found.length > 0
  }

  override def next(): Boolean = {
    runFrom = 0
    runUntil = search.found.length
    val isNext = isPending
    isPending = false
    isNext
  }
}
