import sbt._
import sbt.Keys._

import com.typesafe.tools.mima.core.Problem
import com.typesafe.tools.mima.plugin.MimaKeys._
import sbtassembly.AssemblyPlugin.autoImport._

import scala.xml.{Node, NodeSeq}
import scala.xml.transform.{RewriteRule, RuleTransformer}

/** What Maven repositories get: the jar, its sources and docs, the POM, and the licences in each. */
object Publishing {

  /** The release that binary compatibility is checked against: none before the first one. */
  val previousRelease: Option[String] = None

  /** The packages that authors of accelerators compile against. */
  private val publicPackages = Seq("contract", "kit")

  // tools/release.py gives both. Until a namespace is registered, artifacts are for repositories of one's own.
  val namespace: String = sys.props.getOrElse("thetajoin.namespace", "thetajoin")
  private val repository = sys.props.getOrElse("thetajoin.repository", "{repository}")

  private val address = new URL(s"https://$repository")

  /** The groups of which classes are in the jar, under names of ours. */
  private val isInside = Set("org.locationtech.jts", "net.sf.geographiclib")

  private val coordinates = Seq[Setting[_]](
    organization := namespace,
    description := "Inequality, range and other theta joins of Spark SQL, run on an index",
    homepage := Some(address),
    scmInfo := Some(ScmInfo(address, s"scm:git:https://$repository.git")),
    developers := List(Developer("thetajoin", "The thetajoin authors", "", address)),
    licenses := Seq(
      "Apache-2.0" -> new URL("https://www.apache.org/licenses/LICENSE-2.0.txt"),
      "BSD-3-Clause (of JTS, in thetajoin.shaded.jts)" ->
        new URL("https://www.eclipse.org/org/documents/edl-v10.php"),
      "MIT (of GeographicLib, in thetajoin.shaded.geographiclib)" ->
        new URL("https://opensource.org/license/MIT")
    ),
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

  private val licences = Seq[Setting[_]](
    Compile / resourceGenerators += Def.task {
      val into = (Compile / resourceManaged).value / "META-INF"
      val root = baseDirectory.value
      val files = Seq(root / "LICENSE", root / "NOTICE") ++ (root / "licenses" * "*").get()
      val copies = files.map(file => file -> into / file.relativeTo(root).get.getPath)
      IO.copy(copies)
      copies.map(_._2)
    }.taskValue,
    assembly / assemblyMergeStrategy := {
      // By default sbt-assembly adds the project's name to those that any jar may have.
      case PathList("META-INF", "LICENSE" | "NOTICE") => MergeStrategy.singleOrError
      case path => (assembly / assemblyMergeStrategy).value(path)
    },
    // The only program in it writes our docs.
    Compile / packageBin / mainClass := None,
    assembly / mainClass := None,
    Compile / packageDoc / mappings ++= Seq("LICENSE", "NOTICE").map { name =>
      baseDirectory.value / name -> s"META-INF/$name"
    }
  )

  private val docs = Seq[Setting[_]](
    Compile / doc / sources := {
      val ours = (Compile / scalaSource).value / "thetajoin"
      publicPackages.flatMap(name => (ours / name ** "*.scala").get())
    },
    Compile / doc / dependencyClasspath := (Compile / fullClasspath).value,
    Compile / doc / scalacOptions := Seq(
      "-deprecation",
      "-doc-title",
      "thetajoin",
      "-no-link-warnings"
    )
  )

  private val compatibility = Seq[Setting[_]](
    mimaPreviousArtifacts := sys.props
      .get("thetajoin.previous")
      .orElse(previousRelease)
      .map(organization.value %% name.value % _)
      .toSet,
    mimaFailOnNoPrevious := false,
    mimaBinaryIssueFilters += { (problem: Problem) =>
      problem.matchName.exists(name =>
        publicPackages.exists(p => name.startsWith(s"thetajoin.$p."))
      )
    }
  )

  val settings: Seq[Setting[_]] = coordinates ++ licences ++ docs ++ compatibility
}
