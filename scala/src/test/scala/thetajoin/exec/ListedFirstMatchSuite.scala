package thetajoin.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.accelerator.nearest.NearestAccelerator
import thetajoin.contract._
import thetajoin.reason.Reason
import thetajoin.{Settings, SharedSession}

/** Gives what `nearest` gives, in lists of positions. */
final class ListedAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "listed"
  override val summary: String = "the candidates of nearest in lists"
  override def offer(request: JoinRequest): Either[Reason, Offer] =
    NearestAccelerator.offer(request).map(o => o.copy(spec = ListedSpec(o.spec)))
}

final case class ListedSpec(of: IndexSpec) extends IndexSpec {
  override def keyErrors: KeyErrors = of.keyErrors
  override def forOne: IndexSpec = ListedSpec(of.forOne)
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = new ListedBuilder(
    of.newBuilder(keyTypes)
  )
}

private final class ListedBuilder(of: IndexBuilder) extends IndexBuilder {
  override def add(keys: InternalRow): Unit = of.add(keys)
  override def bytes: Long = of.bytes
  override def finish(): OrderedIndex = {
    val built = of.finish()
    built.copy(index = new ListedIndex(built.index, built.order.length))
  }
}

final class ListedIndex(of: JoinIndex, rows: Int) extends JoinIndex {
  override def bytes: Long = of.bytes
  override def newProber(): Prober = new ListedProber(of.newProber(), rows)
}

/** The place of a position counts from the other end, so that one taken for the other is seen. */
private final class ListedProber(of: Prober, rows: Int) extends Prober with ListProber {
  override val positions: Array[Int] = Array.range(0, rows).reverse
  private var at = 0
  private var end = 0

  override def probe(keys: InternalRow): Unit = {
    of.probe(keys)
    at = 0
    end = 0
  }

  override def next(): Boolean =
    (at < end || of.next() && {
      at = of.from
      end = of.until
      true
    }) && {
      runFrom = rows - 1 - at
      runUntil = runFrom + 1
      at += 1
      true
    }
}

class ListedFirstMatchSuite extends AnyFunSuite with SharedSession {
  test("the first match of ranked candidates that are listed") {
    spark.range(40).selectExpr("id", "IF(id % 9 = 0, NULL, id * 7 % 40) AS t", "id % 3 AS k")
      .createOrReplaceTempView("l")
    spark.range(30).selectExpr("id AS no", "IF(id % 8 = 0, NULL, id * 11 % 37) AS u", "id % 4 AS m")
      .createOrReplaceTempView("r")
    withConf(
      Settings.Accelerators.key -> classOf[ListedAccelerator].getName,
      Settings.acceleratorEnabled("nearest").key -> "false"
    ) {
      onEveryPath { _ =>
        for {
          join <- Seq("JOIN", "LEFT JOIN")
          k <- Seq(1, 2)
          where <- Seq("u <= t", "m = k AND u <= t", "u <= t AND (id + no) % 3 <> 1")
        } {
          val sql =
            s"SELECT id, no FROM l $join LATERAL (SELECT no, u FROM r WHERE $where ORDER BY u DESC LIMIT $k)"
          assertSame(sql, "listed")
        }
      }
    }
  }
}
