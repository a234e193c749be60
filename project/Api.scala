import java.io.File

/** The sources of thetajoin-api: the packages that accelerators are written with, and what these need of others. */
object Api {
  private val folders = Seq("thetajoin/contract", "thetajoin/kit", "thetajoin/reason")
  private val files = Seq(
    "thetajoin/condition/BoundedSum.scala",
    "thetajoin/condition/JoinShape.scala",
    "thetajoin/condition/KeyExpressions.scala",
    "thetajoin/condition/OutwardSum.scala",
    "thetajoin/condition/PairExpressions.scala",
    "thetajoin/condition/Safety.scala",
    "thetajoin/condition/rules/Rule.scala",
    "thetajoin/rowstore/Pieces.scala",
    "thetajoin/rowstore/RowPages.scala",
    "org/apache/spark/sql/execution/thetabridge/Cancellation.java"
  )

  def has(source: File): Boolean = {
    val path = source.getPath.replace(File.separatorChar, '/')
    folders.exists(folder => path.contains(s"/$folder/")) || files.exists(file =>
      path.endsWith(s"/$file")
    )
  }
}
