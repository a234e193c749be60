package org.apache.spark.sql.execution.thetabridge

import scala.jdk.CollectionConverters._
import scala.util.Try
import scala.util.control.NonFatal
import scala.xml.Node

import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.sql.execution.ui.SQLExecutionUIData
import org.apache.spark.status.{AppHistoryServerPlugin, ElementTrackingStore}
import org.apache.spark.ui.{SparkUI, SparkUITab, UIUtils, WebUIPage}
import org.apache.spark.util.MetricUtils
import org.apache.spark.util.kvstore.KVStore
import org.apache.spark.{SparkConf, SparkContext}

import jakarta.servlet.http.HttpServletRequest
import org.apache.commons.text.StringEscapeUtils.unescapeHtml4

import thetajoin.Settings
import thetajoin.ui.{JoinsEvent, JoinsTable}

/** The tab of Spark's web UI that lists joins. Spark keeps the classes of its UI to its own package. */
private final class JoinsTab(ui: SparkUI) extends SparkUITab(ui, "thetajoins") {
  override val name: String = "Theta joins"
  attachPage(new JoinsPage(this, ui.store.store))
}

private final class JoinsPage(tab: JoinsTab, store: KVStore) extends WebUIPage("") {
  override def render(request: HttpServletRequest): Seq[Node] = {
    val table = new JoinsTable(
      id => Try(store.read(classOf[SQLExecutionUIData], id).description).getOrElse(""),
      id => UIUtils.prependBaseUri(request, tab.basePath, s"/SQL/execution/?id=$id"),
      (kind, number) => MetricUtils.stringValue(kind, Array(number), Array.empty)
    )
    // Spark escapes parameters, and takes single quotes out.
    val searched = Option(request.getParameter(JoinsTable.Search)).map(unescapeHtml4).getOrElse("")
    framed(request, () => table.of(JoinsStore.newestFirst(store), searched))
  }

  /** Spark 4.3 has a parameter more than 4.0. Those after the fourth get their defaults. */
  private def framed(request: HttpServletRequest, content: () => Seq[Node]): Seq[Node] = {
    val frame = UIUtils.getClass.getMethods.filter(_.getName == "headerSparkPage").head
    val defaults = (5 to frame.getParameterCount).map { number =>
      UIUtils.getClass.getMethod(s"headerSparkPage$$default$$$number").invoke(UIUtils)
    }
    frame
      .invoke(UIUtils, Seq[AnyRef](request, tab.name, content, tab) ++ defaults: _*)
      .asInstanceOf[Seq[Node]]
  }
}

/** Shows the events of a log in the history server, if there are any. A Java service. */
final class JoinsHistory extends AppHistoryServerPlugin {
  override def createListeners(conf: SparkConf, store: ElementTrackingStore): Seq[SparkListener] =
    Seq(new JoinsStore(conf, store))

  override def setupUI(ui: SparkUI): Unit =
    if (ui.store.store.count(classOf[JoinsEvent]) > 0) ui.attachTab(new JoinsTab(ui))
}

object JoinsTab extends Logging {

  /** For the running application, if that has it switched on: once, however many sessions there are. */
  def attach(): Unit =
    try SparkContext.getActive.filter(isWanted).foreach(attachTo)
    catch {
      case e @ (NonFatal(_) | _: LinkageError) =>
        logWarning("thetajoin: there is no tab of joins", e)
    }

  private def isWanted(context: SparkContext): Boolean = {
    val setting = Settings.UiEnabled
    (context.ui.isDefined || context.eventLogger.isDefined) &&
    setting.read(context.conf.get(setting.key, setting.default))
  }

  private def attachTo(context: SparkContext): Unit = synchronized {
    // By name: a JVM may load the extension with several class loaders.
    val attached = context.listenerBus.listeners.asScala.exists { listener =>
      listener.getClass.getName == classOf[JoinsReporter].getName
    }
    if (!attached) {
      val store = context.ui.map { ui =>
        ui.attachTab(new JoinsTab(ui))
        new JoinsStore(context.conf, ui.store.store.asInstanceOf[ElementTrackingStore])
      }
      // When the application ends, this queue is still emptied, but events that are posted are lost. So none are.
      context.listenerBus.addToEventLogQueue(
        new JoinsReporter(context.eventLogger.toSeq ++ store)
      )
    }
  }
}
