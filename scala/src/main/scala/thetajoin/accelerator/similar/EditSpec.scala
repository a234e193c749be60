package thetajoin.accelerator.similar

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, IndexSpec, OrderedIndex}
import thetajoin.kit.IntsBuilder
import thetajoin.kit.keys.{Grouping, Groupings}

/**
 * Texts that are few edits apart. A build key row has the keys that must be equal, the text, and the most edits if they
 * are a column. A probe key row has the keys and the text.
 *
 * @param keys how many columns must be equal
 */
final case class EditSpec(keys: Int, most: MostEdits) extends IndexSpec {
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new EditBuilder(this, keyTypes.take(keys))
}

private final class EditBuilder(spec: EditSpec, types: Seq[DataType]) extends IndexBuilder {
  private val texts = new TextsBuilder(spec.keys, types)
  private val edits = new IntsBuilder
  private var pieces = 0L

  override def add(row: InternalRow): Unit = {
    texts.add(row)
    val ofRow = if (spec.most == MostEdits.OfRow) row.getInt(spec.keys + 1) else 0
    val most = spec.most(texts.lastLength, ofRow)
    edits.add(most)
    pieces += math.max(most, 0) + 1L
  }

  override def bytes: Long = texts.bytes + 2 * edits.bytes + texts.bytesOfPieces(pieces)

  override def finish(): OrderedIndex = {
    val rows = texts.rows(texts.grouped())
    OrderedIndex(
      EditIndex(spec.most, rows, edits.result(), cancellation),
      Array.range(0, rows.size)
    )
  }
}

/** The texts of build rows, as they come. */
private final class TextsBuilder(keys: Int, types: Seq[DataType]) {
  private val grouping = Groupings.by(types)
  private val keysOf = UnsafeProjection.create(types.toArray)
  private val letters = new Letters
  private val texts, starts = new IntsBuilder
  starts.add(0)

  def add(row: InternalRow): Unit = {
    grouping.add(keysOf(row))
    letters.read(row.getUTF8String(keys))
    var i = 0
    while (i < letters.length) {
      texts.add(letters.array(i))
      i += 1
    }
    starts.add(texts.length)
  }

  /** The characters of the last text. */
  def lastLength: Int = letters.length

  def bytes: Long = grouping.bytes + 2 * (texts.bytes + starts.bytes)

  def bytesOfPieces(pieces: Long): Long =
    TextsBuilder.BytesOfPiece * math.min(texts.length.toLong, pieces)

  /** Called once, after all rows. */
  def grouped(): Grouping = grouping.grouped()

  def rows(grouped: Grouping): TextRows =
    new TextRows(keys, grouping.groups, grouped.groupOf, texts.result(), starts.result())
}

private object TextsBuilder {

  /** Pieces have a hash, a row, a signature and a slot of a table each, and are sorted. */
  final val BytesOfPiece = 60L
}
