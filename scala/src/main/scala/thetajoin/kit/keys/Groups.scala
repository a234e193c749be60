package thetajoin.kit.keys

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

import thetajoin.kit.KeyTypes

/**
 * The structure by which an index finds the group of a probe row. Groups are numbered from 0.
 */
sealed abstract class Groups extends Serializable {
  def bytes: Long
}

object Groups {

  /** There is no key: all rows are group 0, if there are any. */
  final case class One(isEmpty: Boolean) extends Groups {
    override def bytes: Long = 0L
  }

  /** The first number of a key row is its key. */
  final case class OfNumbers(table: LongTable) extends Groups {
    override def bytes: Long = table.bytes
  }

  /** The first columns of a key row, of these types, are its key. */
  final case class OfBytes(table: KeyTable, types: KeyTypes) extends Groups {
    override def bytes: Long = table.bytes
  }

  /** Finds the groups of key rows. For one task. */
  final class Finder(groups: Groups) {
    private val numbers = groups match {
      case OfNumbers(table) => table
      case _ => null
    }
    private val bytes = groups match {
      case OfBytes(table, types) => new BytesFinder(table, types)
      case _ => null
    }

    /** The group of a key row; -1 if there is none. */
    def find(row: InternalRow): Int =
      if (bytes != null) bytes.find(row)
      else if (numbers != null) numbers.find(row.getLong(0))
      else 0
  }

  private final class BytesFinder(table: KeyTable, types: KeyTypes) {
    private val keyBytes = KeyBytes(types.all)
    private val keysOf = UnsafeProjection.create(types.all.toArray)

    def find(row: InternalRow): Int = {
      val key: UnsafeRow = keysOf(row)
      table.find(key.getBaseObject, keyBytes.offset(key), keyBytes.size(key))
    }
  }
}
