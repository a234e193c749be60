// One jar for Spark 4.0 to 4.3: compiled against the lowest of them, run on each.
val sparkVersion = "4.0.0"

// What a JVM needs to run Spark 4 inside of it (Spark's own launcher passes the same).
val sparkJavaOptions = Seq(
  "java.lang",
  "java.lang.invoke",
  "java.lang.reflect",
  "java.io",
  "java.net",
  "java.nio",
  "java.util",
  "java.util.concurrent",
  "java.util.concurrent.atomic",
  "sun.nio.ch",
  "sun.nio.cs",
  "sun.security.action",
  "sun.util.calendar"
).map(p => s"--add-opens=java.base/$p=ALL-UNNAMED") :+ "--add-modules=jdk.incubator.vector"

// The example of an accelerator of a third party, in a jar of its own. It has a build of its own too, which a test runs.
lazy val example = (project in file("target/example-accelerator"))
  .dependsOn(api % Provided)
  .settings(
    scalaVersion := (root / scalaVersion).value,
    libraryDependencies += "org.apache.spark" %% "spark-sql" % sparkVersion % Provided,
    Compile / scalaSource := (root / baseDirectory).value / "tests/example-accelerator/src/main/scala",
    Compile / packageBin / artifactPath := (root / target).value / "example-accelerator.jar"
  )

// Spark's own join suites, from its published tests, with the extension switched on.
lazy val sparkSuites = (project in file("tests/spark"))
  .settings(
    scalaVersion := "2.13.18",
    libraryDependencies ++= Seq("core", "catalyst", "sql").flatMap { module =>
      val jar = "org.apache.spark" %% s"spark-$module" % "4.2.0"
      Seq(jar, jar.classifier("tests"))
    } ++ Seq(
      "org.scalatest" %% "scalatest" % "3.2.19",
      "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0",
      "org.scalatestplus" %% "mockito-5-12" % "3.2.19.0"
    ),
    Compile / scalaSource := baseDirectory.value / "src",
    Compile / resourceDirectory := baseDirectory.value / "resources",
    // Before Spark's jars: ours, and the inputs of Spark's tests, which they read as files. Ours has the classes of the
    // api too, and is not built here: other tests may be running with it.
    Runtime / unmanagedClasspath ++= {
      val inputs = target.value / "home/sql/core/src/test/resources"
      val jars = (Compile / managedClasspath).value.map(_.data)
      jars.filter(_.name.matches("spark-sql_.*-tests.jar")).foreach { jar =>
        IO.unzip(jar, inputs, (name: String) => name.matches("(sql-tests|test-data)/.*"))
      }
      Seq((root / assembly / assemblyOutputPath).value, inputs).map(Attributed.blank)
    },
    run / fork := true,
    Compile / bgRun / bgCopyClasspath := false,
    run / baseDirectory := target.value,
    // No Python, so that tests of its functions are canceled at once.
    run / envVars += "PYSPARK_PYTHON" -> "none",
    run / outputStrategy := Some(StdoutOutput),
    run / javaOptions ++= sparkJavaOptions :+ "-Xmx3g"
  )

// What accelerators are compiled against. The sources lie beside the others.
lazy val api = (project in file("target/api"))
  .settings(compiled, Publishing.ofApi)
  .settings(
    name := "thetajoin-api",
    Compile / unmanagedSources := (Compile / unmanagedSources).value.filter(Api.has)
  )

// What tests an accelerator. Its own tests are those of the built-in accelerators.
lazy val testkit = (project in file("scala/testkit"))
  .dependsOn(root)
  .settings(common, tested, Publishing.ofTestkit)
  .settings(
    name := "thetajoin-testkit",
    libraryDependencies ++= testLibraries,
    Test / resourceDirectory := (root / Test / resourceDirectory).value,
    // Code that runs once is most of the time.
    Test / javaOptions ++= "-XX:TieredStopAtLevel=1" +: sys.props.toSeq.collect {
      case (key, value) if key.startsWith("thetajoin.testkit.") => s"-D$key=$value"
    }
  )

lazy val root = (project in file("."))
  .dependsOn(api)
  .aggregate(api, LocalProject("testkit"))
  .settings(compiled, tested, Publishing.ofExtension)
  .settings(
    name := "thetajoin",
    libraryDependencies ++= Seq(
      "org.locationtech.jts" % "jts-core" % "1.20.0",
      "net.sf.geographiclib" % "GeographicLib-Java" % "2.1"
    ) ++ testLibraries.map(_ % Test),
    Compile / unmanagedSources := (Compile / unmanagedSources).value.filterNot(Api.has),
    Compile / resourceDirectory := baseDirectory.value / "scala/src/main/resources",
    Test / scalaSource := baseDirectory.value / "scala/src/test/scala",
    Test / javaSource := baseDirectory.value / "scala/src/test/java",
    Test / resourceDirectory := baseDirectory.value / "scala/src/test/resources",
    // The jar for spark.jars. Both libraries are in it, under names of ours: Spark has JTS since 4.1 only, and other
    // extensions bring their own.
    assembly / assemblyOutputPath := target.value / "scala-2.13/thetajoin.jar",
    assembly / assemblyPackageScala / assembleArtifact := false,
    assembly / assemblyShadeRules := Seq(
      ShadeRule.rename(
        "org.locationtech.jts.**" -> "thetajoin.shaded.jts.@1",
        "net.sf.geographiclib.**" -> "thetajoin.shaded.geographiclib.@1"
      ).inAll
    ),
    run / fork := true,
    // Spark is provided, but what writes the docs runs outside of it.
    Compile / runMain := Defaults
      .runMainTask(Compile / fullClasspath, Compile / run / runner)
      .evaluated,
    Compile / runMain / aggregate := false,
    Compile / packageBin / aggregate := false
  )

lazy val testLibraries = Seq(
  "org.scalatest" %% "scalatest" % "3.2.19",
  "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0"
)

lazy val common = Def.settings(
  version := "0.1.0",
  scalaVersion := "2.13.16",
  libraryDependencies += "org.apache.spark" %% "spark-sql" % sparkVersion % Provided,
  compileOrder := CompileOrder.JavaThenScala,
  scalacOptions ++= Seq(
    "-deprecation",
    "-feature",
    "-unchecked",
    "-Werror",
    "-Xlint:_,-byname-implicit",
    "-Wunused:_"
  ),
  // Of the JDK's own, the class file format and what the class path has: the Vector API is of a module that --release does not know.
  javacOptions ++= Seq("-source", "17", "-target", "17", "--add-modules", "jdk.incubator.vector"),
  semanticdbEnabled := true,
  semanticdbVersion := scalafixSemanticdb.revision
)

// The folder of the sources is one, and each project compiles some of them.
lazy val compiled = Def.settings(
  common,
  Compile / scalaSource := (ThisBuild / baseDirectory).value / "scala/src/main/scala",
  Compile / javaSource := (ThisBuild / baseDirectory).value / "scala/src/main/java"
)

lazy val tested = Def.settings(
  Test / fork := true,
  Test / javaOptions ++= sparkJavaOptions :+ "-Xmx3g",
  Test / parallelExecution := false
)
