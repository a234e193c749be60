package thetajoin

import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.thetabridge.{JoinsTab, SettingEntries}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

import thetajoin.accelerator.Registry
import thetajoin.exec.{BoundScans, BuildRows, TakeArrangedJoins, ThetaJoinStrategy}
import thetajoin.functions.SqlFunction
import thetajoin.functions.network.NetworkFunctions
import thetajoin.functions.spatial.SpatialFunctions
import thetajoin.functions.vector.VectorSqlFunctions
import thetajoin.hints.ResolveThetaHints
import thetajoin.large.LargeJoins
import thetajoin.logical.NormalConditions
import thetajoin.recognise.{
  AntiOfOuter,
  FirstOfAggregate,
  FirstOfWindow,
  OriginalConditions,
  PushIntoRanked,
  RecogniseRanked,
  StandIns
}
import thetajoin.report.ExplainFunction
import thetajoin.stage.{FoldAggregates, IsolateProbe}
import thetajoin.stream.KeepIndexes

/** The entry into Spark: `spark.sql.extensions=thetajoin.ThetaJoinExtensions`. */
final class ThetaJoinExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    SparkVersions.requireSupported()
    passFirstIds()
    Registry.settings.foreach { setting =>
      checkConfigured(setting)
      register(setting)
    }
    extensions.injectHintResolutionRule(_ => ResolveThetaHints)
    extensions.injectPlanNormalizationRule(_ => RecogniseRanked)
    extensions.injectPlanNormalizationRule(_ => StandIns)
    extensions.injectOptimizerRule(_ => FirstOfWindow)
    extensions.injectOptimizerRule(_ => FirstOfAggregate)
    extensions.injectOptimizerRule(_ => PushIntoRanked)
    extensions.injectOptimizerRule(_ => AntiOfOuter)
    extensions.injectPreCBORule(_ => OriginalConditions)
    extensions.injectPreCBORule(_ => NormalConditions)
    extensions.injectPreCBORule(_ => LargeJoins)
    extensions.injectPlannerStrategy(_ => ThetaJoinStrategy)
    extensions.injectColumnar(_ =>
      new ColumnarRule {
        override def preColumnarTransitions: Rule[SparkPlan] = plan =>
          IsolateProbe(FoldAggregates(BoundScans(BuildRows(KeepIndexes(TakeArrangedJoins(plan))))))
      }
    )
    extensions.injectQueryStagePrepRule(_ => TakeArrangedJoins)
    extensions.injectQueryStagePrepRule(_ => FoldAggregates)
    extensions.injectQueryStagePrepRule(_ => KeepIndexes)
    extensions.injectTableFunction(ExplainFunction.description)
    SqlFunction.lacking(
      SpatialFunctions.descriptions ++ VectorSqlFunctions.descriptions ++
        NetworkFunctions.descriptions
    ).foreach(extensions.injectFunction)
    JoinsTab.attach()
  }

  /**
   * Where Spark compares expressions, it numbers the variables of lambda functions from 0 on. It takes a column of
   * the same number for the variable, and a condition between two sides, such as `forall(b.needs, n ->
   * array_contains(a.tags, n))`, for one of a single side. The first columns of a JVM would have such numbers.
   */
  private def passFirstIds(): Unit =
    (1 to ThetaJoinExtensions.VariablesOfLambdas).foreach(_ => NamedExpression.newExprId)

  /** Of a wrong value among these Spark itself would only say that no session can be made. */
  private def checkConfigured(setting: Setting[_]): Unit =
    Option(SparkEnv.get).flatMap(_.conf.getOption(setting.key)).foreach(setting.read(_))

  private def register(setting: Setting[_]): Unit =
    SettingEntries.register(
      setting.key,
      setting.default,
      setting.since,
      setting.doc,
      text => {
        setting.read(text)
        text
      }
    )
}

private object ThetaJoinExtensions {

  /** More than an expression has, each counted as often as it stands there. */
  private val VariablesOfLambdas = 1000
}
