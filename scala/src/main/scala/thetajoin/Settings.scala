package thetajoin

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.internal.SQLConf

/**
 * One setting: its key, its default as text, its effect and who would change it, and the value that its text is read
 * as.
 */
final case class Setting[A](
    key: String,
    default: String,
    since: String,
    doc: String,
    kind: SettingKind[A]
) {
  def in(conf: SQLConf): A = read(conf.getConfString(key, default))

  def read(text: String): A =
    try kind.read(text.trim)
    catch {
      case _: IllegalArgumentException =>
        throw new InvalidSettingException(key, text.trim, kind.expected)
    }
}

sealed abstract class SettingKind[A](val expected: String, val read: String => A)

object SettingKind {
  case object Switch extends SettingKind[Boolean]("true or false", _.toBoolean)
  case object Bytes
      extends SettingKind[Long]("a size such as 512m or 2g", JavaUtils.byteStringAsBytes(_))
  case object Count extends SettingKind[Long]("a whole number", _.toLong)
  case object Names
      extends SettingKind[Seq[String]](
        "names between commas",
        _.split(',').toSeq.map(_.trim).filter(_.nonEmpty)
      )
}

/** A setting whose value can't be read. It reaches the user: a typo must not silently change a plan. */
final class InvalidSettingException(setting: String, value: String, expected: String)
    extends IllegalArgumentException(
      s"[INVALID_SETTING] $setting must be $expected, but is: '$value'. Mend it with SET $setting=<value> " +
        s"or RESET $setting."
    )

/** Every setting. All can be changed at run time with SET, and are read when a join is planned or starts. */
object Settings {

  /** What the settings begin with in which a client's library notes what it has registered in the session. */
  val Registered = "spark.thetajoin.registered."

  val Enabled: Setting[Boolean] = Setting(
    "spark.thetajoin.enabled",
    "true",
    "0.1.0",
    "Whether thetajoin plans joins. false gives Spark's own plans exactly. Change it to compare the two.",
    SettingKind.Switch
  )

  val Accelerators: Setting[Seq[String]] = Setting(
    "spark.thetajoin.accelerators",
    "",
    "0.1.0",
    "Comma-separated class names of further accelerators. Each is a thetajoin.contract.Accelerator with a " +
      "constructor without arguments. Accelerators registered as Java services are found without it.",
    SettingKind.Names
  )

  val BroadcastMaxBytes: Setting[Long] = Setting(
    "spark.thetajoin.broadcast.maxBytes",
    "256m",
    "0.1.0",
    "The largest estimated build side that is broadcast in a join without equality keys. Unless this is set, the " +
      "limit is the smaller of 256 MB and a sixteenth of the driver's heap. If both sides are larger, a join with " +
      "two comparisons is run by ranges, and any other join in blocks. A top-k join (ASOF, nearest) is run in " +
      "blocks if its right side is larger. Unless this is set, the limit of a top-k join with quick look-ups is an " +
      "eighth of the smaller heap of driver and executors, and 1 GB at most. FULL joins of sides that can't be read " +
      "twice have no limit: Spark itself can only broadcast them. Raise it if driver and executors have memory to " +
      "spare, lower it if they run short.",
    SettingKind.Bytes
  )

  val EquiKeysMinBuildRows: Setting[Long] = Setting(
    "spark.thetajoin.equiKeys.minBuildRows",
    "100",
    "0.1.0",
    "The fewest build rows, by estimate, from which an inner or outer join on equality keys and other conditions is " +
      "accelerated. With fewer rows Spark's hash join is done before an index is built. 0 accelerates all such joins.",
    SettingKind.Count
  )

  val ShuffleMaxPartitionBytes: Setting[Long] = Setting(
    "spark.thetajoin.shuffle.maxPartitionBytes",
    "128m",
    "0.1.0",
    "The most bytes of build rows that a task is given if both sides of a join are large, by estimate and by the " +
      "sizes of shuffles that have run. Building the index needs up to three times that in a task. Unless this is " +
      "set, the limit is the smaller of 128 MB and a third of a task's share of execution memory. With equality keys " +
      "a larger partition is cut into blocks, and without them a side is. Each block meets all rows that it may " +
      "match, so larger blocks are fewer passes over the other side. FULL joins with larger partitions are left to " +
      "Spark's sorted join. Lower it if executors run short of memory. 0 leaves joins of two large sides to Spark.",
    SettingKind.Bytes
  )

  val AggregateEnabled: Setting[Boolean] = Setting(
    "spark.thetajoin.aggregate.enabled",
    "true",
    "0.1.0",
    "Whether a join gives partial results of the aggregate functions above it, in place of the pairs of a probe row. " +
      "The functions are of the build side, and rows are grouped by the probe side or not at all. Switch it off to " +
      "compare plans.",
    SettingKind.Switch
  )

  val UiEnabled: Setting[Boolean] = Setting(
    "spark.thetajoin.ui.enabled",
    "true",
    "0.1.0",
    "Whether Spark's web UI has the tab Theta joins, and the event log an event for each query with joins. false " +
      "when an application starts leaves both out, and costs nothing. false in a session leaves the session's " +
      "queries out. Switch it off to keep event logs small.",
    SettingKind.Switch
  )

  val written: Seq[Setting[_]] =
    Seq(
      Enabled,
      Accelerators,
      BroadcastMaxBytes,
      EquiKeysMinBuildRows,
      ShuffleMaxPartitionBytes,
      AggregateEnabled,
      UiEnabled
    )

  /** The switch of one accelerator, derived from its id. */
  def acceleratorEnabled(id: String): Setting[Boolean] = Setting(
    s"spark.thetajoin.accelerator.$id.enabled",
    "true",
    "0.1.0",
    s"Whether the $id accelerator may be chosen. Switch it off to compare plans or to avoid a defect.",
    SettingKind.Switch
  )
}
