package thetajoin.rowstore

import java.lang.reflect.Array

import scala.collection.mutable

/**
 * The full pieces of a growing list of primitive values, which is not copied to grow. The values that come last are
 * in an open piece, which the list has by itself.
 */
private[thetajoin] final class Pieces {
  private val full = mutable.ArrayBuffer.empty[AnyRef]
  private var values = 0

  /** How many values there are in all pieces. */
  def length: Int = values

  /** Adds an array; all of it is in use. */
  def add(piece: AnyRef): Unit = {
    full += piece
    values += Array.getLength(piece)
  }

  /** Copies all values and then the first `inOpen` of an open piece into one array. Each piece is released. */
  def moveTo(whole: AnyRef, open: AnyRef, inOpen: Int): Unit = {
    var at = 0
    full.indices.foreach { i =>
      val length = Array.getLength(full(i))
      System.arraycopy(full(i), 0, whole, at, length)
      at += length
      full(i) = null
    }
    System.arraycopy(open, 0, whole, at, inOpen)
    full.clear()
    values = 0
  }
}

private[thetajoin] object Pieces {

  /** A piece that is not the first has so many values. */
  final val Length = 1 << 15
}
