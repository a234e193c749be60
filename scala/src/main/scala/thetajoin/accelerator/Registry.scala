package thetajoin.accelerator

import java.lang.reflect.InvocationTargetException
import java.util.ServiceConfigurationError

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
import thetajoin.contract.{Accelerator, Contract, JoinRequest, Offer}
import thetajoin.reason.{Reason, ReasonCode}
import thetajoin.{Services, Setting, Settings}

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
    val others = ofServices ++ Settings.Accelerators.in(conf).map(ofName)
    others.foreach(requireContract)
    (builtIn ++ others).distinctBy(_.id)
  }

  /** The answer of an accelerator, which may use what there is not in this version of thetajoin or Spark. */
  def offer(accelerator: Accelerator, request: JoinRequest): Either[Reason, Offer] =
    linked(accelerator.getClass.getName)(accelerator.offer(request))

  private val services = new Services(classOf[Accelerator])

  private def ofServices: Seq[Accelerator] =
    try linked("a Java service")(services.all)
    catch {
      case e: ServiceConfigurationError => throw InvalidAcceleratorException.ofService(e)
    }

  private def ofName(name: String): Accelerator = {
    def invalid(why: String, e: Throwable) = InvalidAcceleratorException.ofName(name, why, e)
    try linked(name)(instance(name))
    catch {
      case e: InvalidAcceleratorException => throw e
      case e: ClassNotFoundException => throw invalid("class not found", e)
      case e: ClassCastException => throw invalid(s"not a ${classOf[Accelerator].getName}", e)
      case NonFatal(e) => throw invalid(e.toString, e)
    }
  }

  private def instance(name: String): Accelerator =
    try
      Services.classLoader.loadClass(name).getConstructor().newInstance().asInstanceOf[Accelerator]
    catch { case e: InvocationTargetException => throw e.getCause }

  /** A class that is older than the number has none, and to ask for it is an error. */
  private def requireContract(accelerator: Accelerator): Unit = {
    val name = accelerator.getClass.getName
    val version = linked(name)(accelerator.contract)
    if (version != Contract.Version) throw InvalidAcceleratorException.ofContract(name, version)
  }

  private def linked[A](name: String)(body: => A): A =
    try body
    catch { case e: LinkageError => throw InvalidAcceleratorException.ofLinkage(name, e) }
}
