package thetajoin.report

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.internal.SQLConf

import thetajoin.Settings
import thetajoin.accelerator.Registry
import thetajoin.hints.HintNotes

/** Notes on a query as a whole: words that are misspelt, and so without effect. */
private[report] object QueryNotes {
  def of(nodes: Seq[SparkPlan], conf: SQLConf): Seq[String] =
    nodes.flatMap(_.logicalLink).flatMap(HintNotes.of).distinct ++ unknownSettings(conf)

  private def unknownSettings(conf: SQLConf): Seq[String] =
    if (!Settings.Enabled.in(conf)) Nil
    else {
      val switches = Registry.accelerators(conf).map(a => Settings.acceleratorEnabled(a.id))
      val known = (Registry.settings ++ switches).map(_.key).toSet
      conf.getAllConfs.keys.toSeq
        .filter(key => key.startsWith("spark.thetajoin.") && !known.contains(key))
        .filterNot(_.startsWith(Settings.Registered))
        .sorted
        .map(key => s"$key is set, but there is no such setting; SET -v lists those that there are")
    }
}
