package thetajoin

import java.lang.ref.SoftReference
import java.net.URLClassLoader
import java.util
import java.util.{Collections, ServiceLoader}

import scala.jdk.CollectionConverters._

/**
 * The objects that jars register as Java services of a class. To look into hundreds of jars takes as long as to plan a
 * join, so they are looked up once for each class loader and number of its jars.
 */
private[thetajoin] final class Services[A](of: Class[A]) {
  import Services._
  private val known =
    Collections.synchronizedMap(new util.WeakHashMap[ClassLoader, Found[A]])

  def all: Seq[A] = {
    val loader = classLoader
    val jars = jarsOf(loader)
    Option(known.get(loader)).filter(_.jars == jars).flatMap(_.services).getOrElse {
      val services = ServiceLoader.load(of, loader).asScala.toSeq
      known.put(loader, new Found(jars, services))
      services
    }
  }
}

private[thetajoin] object Services {

  /** Jars of `spark.jars` are seen by the context class loader alone. */
  def classLoader: ClassLoader =
    Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader)

  /** A reference from a service to its class loader must not keep that alive. */
  private final class Found[A](val jars: Int, found: Seq[A]) {
    private val held = if (found.isEmpty) None else Some(new SoftReference(found))
    def services: Option[Seq[A]] = held.fold(Option(Seq.empty[A]))(r => Option(r.get))
  }

  /** ADD JAR adds to a class loader that there is. */
  private def jarsOf(loader: ClassLoader): Int =
    Iterator.iterate(loader)(_.getParent).takeWhile(_ != null).map {
      case withJars: URLClassLoader => withJars.getURLs.length
      case _ => 0
    }.sum
}
