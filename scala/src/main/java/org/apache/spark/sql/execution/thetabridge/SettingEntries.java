package org.apache.spark.sql.execution.thetabridge;

import scala.Function1;

import org.apache.spark.sql.internal.SQLConf$;

/** Makes settings known to Spark, which Scala keeps private to it: SET then checks values, and SET -v lists them. */
public final class SettingEntries {
  private SettingEntries() {}

  /**
   * Does nothing for a key that is known: a JVM has one register for all sessions, and may load the
   * extension with several class loaders.
   */
  public static void register(
      String key, String defaultText, String since, String doc, Function1<String, String> check) {
    synchronized (SQLConf$.MODULE$) {
      if (!SQLConf$.MODULE$.containsConfigKey(key)) {
        SQLConf$.MODULE$
            .buildConf(key)
            .doc(doc)
            .version(since)
            .stringConf()
            .transform(check)
            .createWithDefault(defaultText);
      }
    }
  }
}
