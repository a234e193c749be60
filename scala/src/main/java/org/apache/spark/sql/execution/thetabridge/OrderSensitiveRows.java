package org.apache.spark.sql.execution.thetabridge;

import java.io.Serializable;

import scala.Enumeration;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.DeterministicLevel;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Rows that depend on the order in which their input is read. If that order may differ from one time to the next,
 * Spark has to know: tasks that have read rows of a task that runs again are then run again too. Only Spark's own
 * classes may say so.
 */
public final class OrderSensitiveRows extends RDD<InternalRow> {

  /** Makes rows of the rows of a partition. */
  public interface Function extends Serializable {
    Iterator<InternalRow> apply(int partition, Iterator<InternalRow> rows);
  }

  private static final ClassTag<InternalRow> TAG = ClassTag$.MODULE$.apply(InternalRow.class);

  private final Function function;

  private OrderSensitiveRows(RDD<InternalRow> rows, Function function) {
    super(rows, TAG);
    this.function = function;
  }

  public static RDD<InternalRow> map(RDD<InternalRow> rows, Function function) {
    return new OrderSensitiveRows(rows, function);
  }

  private RDD<InternalRow> rows() {
    return firstParent(TAG);
  }

  @Override
  public Partition[] getPartitions() {
    return rows().partitions();
  }

  @Override
  public Iterator<InternalRow> compute(Partition partition, TaskContext context) {
    return function.apply(partition.index(), rows().iterator(partition, context));
  }

  @Override
  public Enumeration.Value getOutputDeterministicLevel() {
    Enumeration.Value ofRows = rows().outputDeterministicLevel();
    return ofRows == DeterministicLevel.UNORDERED() ? DeterministicLevel.INDETERMINATE() : ofRows;
  }
}
