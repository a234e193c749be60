package thetajoin.accelerator.patterns

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, IndexSpec, OrderedIndex}
import thetajoin.kit.PairValues
import thetajoin.kit.keys.{Grouping, KeyedNumbers}

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
    val Grouping(starts, order) = keys.grouped(TextOrder.sorted(arrived, backwards = false))
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
  private def backwards(texts: Array[Array[Byte]], starts: Array[Int]): Array[Int] =
    Grouping(starts, Array.range(0, texts.length))
      .sortedBy(TextOrder.sorted(texts, backwards = true)).order
}
