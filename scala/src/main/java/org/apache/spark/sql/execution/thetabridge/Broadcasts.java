package org.apache.spark.sql.execution.thetabridge;

import java.util.concurrent.ExecutorService;
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec$;

/** Where Spark prepares its broadcasts. */
public final class Broadcasts {
  private Broadcasts() {}

  /** Daemon threads of the driver, `spark.sql.broadcastExchange.maxThreadThreshold` at most. */
  public static ExecutorService threads() {
    return BroadcastExchangeExec$.MODULE$.executionContext();
  }
}
