package thetajoin.accelerator.similar

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, IndexSpec, OrderedIndex}
import thetajoin.kit.keys.Groupings
import thetajoin.kit.{IntsBuilder, LongsBuilder}

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
  private val grouping = Groupings.by(types)
  private val keysOf = UnsafeProjection.create(types.toArray)
  private val letters = new Letters
  private val texts, starts, edits = new IntsBuilder
  private var pieces = 0L
  starts.add(0)

  override def add(row: InternalRow): Unit = {
    grouping.add(keysOf(row))
    letters.read(row.getUTF8String(spec.keys))
    var i = 0
    while (i < letters.length) {
      texts.add(letters.array(i))
      i += 1
    }
    starts.add(texts.length)
    val ofRow = if (spec.most == MostEdits.OfRow) row.getInt(spec.keys + 1) else 0
    val most = spec.most(letters.length, ofRow)
    edits.add(most)
    pieces += math.max(most, 0) + 1L
  }

  /** Pieces have a hash, a row, a signature and a slot of a table each, and are sorted. */
  override def bytes: Long =
    grouping.bytes + 2 * (texts.bytes + starts.bytes + edits.bytes) +
      60L * math.min(texts.length.toLong, pieces)

  override def finish(): OrderedIndex = {
    val groupOf = grouping.grouped().groupOf
    val classes = TextClasses(starts.array, edits.array, edits.length)
    val (hashes, rows) = (new LongsBuilder, new IntsBuilder)
    val hashing = new PieceHashes
    var row = 0
    while (row < edits.length) {
      val kind = classes.of(row)
      if (kind >= 0) {
        val (from, until) = (starts.array(row), starts.array(row + 1))
        hashing.read(texts.array, from, until)
        var piece = 0
        while (piece < classes.pieces(kind)) {
          val start = classes.start(kind, piece)
          hashes.add(
            hashing.of(kind, groupOf(row), piece, start, start + classes.length(kind, piece))
          )
          rows.add(row)
          piece += 1
        }
        cancellation.count(until - from)
      }
      row += 1
    }
    val signatures = Array.tabulate(edits.length)(row =>
      Letters.signature(texts.array, starts.array(row), starts.array(row + 1))
    )
    val index = new EditIndex(
      spec.most,
      spec.keys,
      grouping.groups,
      groupOf,
      classes,
      Pieces(hashes, rows, signatures),
      texts.result(),
      starts.result()
    )
    OrderedIndex(index, Array.range(0, edits.length))
  }
}
