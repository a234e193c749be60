package org.apache.spark.sql.execution.thetabridge;

import scala.Option;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.datasources.DataSourceStrategy$;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.sources.IsNotNull;
import org.apache.spark.sql.sources.IsNull;

/** What a file scan makes of its filters, and Scala keeps private to Spark. */
public final class ScanFilters {
  private ScanFilters() {}

  /** Whether a file format is told of a filter, and of more than nulls. */
  public static boolean isPushed(Expression filter) {
    Option<Filter> pushed = DataSourceStrategy$.MODULE$.translateFilter(filter, true);
    return pushed.isDefined()
        && !(pushed.get() instanceof IsNotNull)
        && !(pushed.get() instanceof IsNull);
  }
}
