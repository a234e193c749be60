package org.apache.spark.sql.execution.thetabridge;

import org.apache.spark.serializer.Serializer;
import org.apache.spark.sql.execution.UnsafeRowSerializer;

/** Reaches the serializer that Spark's own exchanges use for rows, which Scala keeps private to Spark SQL. */
public final class RowSerializers {
  private RowSerializers() {}

  /** Rows of `fields` fields go over the wire as their bytes; a reader gets the same row object each time. */
  public static Serializer unsafeRows(int fields) {
    return new UnsafeRowSerializer(fields, null);
  }
}
