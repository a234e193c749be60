package org.apache.spark.sql.classic;

import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;

/** Spark's own ASOF join, which PySpark calls and Scala may not. */
public final class AsOf {
  private AsOf() {}

  /** Each left row with the right row of the greatest time up to its own; null for what is not asked. */
  public static org.apache.spark.sql.Dataset<Row> backward(
      org.apache.spark.sql.Dataset<Row> left,
      org.apache.spark.sql.Dataset<Row> right,
      Column leftTime,
      Column rightTime,
      Column condition,
      Column tolerance) {
    return ((Dataset<Row>) left)
        .joinAsOf((Dataset<Row>) right, leftTime, rightTime, condition, "left", tolerance, true, "backward");
  }
}
