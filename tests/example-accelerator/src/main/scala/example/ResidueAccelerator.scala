package example

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.condition.JoinShape
import thetajoin.contract.{Accelerator, Cost, IndexBuilder, IndexSpec, JoinIndex, JoinRequest, Offer, OrderedIndex, Prober, SingleRunProber}
import thetajoin.kit.{LongOrder, LongsBuilder}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * An accelerator of your own, for `(a.x + b.y) % n = 0` with whole numbers of 64 bits and a
 * constant n: a build row is a candidate only of probe rows with the opposite residue.
 *
 * {{{
 *   n = 3, b.y:  4 5 7      by residue: 1 -> {4, 7}, 2 -> {5}      a.x = 8 has residue 2, looks up 1
 * }}}
 *
 * The sum may overflow, which raises an error or wraps around, so that the condition is checked
 * again on candidates: it is served, but not exactly. Rows are stored by residue, hence the
 * candidates of a key are one run.
 */
final class ResidueAccelerator extends Accelerator {
  override val id: String = "residue"
  override val summary: String = "(a + b) % n = 0: build rows are grouped by residue."

  override def offer(request: JoinRequest): Either[Reason, Offer] = {
    val (build, probe) = (AttributeSet(request.build), AttributeSet(request.probe))
    request.shape.conjuncts
      .map(_.source)
      .collectFirst { case served @ SumDivisible(x: Attribute, y: Attribute, n) =>
        if (build.contains(x) && probe.contains(y)) Some((served, x, y, n))
        else if (build.contains(y) && probe.contains(x)) Some((served, y, x, n))
        else None
      }
      .flatten
      .map { case (served, ofBuild, ofProbe, n) =>
        Offer(Seq(served), Nil, Seq(ofBuild), Seq(ofProbe), ResidueSpec(n), Cost(share = 1.0 / n, perProbe = 50, perBuildRow = 100))
      }
      .toRight(ReasonCode.NoComparison("(a + b) % n = 0 between columns of both sides"))
  }
}

/** Matches `(x + y) % n = 0`. */
private object SumDivisible {
  def unapply(e: Expression): Option[(Expression, Expression, Long)] = e match {
    case EqualTo(Remainder(Add(x, y, _), Literal(n: Long, LongType), _), Literal(0L, LongType))
        if n > 0 && x.dataType == LongType =>
      Some((x, y, n))
    case _ => None
  }
}

final case class ResidueSpec(n: Long) extends IndexSpec {
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = new ResidueBuilder(n)
}

private final class ResidueBuilder(n: Long) extends IndexBuilder {
  private val residues = new LongsBuilder

  override def add(keys: InternalRow): Unit = residues.add(Math.floorMod(keys.getLong(0), n))

  override def finish(): OrderedIndex = {
    val order = LongOrder.ascending(residues.array, residues.length)
    val starts = mutable.Map.empty[Long, (Int, Int)]
    residues.inOrder(order).zipWithIndex.foreach { case (residue, position) =>
      val (from, _) = starts.getOrElse(residue, (position, position))
      starts(residue) = (from, position + 1)
    }
    OrderedIndex(new ResidueIndex(n, starts.toMap), order)
  }
}

final class ResidueIndex(n: Long, runs: Map[Long, (Int, Int)]) extends JoinIndex {
  override def bytes: Long = 48L * runs.size
  override def newProber(): Prober = new SingleRunProber {
    override def probe(keys: InternalRow): Unit = {
      val opposite = Math.floorMod(-Math.floorMod(keys.getLong(0), n), n)
      val (from, until) = runs.getOrElse(opposite, (0, 0))
      run(from, until)
    }
  }
}
