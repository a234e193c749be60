package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

import thetajoin.contract.{
  BytesMembership,
  BytesProber,
  JoinIndex,
  LongMembership,
  LongsLookup,
  LongsMembership,
  LongsProber
}
import thetajoin.driver.JoinTask
import thetajoin.driver.probe.Candidates
import thetajoin.driver.source.RelationSource
import thetajoin.relation.ThetaRelation

/** The fields of a generated class for the build side: the relation, the candidates of a probe row, the columns. */
private[driver] final class RelationCode(
    ctx: CodegenContext,
    task: JoinTask,
    source: RelationSource,
    inBatches: Boolean = false
) {

  /** Not kept: a plan may outlive its query for long. */
  private def sample: ThetaRelation = source.sample
  private val candidatesClass = classOf[Candidates].getName

  private val relation = {
    val term = source.term(ctx)
    ctx.addMutableState(
      classOf[ThetaRelation].getName,
      "relation",
      v => s"$v = $term;",
      forceInline = true
    )
  }

  /** An expression: whether there are build rows. */
  val hasRows: String = s"$relation.store().rows() > 0"

  /** A [[Candidates]]. */
  val candidates: String = ctx.addMutableState(
    candidatesClass,
    "candidates",
    v => s"$v = new $candidatesClass($relation, $inBatches);",
    forceInline = true
  )

  /** The index, if it knows by one call whether a key has a candidate, and nothing else is one. */
  lazy val membership: Option[Membership] = sample.index match {
    case _ if source.mayHaveAlways || inBatches => None
    case index: LongMembership =>
      Some(Membership.OfLong(indexField(index, classOf[LongMembership])))
    case index: LongsMembership =>
      Some(Membership.OfLongs(indexField(index, classOf[LongsMembership])))
    case index: BytesMembership =>
      Some(Membership.OfBytes(indexField(index, classOf[BytesMembership])))
    case _ => None
  }

  /** The index, if it gives by one call the only candidate that a probe row can have. */
  lazy val lookup: Option[String] =
    if (source.mayLookUp && task.looksUp(sample, inBatches))
      Some(indexField(sample.index, classOf[LongsLookup]))
    else None

  private def indexField(index: JoinIndex, contract: Class[_]): String = {
    val indexClass = source.indexClass(index, contract).getName
    ctx.addMutableState(
      indexClass,
      "index",
      v => s"$v = ($indexClass) $relation.index();",
      forceInline = true
    )
  }

  /** Whether the index takes a string or binary where it lies. */
  lazy val takesBytes: Boolean = sample.index.newProber().isInstanceOf[BytesProber]

  /** Whether the index takes keys that are all numbers as such. */
  lazy val takesLongs: Boolean = sample.index.newProber().isInstanceOf[LongsProber]

  /** Whether candidates are places in a list of positions. */
  private lazy val listsCandidates: Boolean = {
    val prober = if (inBatches) sample.index.newBatchProber().get else sample.index.newProber()
    prober.lists
  }

  /** Columns of candidates by their place. */
  def candidateColumns(): BuildColumns = columns(isListed = listsCandidates)

  /** Columns of the rows that a probe row is joined with: of candidates, or of the rows that were chosen among them. */
  def newColumns(): BuildColumns =
    columns(isListed = task.limit.isDefined && lookup.isEmpty || listsCandidates)

  /** Columns by the position of a row. */
  def positionColumns(): BuildColumns = columns(isListed = false)

  private def columns(isListed: Boolean): BuildColumns = {
    val positions = if (isListed) Some(s"$candidates.positions()") else None
    new BuildColumns(ctx, source, task.stored, relation, positions)
  }
}

/** The field of an index that is asked for a key, by the type of key that it takes. */
private[driver] sealed trait Membership {
  def index: String
}

private[driver] object Membership {
  final case class OfLong(index: String) extends Membership
  final case class OfLongs(index: String) extends Membership
  final case class OfBytes(index: String) extends Membership
}
