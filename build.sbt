// One jar for Spark 4.0 to 4.3: compiled against the lowest of them, run on each.
val sparkVersion = "4.0.0"

// What a JVM needs to run Spark 4 inside of it (Spark's own launcher passes the same).
val sparkJavaOptions = Seq("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net",
  "java.nio", "java.util", "java.util.concurrent", "java.util.concurrent.atomic").map { p =>
  s"--add-opens=java.base/$p=ALL-UNNAMED"
} ++ Seq("sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar").map { p =>
  s"--add-opens=java.base/$p=ALL-UNNAMED"
}

lazy val root = (project in file("."))
  .settings(
    name := "thetajoin",
    organization := "thetajoin",
    version := "0.1.0",
    scalaVersion := "2.13.16",
    crossPaths := true,
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql" % sparkVersion % Provided,
      "org.scalatest" %% "scalatest" % "3.2.19" % Test,
      "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
    ),
    Compile / scalaSource := baseDirectory.value / "scala/src/main/scala",
    Compile / javaSource := baseDirectory.value / "scala/src/main/java",
    Compile / resourceDirectory := baseDirectory.value / "scala/src/main/resources",
    Test / scalaSource := baseDirectory.value / "scala/src/test/scala",
    Test / resourceDirectory := baseDirectory.value / "scala/src/test/resources",
    Compile / packageBin / artifactPath := target.value / "scala-2.13/thetajoin.jar",
    scalacOptions ++= Seq("-deprecation", "-feature", "-unchecked", "-Xlint:_,-byname-implicit", "-Wunused:_"),
    compileOrder := CompileOrder.JavaThenScala,
    javacOptions ++= Seq("--release", "17"),
    Test / fork := true,
    Test / javaOptions ++= sparkJavaOptions :+ "-Xmx3g",
    Test / parallelExecution := false
  )
