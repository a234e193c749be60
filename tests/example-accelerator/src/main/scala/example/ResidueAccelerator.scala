package example

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.contract._
import thetajoin.kit.{EqualKeys, LongsBuilder, SegmentProber, Segments}
import thetajoin.kit.keys.{Groups, KeyedNumbers}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * An accelerator of your own, for `(a.x + b.y) % n = 0` with whole numbers of 64 bits and a power of two n, also beside
 * equality keys: a build row is a candidate only of probe rows with the same keys and the opposite residue.
 *
 * {{{
 *   n = 4, b.y:  4 5 9      by residue: 0 -> {4}, 1 -> {5, 9}      a.x = 7 asks for residue 1
 * }}}
 *
 * The sum may overflow. If it wraps around, it does so by 2^64, which n divides, and no match is missed. If it raises an
 * error, only the condition itself can do that, so it is checked again on candidates: it is served, but not exactly.
 */
final class ResidueAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "residue"
  override val summary: String = "(a + b) % n = 0: build rows are grouped by residue."
  override def wireClasses: Seq[Class[_]] = Seq(classOf[ResidueIndex], classOf[Segments])

  override def offer(request: JoinRequest): Either[Reason, Offer] =
    for {
      equal <- EqualKeys.of(request.shape, request.buildSide)
      sum <- request.shape.conjuncts.flatMap(c => DividedSum.of(c.source, request)).headOption
        .toRight(ReasonCode.NoComparison("(a + b) % n = 0 between columns of both sides"))
    } yield equal.ahead(Offer(
      served = Seq(sum.source),
      exact = Nil,
      buildKeys = Seq(sum.build),
      probeKeys = Seq(sum.probe),
      spec = ResidueSpec(equal.size, sum.n),
      cost = Cost(share = 1.0 / sum.n, perProbe = 50, perBuildRow = 100)
    ))
}

/** `(build + probe) % n = 0`. */
private final case class DividedSum(source: Expression, build: Expression, probe: Expression, n: Long)

private object DividedSum {
  def of(e: Expression, request: JoinRequest): Option[DividedSum] = {
    val (build, probe) = (AttributeSet(request.build), AttributeSet(request.probe))
    e match {
      case EqualTo(Remainder(Add(x: Attribute, y: Attribute, _), Literal(n: Long, LongType), _), Literal(0L, LongType))
          if n > 0 && java.lang.Long.bitCount(n) == 1 && x.dataType == LongType =>
        Seq((x, y), (y, x)).collectFirst { case (b, p) if build.contains(b) && probe.contains(p) => DividedSum(e, b, p, n) }
      case _ => None
    }
  }
}

/** A key row has the keys that must be equal, then a number, by which batches of probe rows are sorted where that pays. */
final case class ResidueSpec(equal: Int, n: Long) extends IndexSpec {
  override def batches: Option[Batches] = Batches.by(1)
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = new ResidueBuilder(keyTypes.take(equal), n)
}

private final class ResidueBuilder(equal: Seq[DataType], n: Long) extends IndexBuilder {
  private val rows = new KeyedNumbers(equal, values = 0)
  private val residues = new LongsBuilder

  override def add(keys: InternalRow): Unit = {
    rows.add(keys)
    residues.add(Math.floorMod(keys.getLong(equal.size), n))
  }

  /** Residues are copied as they are put in order. */
  override def bytes: Long = rows.bytes + 2 * residues.bytes

  override def finish(): OrderedIndex = {
    val sorted = rows.sortedBy(residues)
    val segments = Segments(sorted.starts, residues.inOrder(sorted.order))
    OrderedIndex(new ResidueIndex(n, rows.groups, segments), sorted.order)
  }
}

/** @param residues a segment of sorted residues for each group of equal keys */
final class ResidueIndex(n: Long, groups: Groups, residues: Segments) extends JoinIndex {
  override def bytes: Long = groups.bytes + residues.bytes
  override def newProber(): Prober = new ResidueProber(n, groups, residues)
}

private final class ResidueProber(n: Long, groups: Groups, residues: Segments)
    extends SegmentProber(groups) with SingleRunProber {
  override protected def none(): Unit = run(0, 0)

  override def probe(group: Int, number: Long, unused: Long): Unit = {
    val opposite = Math.floorMod(-Math.floorMod(number, n), n)
    run(residues.firstAtLeast(group, opposite), residues.firstAbove(group, opposite))
  }
}
