package thetajoin.accelerator

import scala.util.control.NonFatal

import org.apache.spark.sql.internal.SQLConf

import thetajoin.accelerator.anyof.AnyOfAccelerator
import thetajoin.accelerator.boxes.BoxesAccelerator
import thetajoin.accelerator.containment.ContainmentAccelerator
import thetajoin.accelerator.existence.ExistenceAccelerator
import thetajoin.accelerator.interval.IntervalAccelerator
import thetajoin.accelerator.nearest.NearestAccelerator
import thetajoin.accelerator.nestedloop.NestedLoopAccelerator
import thetajoin.accelerator.patterns.PatternsAccelerator
import thetajoin.accelerator.piecewise.PiecewiseAccelerator
import thetajoin.accelerator.python.PythonAccelerator
import thetajoin.accelerator.similar.SimilarAccelerator
import thetajoin.accelerator.vector.VectorAccelerator
import thetajoin.accelerator.wildcard.WildcardAccelerator
import thetajoin.contract.Accelerator
import thetajoin.reason.ReasonCode
import thetajoin.{Services, Setting, Settings}

/** A class named in `spark.thetajoin.accelerators` that can't be used. */
final class InvalidAcceleratorException(name: String, why: String, cause: Throwable)
    extends IllegalArgumentException(
      s"[INVALID_ACCELERATOR] ${Settings.Accelerators.key} names a class that can't be used: $name: $why. Add its " +
        "jar to spark.jars, check the name, and give it a constructor without arguments.",
      cause
    )

object Registry {

  /** The built-in accelerators, one line each. */
  val builtIn: Seq[Accelerator] = Seq(
    ExistenceAccelerator,
    IntervalAccelerator,
    BoxesAccelerator,
    PiecewiseAccelerator,
    ContainmentAccelerator,
    WildcardAccelerator,
    PatternsAccelerator,
    VectorAccelerator,
    SimilarAccelerator,
    PythonAccelerator,
    AnyOfAccelerator,
    NearestAccelerator,
    NestedLoopAccelerator
  )

  /**
   * The settings that are known without a session. An accelerator that is not built in has its own switch too, whose
   * default is the default of all switches.
   */
  val settings: Seq[Setting[_]] =
    Settings.written ++ builtIn.map(a => Settings.acceleratorEnabled(a.id))

  /**
   * Every reason for which a join may be passed over. The reasons of accelerators that are not built in are missing.
   */
  val reasons: Seq[ReasonCode] =
    (ReasonCode.all ++ builtIn.flatMap(_.reasons)).distinct.sortBy(_.name)

  /**
   * Built-in accelerators, then accelerators registered as services, then accelerators named by configuration; an id
   * counts once.
   */
  def accelerators(conf: SQLConf): Seq[Accelerator] = {
    val named = Settings.Accelerators.in(conf).map(load)
    (builtIn ++ services.all ++ named).distinctBy(_.id)
  }

  private val services = new Services(classOf[Accelerator])

  private def load(name: String): Accelerator =
    try
      Services.classLoader.loadClass(name).getConstructor().newInstance().asInstanceOf[Accelerator]
    catch {
      case e: ClassNotFoundException =>
        throw new InvalidAcceleratorException(name, "class not found", e)
      case e: ClassCastException =>
        throw new InvalidAcceleratorException(name, s"not a ${classOf[Accelerator].getName}", e)
      case NonFatal(e) => throw new InvalidAcceleratorException(name, e.toString, e)
    }
}
