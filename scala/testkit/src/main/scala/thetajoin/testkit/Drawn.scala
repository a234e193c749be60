package thetajoin.testkit

import org.scalacheck.Shrink

/**
 * How a query is planned and run.
 *
 * @param builtSide the side that a hint has built, if one does
 * @param besideKeys whether an equality stands beside the condition
 * @param besideRest whether a condition stands beside it that no index answers
 * @param isPartitioned whether neither side may be broadcast
 * @param sorts whether probe rows are looked up in sorted batches, if the index takes them
 */
private[testkit] final case class Setup(
    builtSide: Option[String],
    besideKeys: Boolean,
    besideRest: Boolean,
    isPartitioned: Boolean,
    hasCode: Boolean,
    isAdaptive: Boolean,
    sorts: Boolean
) {
  def settings: Seq[(String, String)] = {
    val sizes = Seq(
      "spark.sql.autoBroadcastJoinThreshold" -> "1b",
      "spark.thetajoin.broadcast.maxBytes" -> "1b",
      "spark.thetajoin.shuffle.maxPartitionBytes" -> "200b"
    )
    Seq(
      "spark.sql.codegen.wholeStage" -> hasCode.toString,
      "spark.sql.adaptive.enabled" -> isAdaptive.toString
    ) ++ (if (isPartitioned) sizes else Nil)
  }

  def condition(own: String): String = {
    val keys = if (besideKeys) s"a.${Table.Key} = b.${Table.Key} AND " else ""
    val rest = if (besideRest) s" AND (a.${Table.Rest} + b.${Table.Rest}) % 3 <> 1" else ""
    s"$keys($own)$rest"
  }
}

private[testkit] object Setup {

  /** Each value of each field with each value of each other field, in an order that seems random. */
  def all(sides: Seq[String], servesKeys: Boolean): IndexedSeq[Setup] = {
    val flags = Seq(true, false)
    val found = for {
      isPartitioned <- flags
      side <- if (isPartitioned || sides.isEmpty) Seq(None) else sides.map(Some(_))
      besideKeys <- if (servesKeys) flags else Seq(false)
      besideRest <- flags
      hasCode <- flags
      isAdaptive <- flags
    } yield Setup(side, besideKeys, besideRest, isPartitioned, hasCode, isAdaptive, sorts = false)
    found.zipWithIndex.map { case (setup, i) => setup.copy(sorts = i % 3 == 0) }.toIndexedSeq
  }
}

/** A query over drawn tables. */
private[testkit] final case class Drawn(
    accelerator: String,
    condition: String,
    form: JoinForm,
    setup: Setup,
    left: Table,
    right: Table
) {
  def query: String = {
    val sides = setup.builtSide.map(side => s"BROADCAST($side), ").mkString
    form.query(s"/*+ ${sides}THETA_JOIN($accelerator) */", setup.condition(condition))
  }

  /** For a session of spark-sql that has the accelerator. */
  def script(settings: Seq[(String, String)]): String = {
    val set = (settings ++ setup.settings).map { case (key, value) => s"SET $key=$value" }
    val note =
      if (setup.sorts) Seq("-- with thetajoin.Yardsticks.set(\"sortedIndexBytes\", 0)") else Nil
    (note ++ (set ++ Seq(left.sql, right.sql, query)).map(_ + ";")).mkString("\n")
  }
}

private[testkit] object Drawn {
  implicit def shrink(implicit table: Shrink[Table]): Shrink[Drawn] = Shrink.withLazyList { drawn =>
    table.shrink(drawn.left).to(LazyList).map(t => drawn.copy(left = t)) ++
      table.shrink(drawn.right).to(LazyList).map(t => drawn.copy(right = t))
  }
}
