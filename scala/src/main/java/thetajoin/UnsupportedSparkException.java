package thetajoin;

/** The Spark that loads the extension can't run it. */
public final class UnsupportedSparkException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UnsupportedSparkException(String message) {
    super(message);
  }
}
