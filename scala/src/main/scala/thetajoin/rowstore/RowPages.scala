package thetajoin.rowstore

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.Platform

/**
 * Rows as bytes, packed into pages in position order. A row lies in one page; one that is larger than a page
 * gets a page of its own. `places(p)` is the page number of row p in the upper half, the offset in the lower.
 */
final class RowPages(fields: Int, pages: Array[Array[Byte]], places: Array[Long], sizes: Array[Int])
    extends Serializable {
  def rows: Int = places.length
  def bytes: Long = pages.iterator.map(_.length.toLong).sum + 12L * places.length

  /** A reader for one task. */
  def newCursor(): RowCursor = new RowCursor(fields, pages, places, sizes)

  /** These rows in another order. */
  def reordered(order: Array[Int]): RowPages = {
    val packer = new RowPacker(fields)
    val cursor = newCursor()
    order.foreach(p => packer.add(cursor.at(p)))
    packer.result()
  }
}

object RowPages {
  def of(rows: Iterator[InternalRow], types: Seq[DataType]): RowPages = {
    val toUnsafe = UnsafeProjection.create(types.toArray)
    val packer = new RowPacker(types.size)
    rows.foreach(row => packer.add(toUnsafe(row)))
    packer.result()
  }
}

/** The same row object each time, pointed at another row. */
final class RowCursor(
    fields: Int,
    pages: Array[Array[Byte]],
    places: Array[Long],
    sizes: Array[Int]
) {
  private val row = new UnsafeRow(fields)

  def at(position: Int): UnsafeRow = {
    val place = places(position)
    row.pointTo(
      pages((place >>> 32).toInt),
      Platform.BYTE_ARRAY_OFFSET + (place & 0x7fffffffL),
      sizes(position)
    )
    row
  }
}

/** Packs copies of rows. */
private[thetajoin] final class RowPacker(fields: Int) {
  private val pages = mutable.ArrayBuffer.empty[Array[Byte]]
  private val places = new mutable.ArrayBuilder.ofLong
  private val sizes = new mutable.ArrayBuilder.ofInt
  private var page = Array.emptyByteArray
  private var used = 0
  private var full = 0L

  /** Of all rows, with their places and sizes. */
  def bytes: Long = full + page.length + (8L + 4L) * places.length

  def add(row: UnsafeRow): Unit = {
    val size = row.getSizeInBytes
    if (size > page.length - used) startPage(size)
    row.writeToMemory(page, Platform.BYTE_ARRAY_OFFSET + used)
    places += (pages.size.toLong << 32) | used
    sizes += size
    used += size
  }

  def result(): RowPages = {
    closePage()
    new RowPages(fields, pages.toArray, places.result(), sizes.result())
  }

  private def startPage(needed: Int): Unit = {
    val grown = math.min(RowPacker.MaxPageBytes, math.max(RowPacker.MinPageBytes, page.length * 2))
    if (page.length > 0) closePage()
    page = new Array[Byte](math.max(needed, grown))
    used = 0
  }

  private def closePage(): Unit = {
    pages += (if (used == page.length) page else page.take(used))
    full += used
  }
}

private object RowPacker {
  val MinPageBytes: Int = 1 << 12
  val MaxPageBytes: Int = 1 << 24
}
