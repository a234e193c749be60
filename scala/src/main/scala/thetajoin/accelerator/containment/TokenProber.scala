package thetajoin.accelerator.containment

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{BytesProber, ListProber, LongsProber, Prober}
import thetajoin.kit.IntsBuilder
import thetajoin.kit.keys.ValueNumbers

/**
 * How an index finds the tokens of probe rows.
 *
 * @param vocabulary the tokens of build rows
 * @param rows how many build rows there are
 */
final class TokenFinder(
    form: TokenForm,
    val vocabulary: ValueNumbers,
    probesArrays: Boolean,
    val rows: Int
) extends Serializable {
  def bytes: Long = vocabulary.bytes
  def newReader(): TokenReader = new TokenReader(form, probesArrays, vocabulary)
}

/** A single value is handed over as it is. Arrays, and values with equality keys, are handed over as rows. */
private[containment] abstract class TokenProber(finder: TokenFinder)
    extends Prober
    with LongsProber
    with BytesProber {
  protected final val reader: TokenReader = finder.newReader()

  /** The reader has the tokens of the next probe row. */
  protected def begin(): Unit

  final override def probe(row: InternalRow): Unit = {
    reader.read(row)
    begin()
  }

  final override def probe(keys: Array[Long]): Boolean = {
    reader.read(keys)
    begin()
    true
  }

  final override def probe(base: AnyRef, offset: Long, size: Int): Unit = {
    reader.read(base, offset, size)
    begin()
  }
}

/** Gives lists of rows: the rows of a token as they are stored, or rows that are collected. */
private[containment] abstract class TokenListProber(finder: TokenFinder)
    extends TokenProber(finder)
    with ListProber {
  protected final val collected = new IntsBuilder
  private var list = Array.emptyIntArray

  final override def positions: Array[Int] = list

  protected final def give(rows: Array[Int], from: Int, until: Int): Boolean = {
    list = rows
    runFrom = from
    runUntil = until
    from < until
  }

  protected final def give(postings: Postings, token: Int): Boolean =
    give(postings.rows, postings.starts(token), postings.starts(token + 1))

  protected final def giveCollected(): Boolean = give(collected.array, 0, collected.length)
}

/** A list for each probe row, made when it is first asked for. */
private[containment] abstract class OneListProber(finder: TokenFinder)
    extends TokenListProber(finder) {
  private var isPending = false

  protected def found(): Boolean

  final override protected def begin(): Unit = isPending = true

  final override def next(): Boolean = {
    val wasPending = isPending
    isPending = false
    wasPending && found()
  }
}
