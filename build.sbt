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

// An accelerator of a third party, as an example, in a jar of its own.
lazy val example = (project in file("tests/example-accelerator"))
  .dependsOn(root % Provided)
  .settings(
    name := "thetajoin-example-accelerator",
    scalaVersion := (root / scalaVersion).value,
    libraryDependencies += "org.apache.spark" %% "spark-sql" % sparkVersion % Provided,
    Compile / packageBin / artifactPath := target.value / "example-accelerator.jar"
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
    // Before Spark's jars: ours, and the inputs of Spark's tests, which they read as files.
    Runtime / unmanagedClasspath ++= {
      val inputs = target.value / "home/sql/core/src/test/resources"
      val jars = (Compile / managedClasspath).value.map(_.data)
      jars.filter(_.name.matches("spark-sql_.*-tests.jar")).foreach { jar =>
        IO.unzip(jar, inputs, (name: String) => name.matches("(sql-tests|test-data)/.*"))
      }
      Seq((root / Compile / packageBin).value, inputs).map(Attributed.blank)
    },
    run / fork := true,
    Compile / bgRun / bgCopyClasspath := false,
    run / baseDirectory := target.value,
    // No Python, so that tests of its functions are canceled at once.
    run / envVars += "PYSPARK_PYTHON" -> "none",
    run / outputStrategy := Some(StdoutOutput),
    run / javaOptions ++= sparkJavaOptions :+ "-Xmx3g"
  )

lazy val root = (project in file("."))
  .settings(Publishing.settings)
  .settings(
    name := "thetajoin",
    version := "0.1.0",
    scalaVersion := "2.13.16",
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql" % sparkVersion % Provided,
      "org.locationtech.jts" % "jts-core" % "1.20.0",
      "net.sf.geographiclib" % "GeographicLib-Java" % "2.1",
      "org.scalatest" %% "scalatest" % "3.2.19" % Test,
      "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
    ),
    Compile / scalaSource := baseDirectory.value / "scala/src/main/scala",
    Compile / javaSource := baseDirectory.value / "scala/src/main/java",
    Compile / resourceDirectory := baseDirectory.value / "scala/src/main/resources",
    Test / scalaSource := baseDirectory.value / "scala/src/test/scala",
    Test / javaSource := baseDirectory.value / "scala/src/test/java",
    Test / resourceDirectory := baseDirectory.value / "scala/src/test/resources",
    // Both are in our jar, under names of ours: Spark has JTS since 4.1 only, and other extensions bring their own.
    Compile / packageBin := assembly.value,
    assembly / assemblyOutputPath := target.value / "scala-2.13/thetajoin.jar",
    assembly / assemblyPackageScala / assembleArtifact := false,
    assembly / assemblyShadeRules := Seq(
      ShadeRule.rename(
        "org.locationtech.jts.**" -> "thetajoin.shaded.jts.@1",
        "net.sf.geographiclib.**" -> "thetajoin.shaded.geographiclib.@1"
      ).inAll
    ),
    compileOrder := CompileOrder.JavaThenScala,
    scalacOptions ++= Seq(
      "-deprecation",
      "-feature",
      "-unchecked",
      "-Werror",
      "-Xlint:_,-byname-implicit",
      "-Wunused:_"
    ),
    // Two files are in a package of Spark's, for what is private to it.
    Compile / doc / scalacOptions ++= Seq("-skip-packages", "org.apache.spark"),
    // Of the JDK's own, the class file format and what the class path has: the Vector API is of a module that --release does not know.
    javacOptions ++= Seq("-source", "17", "-target", "17", "--add-modules", "jdk.incubator.vector"),
    semanticdbEnabled := true,
    semanticdbVersion := scalafixSemanticdb.revision,
    run / fork := true,
    // Spark is provided, but what writes the docs runs outside of it.
    Compile / runMain := Defaults
      .runMainTask(Compile / fullClasspath, Compile / run / runner)
      .evaluated,
    Test / fork := true,
    Test / javaOptions ++= sparkJavaOptions :+ "-Xmx3g",
    Test / parallelExecution := false
  )
