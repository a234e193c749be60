package thetajoin.accelerator

import java.net.{URL, URLClassLoader}
import java.nio.file.{Files, Path}

import org.apache.spark.sql.internal.SQLConf

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.contract.{Accelerator, Contract, JoinRequest, Offer}
import thetajoin.reason.{Reason, ReasonCode}

final class ServiceAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override def id: String = "service"
  override def summary: String = "Serves nothing."
  override def offer(request: JoinRequest): Either[Reason, Offer] =
    Left(ReasonCode.NoAccelerator(summary))
}

class RegistrySuite extends AnyFunSuite {

  /** As Spark's are, to which ADD JAR adds. */
  private final class WithJars(parent: ClassLoader)
      extends URLClassLoader(Array.empty[URL], parent) {
    def add(jar: Path): Unit = addURL(jar.toUri.toURL)
  }

  private def ids(loader: ClassLoader): Seq[String] = {
    val (thread, conf) = (Thread.currentThread, new SQLConf)
    val before = thread.getContextClassLoader
    thread.setContextClassLoader(loader)
    try Registry.accelerators(conf).map(_.id)
    finally thread.setContextClassLoader(before)
  }

  test(
    "services of a jar that is added later are found, in the class loader and in those below it"
  ) {
    val builtIn = Registry.builtIn.map(_.id)
    val withJars = new WithJars(getClass.getClassLoader)
    val below = new WithJars(withJars)
    for (loader <- Seq(withJars, below, withJars, below)) assert(ids(loader) == builtIn)
    withJars.add(jarWithService())
    for (loader <- Seq(withJars, below)) assert(ids(loader) == builtIn :+ "service")
    assert(ids(getClass.getClassLoader) == builtIn)
  }

  private def jarWithService(): Path = {
    val jar = Files.createTempDirectory("thetajoin")
    val services = Files.createDirectories(jar.resolve("META-INF/services"))
    Files.writeString(
      services.resolve(classOf[Accelerator].getName),
      classOf[ServiceAccelerator].getName
    )
    jar
  }
}
