package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

import thetajoin.aggregate.{FoldCode, RunFold}
import thetajoin.contract.{
  BytesLookup,
  BytesProber,
  JoinIndex,
  ListProber,
  LongsLookup,
  LongsProber
}
import thetajoin.driver.JoinTask
import thetajoin.driver.probe.Candidates
import thetajoin.driver.source.RelationSource
import thetajoin.relation.{RowRanks, ThetaRelation}

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

  /** A [[RunFold]], if aggregate functions take the rows. */
  private val runFold: Option[String] = task.fold.map { fold =>
    val runClass = classOf[RunFold].getName
    val functions = ctx.addReferenceObj("fold", fold)
    val columns = ctx.addReferenceObj("stored", task.aggregated, "scala.collection.immutable.Seq")
    ctx.addMutableState(
      runClass,
      "runFold",
      v => s"$v = new $runClass($functions, $relation, $columns, ${task.mayFoldSets});",
      forceInline = true
    )
  }

  /** The same, if it takes runs. */
  val runs: Option[String] = runFold.filter(_ => task.foldsRuns)

  /** A [[Candidates]]. */
  val candidates: String = ctx.addMutableState(
    candidatesClass,
    "candidates",
    v => s"$v = new $candidatesClass($relation, $inBatches, ${runs.getOrElse("null")});",
    forceInline = true
  )

  /** The index, if it gives by one call the only candidate that a probe row has or needs. */
  lazy val lookup: Option[Lookup] =
    if (inBatches || source.mayHaveAlways || task.keysCanFail || task.role.needsMatchedBuildRows)
      None
    else sample.index match {
      case index: LongsLookup => Some(Lookup.ByLongs(indexField(index, classOf[LongsLookup])))
      case index: BytesLookup => Some(Lookup.ByBytes(indexField(index, classOf[BytesLookup])))
      case _ => None
    }

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
    prober.isInstanceOf[ListProber]
  }

  /** Set if aggregate functions take the rows. */
  lazy val fold: Option[FoldCode] =
    task.fold.zip(runFold).map { case (fold, runs) =>
      new FoldCode(ctx, fold, task.aggregated, runs)
    }

  /** The numbers of build rows: see [[RowRanks]]. */
  lazy val rowRanks: String = {
    val ranks = RowRanks.getClass.getName.stripSuffix("$")
    val order = ctx.addReferenceObj("rank", task.rank.get)
    val columns = ctx.addReferenceObj("stored", task.stored, "scala.collection.immutable.Seq")
    ctx.addMutableState("int[]", "rowRanks", v => s"$v = $ranks.of($order, $relation, $columns);")
  }

  /** Columns of candidates by their place. */
  def candidateColumns(): BuildColumns = columns(isListed = listsCandidates)

  /** Columns of the rows that a probe row is joined with: of candidates, or of the rows that were chosen among them. */
  def newColumns(): BuildColumns =
    columns(isListed = task.limit.isDefined || listsCandidates)

  /** Columns by the position of a row. */
  def positionColumns(): BuildColumns = columns(isListed = false)

  private def columns(isListed: Boolean): BuildColumns = {
    val positions = if (isListed) Some(s"$candidates.positions()") else None
    new BuildColumns(ctx, source, task.stored, relation, positions)
  }
}

/** The field of an index that is asked for a key, by the form of the key that it takes. */
private[driver] sealed trait Lookup

private[driver] object Lookup {
  final case class ByLongs(index: String) extends Lookup
  final case class ByBytes(index: String) extends Lookup
}
