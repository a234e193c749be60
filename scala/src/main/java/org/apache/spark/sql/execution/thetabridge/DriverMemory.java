package org.apache.spark.sql.execution.thetabridge;

import org.apache.spark.SparkEnv;
import org.apache.spark.memory.MemoryManager;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.storage.TestBlockId;

/** The heap of this process as what Spark keeps in it leaves it to others. */
public final class DriverMemory {
  private DriverMemory() {}

  /**
   * Has Spark release blocks that it keeps, the least recently used ones first, if so many bytes would not be left.
   * Among them are the values of broadcasts, which go to disk. Spark keeps these for as long as anything refers to
   * their query.
   *
   * @return the bytes of blocks that it has released
   */
  public static long makeRoom(long bytes) {
    if (bytes <= free() || SparkEnv.get() == null) return 0;
    System.gc();
    MemoryManager memory = SparkEnv.get().memoryManager();
    long before = memory.storageMemoryUsed();
    if (bytes > free()) evict(memory, bytes);
    return before - memory.storageMemoryUsed();
  }

  private static long free() {
    Runtime runtime = Runtime.getRuntime();
    return runtime.maxMemory() - (runtime.totalMemory() - runtime.freeMemory());
  }

  /** Blocks in use stay. */
  private static void evict(MemoryManager memory, long bytes) {
    long missing = Math.min(bytes - free(), memory.storageMemoryUsed());
    while (missing > 0 && !evicted(memory, missing)) missing /= 2;
  }

  /**
   * Asks for all unused memory and so much more, which makes blocks go, and gives it back. Nothing goes unless as
   * much can.
   */
  private static boolean evicted(MemoryManager memory, long missing) {
    synchronized (memory) {
      long unused = memory.maxOnHeapStorageMemory() - memory.storageMemoryUsed();
      long asked = Math.min(unused + missing, memory.maxOnHeapStorageMemory());
      boolean granted = memory.acquireStorageMemory(new TestBlockId("thetajoin"), asked, MemoryMode.ON_HEAP);
      if (granted) memory.releaseStorageMemory(asked, MemoryMode.ON_HEAP);
      return granted;
    }
  }
}
