package thetajoin

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

import thetajoin.exec.{
  BoundScans,
  IsolateProbe,
  SendKeysOnce,
  TakeArrangedJoins,
  ThetaJoinStrategy
}
import thetajoin.planner.ResolveThetaHints
import thetajoin.report.ExplainFunction

/** What goes into Spark: `spark.sql.extensions=thetajoin.ThetaJoinExtensions`. */
final class ThetaJoinExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    SparkVersions.requireSupported()
    extensions.injectHintResolutionRule(_ => ResolveThetaHints)
    extensions.injectPlannerStrategy(_ => ThetaJoinStrategy)
    extensions.injectColumnar(_ =>
      new ColumnarRule {
        override def preColumnarTransitions: Rule[SparkPlan] = plan =>
          IsolateProbe(BoundScans(SendKeysOnce(TakeArrangedJoins(plan))))
      }
    )
    extensions.injectQueryStagePrepRule(_ => TakeArrangedJoins)
    extensions.injectTableFunction(ExplainFunction.description)
  }
}
