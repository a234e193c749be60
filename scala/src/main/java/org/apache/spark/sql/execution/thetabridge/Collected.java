package org.apache.spark.sql.execution.thetabridge;

import scala.Tuple2;
import scala.collection.Iterator;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.SparkPlan;

/**
 * All rows of a plan, in the driver: as compressed bytes that become a row one by one. Spark keeps the call to
 * itself, so this class lies in its package.
 *
 * @param count how many rows there are
 */
public record Collected(long count, Iterator<InternalRow> rows) {
  public static Collected of(SparkPlan plan) {
    Tuple2<Object, Iterator<InternalRow>> counted = plan.executeCollectIterator();
    return new Collected((Long) counted._1(), counted._2());
  }
}
