package thetajoin;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/**
 * Asks whether the jar can run on the Spark that loads it. It is Java, since a jar of Scala 2.13 meets another Scala
 * library elsewhere, and can call next to nothing of it.
 */
final class SparkVersions {
  private static final int MAJOR = 4;
  private static final int NEWEST_MINOR = 3;
  private static final String SCALA = "2.13";
  private static final String SUPPORTED =
      "thetajoin runs on Spark " + MAJOR + ".0 to " + MAJOR + "." + NEWEST_MINOR + " with Scala " + SCALA;

  private SparkVersions() {}

  /**
   * Asks it of the Spark that is running.
   *
   * @throws UnsupportedSparkException if it is older, or of another Scala
   */
  static void requireSupported() {
    String warning =
        warningAbout(
            org.apache.spark.package$.MODULE$.SPARK_VERSION(),
            scala.util.Properties$.MODULE$.versionNumberString());
    if (warning != null) LoggerFactory.getLogger("thetajoin.ThetaJoinExtensions").warn(warning);
  }

  /**
   * A warning about a Spark that may do, or null.
   *
   * @throws UnsupportedSparkException if it can't do
   */
  static String warningAbout(String spark, String scala) {
    String found = "this is Spark " + spark + " with Scala " + scala;
    Matcher version = Pattern.compile("(\\d+)\\.(\\d+).*").matcher(spark);
    boolean known = version.matches();
    int major = known ? Integer.parseInt(version.group(1)) : MAJOR;
    if (major < MAJOR || !scala.startsWith(SCALA + ".")) {
      throw new UnsupportedSparkException(
          "[UNSUPPORTED_SPARK] " + SUPPORTED + ", but " + found
              + ". Use such a Spark, or take thetajoin.ThetaJoinExtensions out of spark.sql.extensions.");
    }
    boolean newer = major > MAJOR || known && Integer.parseInt(version.group(2)) > NEWEST_MINOR;
    return known && !newer
        ? null
        : SUPPORTED + "; " + found + ", with which it has not been tested. Look for a newer thetajoin.";
  }
}
