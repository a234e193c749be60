package thetajoin.accelerator

import java.net.{URL, URLClassLoader}
import java.nio.file.{Files, Path}

import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.internal.SQLConf

import javax.tools.ToolProvider
import org.scalatest.funsuite.AnyFunSuite

import thetajoin.Settings
import thetajoin.condition.JoinShape
import thetajoin.contract.{Accelerator, Contract, JoinRequest, Need}

/** Classes that were compiled against another contract: stubs stand for it. */
class OldAcceleratorsSuite extends AnyFunSuite {
  private val Request = "package thetajoin.contract; public class JoinRequest {}"

  /** The contract before it had a number. */
  private val Before = Map(
    "thetajoin.contract.Accelerator" ->
      """package thetajoin.contract;
        |public interface Accelerator {
        |  String id();
        |  String summary();
        |  scala.util.Either offer(JoinRequest request);
        |}""".stripMargin,
    "thetajoin.contract.JoinRequest" -> Request,
    "thetajoin.kit.Gone" ->
      "package thetajoin.kit; public class Gone { public static String name() { return null; } }"
  )

  /** The same with a number. */
  private val Numbered = Before.map { case (name, source) =>
    name -> source.replace("String id();", "int contract(); String id();")
  }

  private def old(members: String): String =
    s"""package example;
       |public class Old implements thetajoin.contract.Accelerator {
       |  $members
       |  public String id() { return "old"; }
       |  public String summary() { return "old"; }
       |}""".stripMargin

  private def offer(body: String): String =
    s"public scala.util.Either offer(thetajoin.contract.JoinRequest request) { $body }"

  private def numbered(version: Int): String = s"public int contract() { return $version; }"

  /** A folder with the class alone. */
  private def compiled(against: Map[String, String], source: String): Path = {
    val (sources, stubs, classes) = (folder(), folder(), folder())
    compile(against, sources, stubs)
    compile(Map("example.Old" -> source), sources, classes, s"$stubs:")
    classes
  }

  private def folder(): Path = Files.createTempDirectory("thetajoin")

  private def compile(
      texts: Map[String, String],
      from: Path,
      to: Path,
      first: String = ""
  ): Unit = {
    val files = texts.map { case (name, text) =>
      val file = from.resolve(name.replace('.', '/') + ".java")
      Files.createDirectories(file.getParent)
      Files.writeString(file, text).toString
    }
    val path = first + System.getProperty("java.class.path")
    val arguments = Seq("-proc:none", "-cp", path, "-d", to.toString) ++ files
    assert(ToolProvider.getSystemJavaCompiler.run(null, null, null, arguments: _*) == 0)
  }

  private def inLoader[A](classes: Path)(body: => A): A = {
    val thread = Thread.currentThread
    val before = thread.getContextClassLoader
    thread.setContextClassLoader(new URLClassLoader(Array[URL](classes.toUri.toURL), before))
    try body
    finally thread.setContextClassLoader(before)
  }

  private def asService(classes: Path): Path = {
    val services = Files.createDirectories(classes.resolve("META-INF/services"))
    Files.writeString(services.resolve(classOf[Accelerator].getName), "example.Old")
    classes
  }

  private def named: SQLConf = {
    val conf = new SQLConf
    conf.setConfString(Settings.Accelerators.key, "example.Old")
    conf
  }

  /** The message, which names the class and says what to do, whether it is named or a service. */
  private def refusal(classes: Path): String = {
    val byName =
      intercept[InvalidAcceleratorException](inLoader(classes)(Registry.accelerators(named)))
    val byService = intercept[InvalidAcceleratorException](
      inLoader(asService(classes))(Registry.accelerators(new SQLConf))
    )
    for (e <- Seq(byName, byService)) assert(e.getMessage.startsWith("[INVALID_ACCELERATOR]"))
    byName.getMessage
  }

  test("a class that is older than the number of the contract is refused") {
    val message = refusal(compiled(Before, old(offer("return null;"))))
    assert(message.contains("example.Old: it was compiled against another version of thetajoin"))
    assert(message.contains("AbstractMethodError"))
    assert(message.contains("Compile it against the thetajoin-api of this version"))
  }

  test("a class of another number is refused") {
    for (version <- Seq(Contract.Version - 1, Contract.Version + 1)) {
      val message = refusal(compiled(Numbered, old(numbered(version) + offer("return null;"))))
      assert(message.contains(
        s"example.Old: it was compiled against version $version of thetajoin's contract, and this is version " +
          s"${Contract.Version}. Compile it against"
      ))
    }
  }

  test("a class that can't be made, or that lacks a class when it is made, is refused") {
    val members = numbered(Contract.Version) + offer("return null;")
    val lacking = s"public Old() { thetajoin.kit.Gone.name(); } $members"
    assert(refusal(compiled(Numbered, old(lacking))).contains("NoClassDefFoundError"))
    val fields = s"private static final String NAME = thetajoin.kit.Gone.name(); $members"
    assert(refusal(compiled(Numbered, old(fields))).contains("NoClassDefFoundError"))
    val failing = s"""public Old() { throw new IllegalStateException("no file"); } $members"""
    assert(refusal(compiled(Numbered, old(failing))).contains("IllegalStateException: no file"))
  }

  test("a class that lacks a class when it is asked for an offer is refused") {
    val members = numbered(Contract.Version) + offer("thetajoin.kit.Gone.name(); return null;")
    inLoader(compiled(Numbered, old(members))) {
      val accelerator = Registry.accelerators(named).last
      assert(accelerator.id == "old")
      val shape = JoinShape(Nil, Nil, Nil)
      val request = JoinRequest(shape, BuildRight, Need.All, _ => None, mayRaise = true)
      val refused =
        intercept[InvalidAcceleratorException](Registry.offer(accelerator, request))
      assert(refused.getMessage.contains("example.Old"))
      assert(refused.getMessage.contains("NoClassDefFoundError: thetajoin/kit/Gone"))
    }
  }

  test("the compiler copies the number into a class that names it") {
    val file = classOf[ServiceAccelerator].getName.replace('.', '/') + ".class"
    val bytes = getClass.getClassLoader.getResourceAsStream(file).readAllBytes()
    assert(!new String(bytes, "ISO-8859-1").contains("thetajoin/contract/Contract"))
  }
}
