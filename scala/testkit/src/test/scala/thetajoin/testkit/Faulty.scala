package thetajoin.testkit

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.contract._
import thetajoin.reason.{Reason, ReasonCode}

/** Serves `(a.x + b.y) % 4 = 0`, with a fault that tests have to find. */
abstract class Faulty(fault: String) extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = s"faulty$fault"
  override val summary: String = "(a.x + b.y) % 4 = 0, by residues"

  override def wireClasses: Seq[Class[_]] =
    if (fault == "secret") Nil else Seq(classOf[FaultyIndex])

  override def offer(request: JoinRequest): Either[Reason, Offer] =
    request.shape.conjuncts.map(_.source).collectFirst {
      case e @ EqualTo(
            Remainder(Add(x: Attribute, y: Attribute, _), Literal(4L, LongType), _),
            _
          ) =>
        val (build, probe) = if (request.build.exists(_.semanticEquals(x))) (x, y) else (y, x)
        val share = if (fault == "cost") 2.0 else 0.25
        Offer(Seq(e), Seq(e), Seq(build), Seq(probe), FaultySpec(fault), Cost(share, 50, 100))
    }.filterNot(_ => fault == "declines").toRight(ReasonCode.NoComparison("no sum of x and y"))
}

class Faultless extends Faulty("less")
class FaultyLacks extends Faulty("lacks")
class FaultyTwice extends Faulty("twice")
class FaultyBytes extends Faulty("bytes")
class FaultyFalls extends Faulty("falls")
class FaultySecret extends Faulty("secret")
class FaultyCost extends Faulty("cost")
class FaultyDeclines extends Faulty("declines")
class FaultyEndless extends Faulty("endless")

final case class FaultySpec(fault: String) extends IndexSpec {
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = new FaultyBuilder(fault)
}

private final class FaultyBuilder(fault: String) extends IndexBuilder {
  private val residues = mutable.ArrayBuffer.empty[Int]

  override def add(keys: InternalRow): Unit =
    residues += Math.floorMod(keys.getLong(0), 4L).toInt: Unit

  override def bytes: Long = if (fault == "falls") 1000L - residues.size else 24L * residues.size

  override def finish(): OrderedIndex = {
    val order = residues.indices.sortBy(residues(_)).toArray
    val starts = Array.tabulate(5)(residue => residues.count(_ < residue))
    val twice = if (fault == "twice") order.take(1) else Array.emptyIntArray
    OrderedIndex(new FaultyIndex(fault, starts), order ++ twice)
  }
}

final class FaultyIndex(fault: String, starts: Array[Int]) extends JoinIndex {
  override def bytes: Long = if (fault == "bytes") 1L << 30 else 64

  override def newProber(): Prober = new SingleRunProber {
    override def probe(keys: InternalRow): Unit = {
      val end = System.nanoTime() + 7000000000L
      if (fault == "endless") while (System.nanoTime() < end) Thread.onSpinWait()
      val residue = Math.floorMod(-keys.getLong(0), 4L).toInt
      run(starts(residue), starts(residue + 1) - (if (fault == "lacks") 1 else 0))
    }
  }
}
