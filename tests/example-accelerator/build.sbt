// The build of an author: contract, kit and tests come from a Maven repository, the folder of `make publish-local`.
name := "example-accelerator"
scalaVersion := "2.13.16"
resolvers += "thetajoin" at sys.props("thetajoin.maven")
libraryDependencies ++= Seq(
  "thetajoin" %% "thetajoin-api" % sys.props("thetajoin.version") % Provided,
  "thetajoin" %% "thetajoin-testkit" % sys.props("thetajoin.version") % Test,
  "org.apache.spark" %% "spark-sql" % "4.0.0" % Provided
)

Test / fork := true
// What Spark's own launcher gives to a JVM of JDK 17 or newer.
Test / javaOptions ++= Seq(
  "java.lang",
  "java.lang.invoke",
  "java.net",
  "java.nio",
  "java.util",
  "java.util.concurrent",
  "sun.nio.ch",
  "sun.util.calendar"
).map(name => s"--add-opens=java.base/$name=ALL-UNNAMED")
