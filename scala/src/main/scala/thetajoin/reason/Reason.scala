package thetajoin.reason

/**
 * Why a join, or one accelerator for it, was passed over. `code` is stable across releases. `what` begins with static
 * words and ends with run-time values. `remedy` says what the user can do.
 */
final case class Reason(code: ReasonCode, detail: String) {
  def what: String = if (detail.isEmpty) code.what else s"${code.what}: $detail"
  def remedy: String = code.remedy
  override def toString: String = s"[${code.name}] $what. $remedy"
}

abstract class ReasonCode(val name: String, val what: String, val remedy: String) {
  def apply(detail: String = ""): Reason = Reason(this, detail)
}

/**
 * The planner's own reasons and the ones that several accelerators give, sorted by name. Other accelerators bring
 * theirs.
 */
object ReasonCode {
  case object AcceleratorDisabled
      extends ReasonCode(
        "ACCELERATOR_DISABLED",
        "Switched off by configuration",
        "Set it to true to use this accelerator."
      )
  case object AlreadyBroadcast
      extends ReasonCode(
        "ALREADY_BROADCAST",
        "Spark has already broadcast a side for a join of its own",
        "Nothing to do."
      )
  case object ArrivalOrder
      extends ReasonCode(
        "ARRIVAL_ORDER",
        "A LIMIT without ORDER BY in a correlated subquery keeps this join's first rows in " +
          "the order of its inputs",
        "Add ORDER BY to the subquery."
      )
  case object BuildTooLarge
      extends ReasonCode(
        "BUILD_TOO_LARGE",
        "Neither side is known to be small enough to broadcast, and joins of larger sides are switched off",
        "RESET spark.thetajoin.shuffle.maxPartitionBytes; or filter a side, collect statistics, or raise " +
          "spark.thetajoin.broadcast.maxBytes if driver and executors can hold a side."
      )
  case object Disabled
      extends ReasonCode(
        "DISABLED",
        "The extension is switched off",
        "SET spark.thetajoin.enabled=true, and make the DataFrame anew."
      )
  case object EquiKeys
      extends ReasonCode(
        "EQUI_KEYS",
        "The condition has equality keys, and no index would serve more of it than Spark's " +
          "own hash and sort-merge joins do",
        "Nothing to do. The hint THETA_JOIN(t), where t is a side of the join, asks for an " +
          "index on the keys all the same."
      )
  case object FewBuildRows
      extends ReasonCode(
        "FEW_BUILD_ROWS",
        "The side to build has so few rows that Spark's hash join on the equality keys is " +
          "quicker than an index",
        "Nothing to do. Lower spark.thetajoin.equiKeys.minBuildRows if many of the rows have the same key."
      )
  case object FileOfRow
      extends ReasonCode(
        "FILE_OF_ROW",
        "A function above the join asks for the file of the current row, and the join would " +
          "read rows ahead or move them",
        "Compute input_file_name() and its like below the join, or use the column _metadata."
      )
  case object Hinted
      extends ReasonCode(
        "HINTED",
        "A hint asks for another join or accelerator",
        "Remove the hint."
      )
  case object HintedAccelerator
      extends ReasonCode(
        "HINTED_ACCELERATOR",
        "The accelerator that a hint names does not serve this join",
        "Name another accelerator in the hint, or none."
      )
  case object KeyCollation
      extends ReasonCode(
        "KEY_COLLATION",
        "Strings of this collation are not ordered by their bytes",
        "Compare with COLLATE UTF8_BINARY if byte order is what the query means."
      )
  case object KeyType
      extends ReasonCode(
        "KEY_TYPE",
        "No index orders values of this type",
        "Compare a field or a cast of it instead."
      )
  case object MissingColumn
      extends ReasonCode(
        "MISSING_COLUMN",
        "Spark's optimizer took away a column that the condition reads, and the join fails once it has a row",
        "SET spark.sql.optimizer.nestedSchemaPruning.enabled=false."
      )
  case object NoAccelerator
      extends ReasonCode(
        "NO_ACCELERATOR",
        "No accelerator that is switched on serves this join",
        "Enable the nestedloop accelerator, which serves every condition."
      )
  case object NoComparison
      extends ReasonCode(
        "NO_COMPARISON",
        "No conjunct compares an expression of one side with an expression of the other by <, <=, > or >=",
        "Rewrite the condition so that each side of a comparison reads one table."
      )
  case object NoEquiKey
      extends ReasonCode(
        "NO_EQUI_KEY",
        "No conjunct compares an expression of one side with an expression of the other by =",
        "Nothing to do unless the sides are meant to be equal in something."
      )
  case object NoSecondComparison
      extends ReasonCode(
        "NO_SECOND_COMPARISON",
        "The condition has at most one comparison of numbers, dates or timestamps between the " +
          "sides, and no equality key",
        "Nothing to do unless the condition has a second one, of another type."
      )
  case object Nondeterministic
      extends ReasonCode(
        "NONDETERMINISTIC",
        "The condition is not deterministic",
        "Compute the random value in a subquery below the join."
      )
  case object NullAwareAnti
      extends ReasonCode(
        "NULL_AWARE_ANTI",
        "Spark runs this NOT IN as a null-aware hash join",
        "Nothing to do."
      )
  case object OtherNeed
      extends ReasonCode(
        "OTHER_NEED",
        "The accelerator serves another kind of join: all matches of a row, or only the first k " +
          "in an order",
        "Nothing to do."
      )
  case object OtherOperator
      extends ReasonCode(
        "OTHER_OPERATOR",
        "Spark runs an operator of its own here, and there is no accelerator for it",
        "Nothing to do."
      )
  case object PairsListed
      extends ReasonCode(
        "PAIRS_LISTED",
        "The join runs on an index, and lists its pairs for the aggregate above it",
        "Nothing to do unless there are very many pairs. Group by columns of one side, aggregate columns of the " +
          "other side, and see docs/how-to/events-before.md."
      )
  case object PartitionTooLarge
      extends ReasonCode(
        "PARTITION_TOO_LARGE",
        "Both sides are large, and so are partitions of the side to build by the equality " +
          "keys. They can't be cut into blocks: the join is a FULL join, or blocks are switched " +
          "off",
        "Raise spark.thetajoin.shuffle.maxPartitionBytes if executors have the memory, or " +
          "RESET it if it is 0; or raise spark.sql.shuffle.partitions."
      )
  case object PlannedElsewhere
      extends ReasonCode(
        "PLANNED_ELSEWHERE",
        "The join could be accelerated, but another extension or strategy has planned it",
        "Have spark.sql.extensions name thetajoin first, and see what other strategies the session has."
      )
  case object PlanningFailed
      extends ReasonCode(
        "PLANNING_FAILED",
        "Planning failed, so Spark's own plan is used",
        "Please report it with the stack trace in the driver's log."
      )
  case object PythonUdf
      extends ReasonCode(
        "PYTHON_UDF",
        "The condition calls a Python function",
        "Call it below the join, use built-in functions, or register an accelerator for it: " +
          "docs/accelerators-in-python.md."
      )
  case object Streaming
      extends ReasonCode(
        "STREAMING",
        "Joins of two streams are left to Spark, and so are joins of a stream with a table that is " +
          "too large to broadcast",
        "Raise spark.thetajoin.broadcast.maxBytes for the table, or join inside foreachBatch."
      )
  case object SubqueryInCondition
      extends ReasonCode(
        "SUBQUERY_IN_CONDITION",
        "The condition holds a subquery",
        "Join the subquery's result first, or compute it into a column of a side."
      )
  case object UnsupportedJoinType
      extends ReasonCode(
        "UNSUPPORTED_JOIN_TYPE",
        "This join type is left to Spark",
        "Nothing to do, or rewrite the scalar subquery as a join with an aggregate."
      )

  val all: Seq[ReasonCode] = Seq(
    AcceleratorDisabled,
    AlreadyBroadcast,
    ArrivalOrder,
    BuildTooLarge,
    Disabled,
    EquiKeys,
    FewBuildRows,
    FileOfRow,
    Hinted,
    HintedAccelerator,
    KeyCollation,
    KeyType,
    MissingColumn,
    NoAccelerator,
    NoComparison,
    NoEquiKey,
    NoSecondComparison,
    Nondeterministic,
    NullAwareAnti,
    OtherNeed,
    OtherOperator,
    PairsListed,
    PartitionTooLarge,
    PlannedElsewhere,
    PlanningFailed,
    PythonUdf,
    Streaming,
    SubqueryInCondition,
    UnsupportedJoinType
  )
}
