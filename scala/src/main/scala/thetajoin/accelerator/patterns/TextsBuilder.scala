package thetajoin.accelerator.patterns

import java.util.BitSet

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, OrderedIndex}
import thetajoin.kit.PairValues
import thetajoin.kit.keys.{Grouping, KeyedNumbers}

/** Sorts texts, and lists the texts that have three bytes in a row. */
private[patterns] final class TextsBuilder(
    form: PatternForm,
    isExact: Boolean,
    asksFirst: Boolean,
    types: Seq[DataType]
) extends IndexBuilder {
  private val keys = new KeyedNumbers(types, values = 0)
  private val reading = form.reading
  private val texts = mutable.ArrayBuffer.empty[Array[Byte]]
  private var textBytes = 0L

  /** The rows of texts that don't tell which strings they have. */
  private val unread = new BitSet

  override def add(row: InternalRow): Unit = {
    keys.add(row)
    val text = row.getUTF8String(row.numFields - 1)
    if (!reading.tells(text)) unread.set(texts.length)
    texts += reading.of(text)
    textBytes += texts.last.length
  }

  /** Besides the texts: places in four orders, and for each byte of them a place at the three bytes that it starts. */
  override def bytes: Long =
    keys.bytes + (PairValues.BytesOfValue + 4 * 4L) * texts.length +
      (if (form.places.contains(Place.Anywhere)) 5L else 1L) * textBytes

  override def finish(): OrderedIndex = {
    val arrived = texts.toArray
    val Grouping(starts, order) = keys.grouped(sorted(arrived, backwards = false))
    val ordered = order.map(arrived(_))
    val places = form.places
    val index = new Texts(
      keys.groups,
      starts,
      ordered,
      if (places.contains(Place.End)) backwards(ordered, starts) else null,
      if (places.contains(Place.Anywhere)) trigrams(ordered) else null,
      Array.range(0, order.length).filter(position => unread.get(order(position))),
      form.test.map(new PairValues(_, isLeft = true, ordered)).orNull,
      form,
      isExact,
      asksFirst
    )
    OrderedIndex(index, order)
  }

  private def trigrams(texts: Array[Array[Byte]]): Trigrams =
    Trigrams.of(if (form.mayIgnoreCase) texts.map(Folding.of) else texts, cancellation)

  /** The positions of each group, by texts from their ends. */
  private def backwards(texts: Array[Array[Byte]], starts: Array[Int]): Array[Int] =
    Grouping(starts, Array.range(0, texts.length))
      .sortedBy(sorted(texts, backwards = true)).order

  private def sorted(texts: Array[Array[Byte]], backwards: Boolean): Array[Int] =
    TextOrder.sorted(texts, backwards, cancellation)
}
