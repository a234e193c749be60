package org.apache.spark.joinsuites

import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters._
import scala.util.Using

/**
 * Tests to run: all of a suite, or some by name.
 *
 * @param planned whether Spark plans the queries; other suites put nodes together by hand, so that no extension can
 *   replace them
 */
final case class Selection(className: String, planned: Boolean, tests: Option[Set[String]] = None) {
  val suite: String = className.split('.').last
}

object Selection {
  private val builtByHand = Seq("InnerJoinSuite", "OuterJoinSuite", "ExistenceJoinSuite")
  private val planned = Seq("JoinSuite", "DataFrameJoinSuite", "DataFrameAsOfJoinSuite", "DataFrameNearestByJoinSuite")
  private val inputs = Seq(
    "outer-join.sql",
    "inner-join.sql",
    "cross-join.sql",
    "natural-join.sql",
    "join-lateral.sql",
    "join-nearest-by.sql",
    "join-empty-relation.sql",
    "join-resolution-edge-cases.sql",
    "postgreSQL/join.sql",
    "like-any.sql",
    "like-all.sql",
    "ilike.sql",
    "ilike-any.sql",
    "ilike-all.sql",
    "regexp-functions.sql",
    "string-functions.sql",
    "collations-basic.sql",
    "collations-string-functions.sql",
    "charvarchar.sql",
    "postgreSQL/strings.sql",
    "group-by.sql",
    "group-by-filter.sql",
    "grouping_set.sql",
    "having.sql",
    "vector-agg.sql",
    "vector-distance.sql",
    "vector-norm.sql"
  )
  private val inputFolders =
    Seq("exists", "in", "scalar").map(kind => s"subquery/$kind-subquery")

  /** The join suites, those inputs of the SQL suite that are about joins, subqueries, aggregates, texts and vectors, and a suite of ours on a base of Spark's. */
  def all(home: Path): Seq[Selection] = {
    val sql = "org.apache.spark.sql"
    val folder = home.resolve("sql/core/src/test/resources/sql-tests/inputs")
    val names = inputs ++ inputFolders.flatMap { name =>
      Using.resource(Files.list(folder.resolve(name))) {
        _.iterator.asScala.map(file => s"$name/${file.getFileName}").toList
      }
    }
    builtByHand.map(name => Selection(s"$sql.execution.joins.$name", planned = false)) ++
      planned.map(name => Selection(s"$sql.$name", planned = true)) :+
      Selection(classOf[RangeMergeSuite].getName, planned = true) :+
      Selection(s"$sql.SQLQueryTestSuite", planned = true, Some(names.toSet))
  }
}
