package thetajoin.driver

import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._

/**
 * The meaning of a join type for the two sides once one of them is built. The driver knows join types by nothing
 * else.
 *
 * @param pairs whether matching pairs are rows of the result
 * @param padsProbe whether probe rows without a match are rows of the result, with nulls for the build side
 * @param padsBuild whether build rows without a match are rows of the result, with nulls for the probe side
 * @param probeExistence set if the result is probe rows, chosen or marked by whether they have a match
 * @param buildExistence the same for build rows
 */
final case class JoinRole(
    pairs: Boolean = false,
    padsProbe: Boolean = false,
    padsBuild: Boolean = false,
    probeExistence: Option[Existence] = None,
    buildExistence: Option[Existence] = None
) {

  /** Whether the result depends on which build rows have a match anywhere. */
  def needsMatchedBuildRows: Boolean = padsBuild || buildExistence.isDefined

  /** Whether rows come out by whether they have a match, and not paired. */
  def isExistence: Boolean = probeExistence.isDefined || buildExistence.isDefined

  /** Whether columns of the build side are part of the result. */
  def emitsBuildColumns: Boolean = probeExistence.isEmpty

  /** Whether a probe row gives one row at most. */
  def oneRowAtMost: Boolean = probeExistence.isDefined
}

/** Which rows of the preserved side come out. */
sealed trait Existence

object Existence {

  /** Semi: rows with a match. */
  case object Matched extends Existence

  /** Anti: rows without one. */
  case object Unmatched extends Existence

  /** Existence join: all rows, with a flag. */
  case object Marked extends Existence
}

object JoinRole {

  /** None for join types that are left to Spark. */
  def of(joinType: JoinType, buildSide: BuildSide): Option[JoinRole] = joinType match {
    case _: InnerLike => Some(JoinRole(pairs = true))
    case LeftOuter => Some(outer(left = true, right = false, buildSide))
    case RightOuter => Some(outer(left = false, right = true, buildSide))
    case FullOuter => Some(outer(left = true, right = true, buildSide))
    case LeftSemi => Some(existence(Existence.Matched, buildSide))
    case LeftAnti => Some(existence(Existence.Unmatched, buildSide))
    case ExistenceJoin(_) => Some(existence(Existence.Marked, buildSide))
    case _ => None
  }

  private def outer(left: Boolean, right: Boolean, buildSide: BuildSide): JoinRole =
    buildSide match {
      case BuildLeft => JoinRole(pairs = true, padsProbe = right, padsBuild = left)
      case BuildRight => JoinRole(pairs = true, padsProbe = left, padsBuild = right)
    }

  private def existence(kind: Existence, buildSide: BuildSide): JoinRole = buildSide match {
    case BuildLeft => JoinRole(buildExistence = Some(kind))
    case BuildRight => JoinRole(probeExistence = Some(kind))
  }
}
