package thetajoin.accelerator.nestedloop

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{
  Accelerator,
  Contract,
  Cost,
  IndexBuilder,
  IndexSpec,
  JoinIndex,
  JoinRequest,
  Offer,
  OrderedIndex,
  Prober,
  SingleRunProber
}
import thetajoin.reason.Reason

/**
 * Every build row is a candidate of every probe row. It serves any condition, and other accelerators are tested
 * against it.
 */
object NestedLoopAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "nestedloop"

  override val summary: String =
    "Any condition: each probe row meets each build row in a generated loop over flat columns."

  override def wireClasses: Seq[Class[_]] = Seq(
    classOf[AllRows]
  )

  override def offer(request: JoinRequest): Either[Reason, Offer] =
    Right(Offer(
      Nil,
      Nil,
      Nil,
      Nil,
      AllRowsSpec(),
      Cost(share = 1.0, perProbe = 5, perBuildRow = 50)
    ))
}

final case class AllRowsSpec(existence: Boolean = false) extends IndexSpec {
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = new AllRowsBuilder(existence)

  /** Whether a row has any candidate is answered by one row. */
  override def forOne: IndexSpec = AllRowsSpec(existence = true)
}

private final class AllRowsBuilder(existence: Boolean) extends IndexBuilder {
  private var rows = 0

  override def add(keys: InternalRow): Unit = rows += 1
  override def bytes: Long = 4L * rows

  override def finish(): OrderedIndex = {
    val kept = if (existence) math.min(rows, 1) else rows
    OrderedIndex(new AllRows(kept), Array.range(0, kept))
  }
}

final class AllRows(rows: Int) extends JoinIndex {
  override def bytes: Long = 16L
  override def newProber(): Prober = new AllRowsProber(rows)
}

private final class AllRowsProber(rows: Int) extends SingleRunProber {
  override def probe(keys: InternalRow): Unit = run(0, rows)
}
