package org.apache.spark.sql.execution.thetabridge;

import org.apache.spark.SparkEnv;
import org.apache.spark.memory.MemoryManager;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.storage.TestBlockId;

/** The heap of this process as what Spark keeps in it leaves it to others. */
public final class DriverMemory {
  private DriverMemory() {}

  /**
   * Has Spark move blocks that it keeps, those that were not used for the longest time first, to disk if so many bytes would not be left.
   * Among them are the values of broadcasts, which it keeps for as long as anything refers to their query.
   */
  public static void makeRoom(long bytes) {
    Runtime runtime = Runtime.getRuntime();
    long free = runtime.maxMemory() - (runtime.totalMemory() - runtime.freeMemory());
    SparkEnv env = SparkEnv.get();
    if (bytes > free && env != null) {
      MemoryManager memory = env.memoryManager();
      long most = Math.min(bytes, memory.maxOnHeapStorageMemory());
      TestBlockId block = new TestBlockId("thetajoin");
      if (memory.acquireStorageMemory(block, most, MemoryMode.ON_HEAP)) {
        memory.releaseStorageMemory(most, MemoryMode.ON_HEAP);
      }
    }
  }
}
