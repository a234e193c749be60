// A user's project, which finds thetajoin in a Maven repository: the folder of `make publish-local`.
scalaVersion := "2.13.16"
resolvers += "thetajoin" at sys.props("thetajoin.maven")
libraryDependencies ++= Seq(
  "thetajoin" %% "thetajoin" % sys.props("thetajoin.version"),
  "org.apache.spark" %% "spark-sql" % "4.0.0"
)

run / fork := true
run / outputStrategy := Some(StdoutOutput)
// What Spark's own launcher gives to a JVM of JDK 17 or newer.
run / javaOptions ++= Seq(
  "java.lang",
  "java.lang.invoke",
  "java.net",
  "java.nio",
  "java.util",
  "sun.nio.ch"
).map(name => s"--add-opens=java.base/$name=ALL-UNNAMED")
