package org.apache.spark.sql.execution.thetabridge;

import org.apache.spark.SparkEnv;
import org.apache.spark.memory.MemoryManager;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.storage.TestBlockId;

/** The heap of this process as what Spark keeps in it leaves it to others. */
public final class DriverMemory {
  private DriverMemory() {}

  /**
   * Has Spark let go of blocks that it keeps, those that were not used for the longest time first, if so many bytes would not be left.
   * Among them are the values of broadcasts, which go to disk, and which it keeps for as long as anything refers to their query.
   */
  public static void makeRoom(long bytes) {
    if (bytes > free() && SparkEnv.get() != null) {
      System.gc();
      if (bytes > free()) evict(SparkEnv.get().memoryManager(), bytes);
    }
  }

  private static long free() {
    Runtime runtime = Runtime.getRuntime();
    return runtime.maxMemory() - (runtime.totalMemory() - runtime.freeMemory());
  }

  /** Blocks in use stay, and nothing goes unless all that is asked for can: then less is. */
  private static void evict(MemoryManager memory, long bytes) {
    long asked = Math.min(bytes, memory.maxOnHeapStorageMemory());
    TestBlockId block = new TestBlockId("thetajoin");
    while (asked > 0 && !memory.acquireStorageMemory(block, asked, MemoryMode.ON_HEAP)) asked /= 2;
    if (asked > 0) memory.releaseStorageMemory(asked, MemoryMode.ON_HEAP);
  }
}
