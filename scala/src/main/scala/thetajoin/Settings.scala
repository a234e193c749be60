package thetajoin

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.internal.SQLConf

/** One setting: its key, its default as text, what it does and who would change it, and what its text is read as. */
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
  val Enabled: Setting[Boolean] = Setting(
    "spark.thetajoin.enabled",
    "true",
    "0.1.0",
    "Whether joins are planned by thetajoin. false gives Spark's own plans exactly; change it to compare the two.",
    SettingKind.Switch
  )

  val Accelerators: Setting[Seq[String]] = Setting(
    "spark.thetajoin.accelerators",
    "",
    "0.1.0",
    "Comma-separated class names of further accelerators, each a thetajoin.contract.Accelerator with a " +
      "constructor without arguments. Those registered as Java services are found without it.",
    SettingKind.Names
  )

  val BroadcastMaxBytes: Setting[Long] = Setting(
    "spark.thetajoin.broadcast.maxBytes",
    "256m",
    "0.1.0",
    "The largest estimated build side that is broadcast where there is no equality key. If both sides are larger than this or, unless it " +
      "is set, than a sixteenth of the driver's heap, a join is run by ranges if it has two comparisons, and in blocks otherwise. A join with the first matches (ASOF, nearest) " +
      "is run in blocks if its right side is larger; unless it is set and where look-ups are quick, than an eighth of the heap. FULL joins of " +
      "sides that can't be read twice are not subject to it: Spark itself can only broadcast them. Raise it where driver and executors have " +
      "memory to spare, lower it where they run short.",
    SettingKind.Bytes
  )

  val EquiKeysMinBuildRows: Setting[Long] = Setting(
    "spark.thetajoin.equiKeys.minBuildRows",
    "100",
    "0.1.0",
    "The fewest build rows, by estimate, for which an inner or outer join is accelerated that compares more than equality keys. " +
      "With fewer rows Spark's hash join takes less time than the construction of an index. 0 accelerates all such joins.",
    SettingKind.Count
  )

  val ShuffleMaxPartitionBytes: Setting[Long] = Setting(
    "spark.thetajoin.shuffle.maxPartitionBytes",
    "128m",
    "0.1.0",
    "The most bytes of build rows that a task is given where both sides of a join are large: by estimate, and by what shuffles " +
      "have written. To build its index takes up to three times that in a task. Unless this is set, a task is given less where Spark grants it less than " +
      "three times as much while all cores of its executor are busy. A larger partition of a join with equality keys is cut into " +
      "blocks, as is a side of a join without. Each block meets all rows that it may match, so that larger blocks are fewer passes over the other " +
      "side. FULL joins with larger partitions are left to Spark's sorted join. Lower it where executors run short of memory; 0 leaves joins " +
      "of two large sides to Spark.",
    SettingKind.Bytes
  )

  val written: Seq[Setting[_]] =
    Seq(
      Enabled,
      Accelerators,
      BroadcastMaxBytes,
      EquiKeysMinBuildRows,
      ShuffleMaxPartitionBytes
    )

  /** The switch of one accelerator, derived from its id. */
  def acceleratorEnabled(id: String): Setting[Boolean] = Setting(
    s"spark.thetajoin.accelerator.$id.enabled",
    "true",
    "0.1.0",
    s"Whether the $id accelerator may be chosen. Switch it off to compare plans or to step around a defect.",
    SettingKind.Switch
  )
}
