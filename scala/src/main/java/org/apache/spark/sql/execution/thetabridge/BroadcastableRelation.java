package org.apache.spark.sql.execution.thetabridge;

import java.io.Serializable;

import scala.collection.Iterator;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.joins.HashedRelation;

/**
 * What a broadcast exchange takes as the value of a broadcast: it accepts a HashedRelation or an array of rows, and
 * nothing else. That trait is sealed for Scala and private to this package, hence this place and Java. None of the hash
 * look-ups is ever called.
 */
public abstract class BroadcastableRelation implements HashedRelation, Serializable {
  private static final long serialVersionUID = 1L;

  @Override
  public HashedRelation asReadOnlyCopy() {
    return this;
  }

  @Override
  public void close() {}

  @Override
  public boolean keyIsUnique() {
    return false;
  }

  @Override
  public Iterator<InternalRow> get(InternalRow key) {
    throw noLookUp();
  }

  @Override
  public InternalRow getValue(InternalRow key) {
    throw noLookUp();
  }

  @Override
  public Iterator<InternalRow> keys() {
    throw noLookUp();
  }

  private static UnsupportedOperationException noLookUp() {
    return new UnsupportedOperationException("thetajoin: a join index has no hash look-up");
  }
}
