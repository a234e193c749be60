import java.nio.file.{FileSystems, Files}

import sbt._
import sbt.Keys._

import com.typesafe.tools.mima.core.Problem
import com.typesafe.tools.mima.plugin.MimaKeys._
import sbtassembly.AssemblyPlugin.autoImport._

import scala.xml.{Node, NodeSeq}
import scala.xml.transform.{RewriteRule, RuleTransformer}

/**
 * What Maven repositories get: jars, their sources and docs, the POMs, and the licences in each.
 *
 * {{{
 *   thetajoin-api       what accelerators are compiled against
 *   thetajoin           the extension, which depends on it; the classifier `all` is one jar with both, for spark.jars
 *   thetajoin-testkit   what tests an accelerator, which depends on both
 * }}}
 */
object Publishing {

  /** The release that binary compatibility is checked against: none before the first one. */
  val previousRelease: Option[String] = None

  // tools/release.py gives both. Until a namespace is registered, artifacts are for repositories of one's own.
  val namespace: String = sys.props.getOrElse("thetajoin.namespace", "thetajoin")
  private val repository = sys.props.getOrElse("thetajoin.repository", "{repository}")

  private val address = new URL(s"https://$repository")

  /** The groups of which classes are in the jar, under names of ours. */
  private val isInside = Set("org.locationtech.jts", "net.sf.geographiclib")

  private val coordinates = Seq[Setting[_]](
    organization := namespace,
    homepage := Some(address),
    scmInfo := Some(ScmInfo(address, s"scm:git:https://$repository.git")),
    developers := List(Developer("thetajoin", "The thetajoin authors", "", address)),
    licenses := Seq("Apache-2.0" -> new URL("https://www.apache.org/licenses/LICENSE-2.0.txt")),
    versionScheme := Some("early-semver"),
    // What is inside of the jar is no dependency, and what our tests need is nobody else's.
    pomPostProcess := { pom =>
      val inside = new RewriteRule {
        override def transform(node: Node): NodeSeq = {
          val left = node.label == "dependency" &&
            (isInside((node \ "groupId").text) || (node \ "scope").text == "test")
          if (left) NodeSeq.Empty else node
        }
      }
      new RuleTransformer(inside).transform(pom).head
    },
    // A folder below target/: what is tested there is what a release uploads.
    publishTo := localStaging.value
  )

  private val ownLicences = Seq("LICENSE", "NOTICE")

  /** The files of these names, and of the libraries that are inside if `ofLibraries`. */
  private def licences(ofLibraries: Boolean) = Seq[Setting[_]](
    Compile / resourceGenerators += Def.task {
      val into = (Compile / resourceManaged).value / "META-INF"
      val root = (ThisBuild / baseDirectory).value
      val libraries = if (ofLibraries) (root / "licenses" * "*").get() else Nil
      val files = ownLicences.map(root / _) ++ libraries
      val copies = files.map(file => file -> into / file.relativeTo(root).get.getPath)
      IO.copy(copies)
      copies.map(_._2)
    }.taskValue,
    // The only program in them writes our docs.
    Compile / packageBin / mainClass := None,
    Compile / packageDoc / mappings ++= ownLicences.map { name =>
      (ThisBuild / baseDirectory).value / name -> s"META-INF/$name"
    }
  )

  /** The jar for spark.jars has all classes. A Maven repository gives those of thetajoin-api in a jar of their own. */
  private val jars: Seq[Setting[_]] = Seq[Setting[_]](
    assembly / assemblyMergeStrategy := {
      // By default sbt-assembly adds the project's name to those that any jar may have.
      case PathList("META-INF", "LICENSE" | "NOTICE") => MergeStrategy.deduplicate
      case path => (assembly / assemblyMergeStrategy).value(path)
    },
    // No program, and no address of the repository: a release would write the jar anew while tests run with it.
    assembly / packageOptions := Seq(
      Package.addSpecManifestAttributes(name.value, version.value, organizationName.value),
      Package.addImplManifestAttributes(
        name.value,
        version.value,
        None,
        organization.value,
        organizationName.value
      )
    ),
    Compile / packageBin := {
      val (whole, jar) = (assembly.value, (Compile / packageBin / artifactPath).value)
      val ofApi = (LocalProject("api") / Compile / packageBin / mappings).value.map(_._2)
      IO.copyFile(whole, jar)
      removeClasses(jar, ofApi)
      jar
    }
  ) ++ addArtifact(Def.setting(Artifact("thetajoin", "jar", "jar", "all")), assembly)

  private def removeClasses(jar: File, names: Seq[String]): Unit = {
    val zip = FileSystems.newFileSystem(jar.toPath, null: ClassLoader)
    try names.filter(_.endsWith(".class")).foreach(name => Files.delete(zip.getPath(name)))
    finally zip.close()
  }

  /** @param folders the names of the folders whose sources have pages; all if there are none */
  private def docs(folders: String*) = Seq[Setting[_]](
    Compile / doc / sources := (Compile / sources).value.filter { file =>
      file.getName.endsWith(".scala") &&
      (folders.isEmpty || folders.contains(file.getParentFile.getName))
    },
    Compile / doc / dependencyClasspath := (Compile / fullClasspath).value,
    Compile / doc / scalacOptions := Seq(
      "-deprecation",
      "-doc-title",
      name.value,
      "-no-link-warnings",
      // Some files are in packages of Spark's, for what is private to them.
      "-skip-packages",
      "org.apache.spark"
    )
  )

  /** Of the artifacts whose classes others extend. */
  private val compatibility = Seq[Setting[_]](
    mimaPreviousArtifacts := sys.props
      .get("thetajoin.previous")
      .orElse(previousRelease)
      .map(organization.value %% name.value % _)
      .toSet,
    mimaFailOnNoPrevious := false,
    // Parts of the kit, and of nobody else.
    mimaBinaryIssueFilters += { (problem: Problem) =>
      !problem.matchName.exists(_.startsWith("thetajoin.rowstore."))
    }
  )

  val ofApi: Seq[Setting[_]] = coordinates ++ licences(ofLibraries = false) ++
    docs("contract", "kit", "keys", "reason", "condition", "rules") ++ compatibility :+
    (description := "What accelerators for thetajoin are compiled against: contract and kit")

  val ofExtension: Seq[Setting[_]] = coordinates ++ licences(ofLibraries = true) ++ jars ++ Seq(
    description := "Inequality, range and other theta joins of Spark SQL, run on an index",
    licenses ++= Seq(
      "BSD-3-Clause (of JTS, in thetajoin.shaded.jts)" ->
        new URL("https://www.eclipse.org/org/documents/edl-v10.php"),
      "MIT (of GeographicLib, in thetajoin.shaded.geographiclib)" ->
        new URL("https://opensource.org/license/MIT")
    )
  ) ++ docs("thetajoin")

  val ofTestkit: Seq[Setting[_]] = coordinates ++ licences(ofLibraries = false) ++
    docs() ++ compatibility :+
    (description := "Tests of an accelerator for thetajoin: ten lines give it the whole suite")
}
