package thetajoin.accelerator.patterns

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, IndexSpec, OrderedIndex}
import thetajoin.kit.PairValues
import thetajoin.kit.keys.KeyedNumbers

/**
 * Texts by the strings that they have. A key row has the keys that must be equal, then the text or the pattern.
 *
 * @param keys how many columns must be equal
 * @param isExact whether candidates are not tested again, so that a pattern which can't be used has to raise its error
 * @param asksFirst whether one candidate of a pattern is enough
 */
private[patterns] final case class TextsSpec(
    keys: Int,
    form: PatternForm,
    isExact: Boolean,
    asksFirst: Boolean = false
) extends IndexSpec {
  override def forExistence: IndexSpec = copy(asksFirst = true)

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new TextsBuilder(this, keyTypes.take(keys))
}

private final class TextsBuilder(spec: TextsSpec, types: Seq[DataType]) extends IndexBuilder {
  private val keys = new KeyedNumbers(types, values = 0)
  private val texts = mutable.ArrayBuffer.empty[Array[Byte]]

  override def add(row: InternalRow): Unit = {
    keys.add(row)
    val text = row.getUTF8String(row.numFields - 1)
    val read = spec.form.reading.of(text.getBaseObject, text.getBaseOffset, text.numBytes)
    texts += (if (read == null) text.getBytes else read)
  }

  override def finish(): OrderedIndex = {
    val arrived = texts.toArray
    val sorted = TextOrder.sorted(arrived, backwards = false)
    val grouped = keys.grouped()
    // Without keys there is one group, be it empty.
    val starts = if (types.isEmpty) Array(0, sorted.length) else grouped.starts
    val order = if (types.isEmpty) sorted else grouped.sortedBy(sorted).order
    val ordered = order.map(arrived(_))
    val places = spec.form.places
    val index = new Texts(
      keys.groups,
      starts,
      ordered,
      if (places.contains(Place.End)) backwards(ordered, starts) else null,
      if (places.contains(Place.Anywhere)) Trigrams.of(ordered) else null,
      spec.form.test.map(new PairValues(_, isLeft = true, ordered)).orNull,
      spec.form,
      spec.isExact,
      spec.asksFirst
    )
    OrderedIndex(index, order)
  }

  /** The positions of each group, by texts from their ends. */
  private def backwards(texts: Array[Array[Byte]], starts: Array[Int]): Array[Int] = {
    val sorted = TextOrder.sorted(texts, backwards = true)
    if (types.isEmpty) sorted
    else {
      val next = starts.clone()
      val groupOf = new Array[Int](texts.length)
      for (group <- 0 until starts.length - 1)
        java.util.Arrays.fill(groupOf, starts(group), starts(group + 1), group)
      val grouped = new Array[Int](texts.length)
      sorted.foreach { position =>
        grouped(next(groupOf(position))) = position
        next(groupOf(position)) += 1
      }
      grouped
    }
  }
}
