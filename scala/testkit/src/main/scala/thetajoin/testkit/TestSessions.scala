package thetajoin.testkit

import org.apache.spark.serializer.KryoSerializer
import org.apache.spark.sql.classic.SparkSession

import thetajoin.accelerator.Registry
import thetajoin.contract.Accelerator
import thetajoin.{Settings, ThetaJoinExtensions, ThetaJoinKryoRegistrator}

/** Sessions for suites, in one Spark for those that need the same of it: to start one takes seconds. */
private[testkit] object TestSessions {

  /** Values that Spark reads once, of the Spark that runs. */
  private var running: Option[(Map[String, String], Seq[Class[_]])] = None

  def of(accelerator: Accelerator, settings: Map[String, String]): SparkSession = synchronized {
    val isBuiltIn = Registry.builtIn.exists(_.id == accelerator.id)
    val wanted = (settings, if (isBuiltIn) Nil else accelerator.wireClasses)
    val root = builder(settings)
    if (!running.contains(wanted)) {
      SparkSession.getActiveSession.orElse(SparkSession.getDefaultSession).foreach(_.stop())
      WireClasses.underTest = wanted._2
      running = Some(wanted)
    }
    val session = root.getOrCreate().newSession()
    settings.foreach { case (key, value) =>
      if (session.conf.isModifiable(key)) session.conf.set(key, value)
    }
    if (!isBuiltIn) session.conf.set(Settings.Accelerators.key, accelerator.getClass.getName)
    SparkSession.setActiveSession(session)
    session
  }

  private def builder(settings: Map[String, String]) = {
    val usual = Map(
      "spark.master" -> "local[2]",
      "spark.app.name" -> "thetajoin-testkit",
      "spark.ui.enabled" -> "false",
      "spark.sql.shuffle.partitions" -> "2",
      "spark.sql.codegen.fallback" -> "false",
      "spark.sql.extensions" -> classOf[ThetaJoinExtensions].getName,
      "spark.serializer" -> classOf[KryoSerializer].getName,
      "spark.kryo.registrationRequired" -> "true",
      "spark.kryo.registrator" ->
        s"${classOf[ThetaJoinKryoRegistrator].getName},${classOf[WireClasses].getName}",
      Settings.EquiKeysMinBuildRows.key -> "0"
    )
    (usual ++ settings).foldLeft(SparkSession.builder()) { case (b, (key, value)) =>
      b.config(key, value)
    }
  }
}
