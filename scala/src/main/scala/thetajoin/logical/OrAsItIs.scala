package thetajoin.logical

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging

import thetajoin.InvalidSettingException

/**
 * For rules: a failure of ours leaves a plan to Spark, with a warning. A setting that can't be read is an error all
 * the same.
 */
private[thetajoin] trait OrAsItIs extends Logging {

  /** @param left the part that is then left to Spark */
  protected def orAsItIs[A](left: String)(ours: => Option[A]): Option[A] =
    try ours
    catch {
      case e: InvalidSettingException => throw e
      case NonFatal(e) =>
        logWarning(s"thetajoin: $left is left to Spark", e)
        None
    }
}
