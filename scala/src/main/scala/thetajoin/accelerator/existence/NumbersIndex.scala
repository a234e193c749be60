package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{JoinIndex, LongsMembership, Prober, SingleRunProber}

/** Finds by several numbers of 64 bits one row that matches: the only candidate, whatever others match. */
private[existence] abstract class NumbersIndex extends JoinIndex with LongsMembership {

  /** The position of a row that matches; -1 if none does. */
  def find(numbers: Array[Long]): Int

  final override def contains(numbers: Array[Long]): Boolean = find(numbers) >= 0
  override def newProber(): Prober = new NumbersProber(this)
}

private[existence] abstract class OneRowProber extends SingleRunProber {
  protected final def found(position: Int): Unit =
    if (position < 0) run(0, 0) else run(position, position + 1)
}

private[existence] class NumbersProber(index: NumbersIndex) extends OneRowProber {
  private var numbers = Array.emptyLongArray

  override def probe(row: InternalRow): Unit = {
    if (numbers.isEmpty) numbers = new Array[Long](row.numFields)
    var i = 0
    while (i < numbers.length) {
      numbers(i) = row.getLong(i)
      i += 1
    }
    found(index.find(numbers))
  }
}
