package thetajoin.kit

import java.lang.ref.SoftReference

import scala.util.control.NonFatal

import org.apache.spark.sql.execution.thetabridge.Cancellation

import thetajoin.condition.PairTest

/**
 * The values of build rows, by position, for a test of pairs. Their prepared forms are kept for all tasks of a JVM,
 * as long as there is memory.
 *
 * @param isLeft whether they are the left values of the test
 */
final class PairValues(
    private[kit] val test: PairTest,
    private[kit] val isLeft: Boolean,
    private[kit] val values: Array[Array[Byte]]
) extends Serializable {
  @transient @volatile private var kept: SoftReference[Array[AnyRef]] = _

  val bytes: Long =
    values.foldLeft(0L)((sum, value) => sum + PairValues.BytesOfValue + value.length)

  /** Of all values, as far as they are prepared. */
  private[kit] def prepared: Array[AnyRef] = {
    val known = kept
    val current = if (known == null) null else known.get
    if (current != null) current
    else {
      val fresh = new Array[AnyRef](values.length)
      kept = new SoftReference(fresh)
      fresh
    }
  }

  private[kit] def prepare(position: Int): AnyRef =
    test.prepare(values(position), isLeft, isReused = true)
}

object PairValues {

  /** The bytes of an array besides the bytes in it, with the reference to it. */
  private[thetajoin] val BytesOfValue = 24L
}

/**
 * Tests probe values one by one against build values. For one task.
 *
 * @param cancellation counts the tests, which take the longer the larger their values are
 * @param errorsPass whether a build value passes whose test fails, as it is tested again
 */
final class PairTester(
    build: PairValues,
    cancellation: Cancellation,
    errorsPass: Boolean = false
) {
  import PairTester._

  private val test = build.test
  private var probe: Array[Byte] = _

  /** The prepared form of the probe value, once it is needed. */
  private var preparedProbe: AnyRef = _
  private var isPrepared = false
  private var failed: Throwable = _

  def start(value: Array[Byte]): Unit = {
    probe = value
    isPrepared = false
    failed = null
  }

  /** An error waits until the probe row has no other candidate: one may be enough. */
  def holds(position: Int): Boolean = {
    val steps =
      Steps + probe.length / BytesOfStep + build.values(position).length / BytesOfStep
    cancellation.count(steps)
    try tested(position)
    catch {
      case e @ (NonFatal(_) | _: StackOverflowError) =>
        if (failed == null && !errorsPass) failed = e
        errorsPass
    }
  }

  /** Raises the first error of the tests of this probe value, if there was one. */
  def raiseDeferred(): Unit = if (failed != null) throw failed

  private def tested(position: Int): Boolean = {
    if (!isPrepared) {
      preparedProbe = test.prepare(probe, !build.isLeft, isReused = false)
      isPrepared = true
    }
    val quick = test.quick(build.values(position), preparedProbe, build.isLeft)
    if (quick >= 0) quick > 0 else holdsPrepared(position)
  }

  private def holdsPrepared(position: Int): Boolean = {
    val all = build.prepared
    var other = all(position)
    if (other == null) {
      other = build.prepare(position)
      all(position) = other
    }
    if (build.isLeft) test.holds(other, preparedProbe) else test.holds(preparedProbe, other)
  }
}

private object PairTester {

  /** Of a test of small values. */
  private final val Steps = 32
  private final val BytesOfStep = 16
}
