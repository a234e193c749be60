package thetajoin.exec

import java.lang.reflect.{Field, Modifier}
import java.nio.file.{Files, Path}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.serializer.{KryoSerializer, SerializerInstance}
import org.apache.spark.sql.Column
import org.apache.spark.sql.classic.AsOf
import org.apache.spark.sql.execution.SparkPlan

import com.esotericsoftware.kryo.Kryo
import org.scalatest.funsuite.AnyFunSuite

import thetajoin.contract.JoinIndex
import thetajoin.driver.unmatched.MatchedSlice
import thetajoin.relation.ThetaRelation
import thetajoin.{SharedSession, ThetaJoinKryoRegistrator}

/** A session in which Kryo fails on every class that it has not been told of. */
class KryoRegistrationSuite extends AnyFunSuite with SharedSession {
  override protected def settings: Map[String, String] = Map(
    "spark.serializer" -> classOf[KryoSerializer].getName,
    "spark.kryo.registrationRequired" -> "true",
    "spark.kryo.registrator" -> classOf[ThetaJoinKryoRegistrator].getName
  )

  private lazy val serializer = new KryoSerializer(spark.sparkContext.getConf)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val probe = spark.range(0, 900, 1, 3).selectExpr(
      "id",
      "IF(id % 9 = 0, NULL, id % 70) AS k",
      "id * 37 % 1000 AS x",
      "concat('s', id % 30) AS s",
      "concat('text of more bytes-', id % 30) AS t"
    )
    val build = spark.range(0, 300, 1, 2).selectExpr(
      "id AS no",
      "IF(id % 11 = 0, NULL, id % 90) AS k",
      "id * 53 % 1000 AS lo",
      "id * 53 % 1000 + id % 40 AS hi",
      "concat('s', id % 25) AS s",
      "concat('text of more bytes-', id % 25) AS t",
      "id % 2 = 0 AS flag",
      "CAST(id % 9 AS TINYINT) AS tiny",
      "CAST(id AS SMALLINT) AS small",
      "CAST(id AS INT) AS i",
      "CAST(id AS FLOAT) AS f",
      "CAST(id AS DOUBLE) AS d",
      "CAST(id AS DECIMAL(30, 2)) AS dec",
      "array(id) AS list"
    )
    val folder = Files.createTempDirectory("thetajoin")
    for ((name, rows) <- Seq("a" -> probe, "b" -> build)) {
      rows.write.parquet(folder.resolve(name).toString)
      // Without a schema Spark's own job for it sends types that are not registered.
      spark.read.schema(rows.schema).parquet(folder.resolve(name).toString)
        .createOrReplaceTempView(name)
    }
    spark.range(0, 900, 1, 2).selectExpr("id AS no", "id AS k", "id * 3 AS lo", "id * 3 + 9 AS hi")
      .createOrReplaceTempView("single")
    spark.range(0, 900, 1, 2).selectExpr("id * 1000000007 AS k").createOrReplaceTempView("sparse")
    asOf("as_of", spark.table("a")("k") === spark.table("b")("k"))
    asOf("as_of_beside", spark.table("a")("s") === spark.table("b")("s"))
  }

  /** A view of an ASOF join, for which there is no SQL text in this Spark. */
  private def asOf(name: String, condition: Column): Unit = {
    val (a, b) = (spark.table("a"), spark.table("b"))
    AsOf.backward(a, b, a("x"), b("lo"), condition, null).selectExpr("id", "no")
      .createOrReplaceTempView(name)
  }

  private def exists(from: String, on: String, not: String = "") =
    s"SELECT * FROM a WHERE $not EXISTS (SELECT 1 FROM $from b WHERE $on)"

  private val bounds = "x >= lo AND x <= hi"
  private val overlap = "a.x < b.hi AND a.x + 5 > b.lo"
  private def alike(whole: String) =
    s"size(array_intersect(array(a.x, a.id), array(b.lo, b.hi))) >= 0.4 * $whole"

  private def mostAlike(where: String) =
    "SELECT a.id, d FROM a, LATERAL (SELECT size(array_intersect(array(a.x, a.id), array(b.lo, b.hi))) / " +
      s"size(array_union(array(a.x, a.id), array(b.lo, b.hi))) AS d FROM b WHERE $where ORDER BY d DESC LIMIT 2)"

  private val broadcast = Seq(
    "nestedloop" -> "SELECT * FROM a JOIN b ON a.s <> b.s AND (x + no) % 97 = 3",
    "piecewise" -> "SELECT * FROM a LEFT JOIN b ON x > hi",
    "piecewise" -> "SELECT a.id, b.s FROM a JOIN b ON a.s < b.s",
    "piecewise" -> "SELECT a.id, b.dec FROM a JOIN b ON a.id + 0.5BD < b.dec",
    "piecewise" -> "SELECT a.id, b.list FROM a JOIN b ON array(a.id) < b.list",
    "piecewise" -> "SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.lo > a.x)",
    "interval" -> s"SELECT * FROM a JOIN b ON $bounds",
    "interval" -> s"SELECT * FROM a JOIN b ON a.k = b.k AND $bounds",
    "interval" -> s"SELECT * FROM a JOIN b ON a.s = b.s AND $bounds",
    "interval" -> s"SELECT * FROM a JOIN b ON a.s = b.s AND a.k = b.k AND $bounds",
    "interval" -> s"SELECT * FROM a JOIN b ON a.t = b.t AND $bounds",
    "interval" -> s"SELECT * FROM a JOIN b ON $overlap",
    "interval" -> "SELECT * FROM a JOIN b ON a.s BETWEEN b.s AND b.t",
    "interval" -> "SELECT * FROM a JOIN b ON binary(a.s) BETWEEN binary(b.s) AND binary(b.t)",
    "interval" -> "SELECT * FROM a JOIN b ON CAST(a.x AS DECIMAL(30, 2)) BETWEEN b.dec AND CAST(b.dec + 1 AS DECIMAL(30, 2))",
    "interval" -> "SELECT * FROM a JOIN b ON struct(a.x, a.id) BETWEEN struct(b.lo, b.no) AND struct(b.hi, b.no)",
    "interval" -> "SELECT * FROM a JOIN b ON struct(a.s) BETWEEN struct(b.s) AND struct(b.t)",
    "interval" -> "SELECT * FROM a JOIN b ON a.k = b.k AND a.x > b.lo",
    "interval" -> "SELECT * FROM b JOIN a ON a.x BETWEEN b.lo AND b.hi",
    "interval" -> "SELECT * FROM a JOIN b ON b.lo BETWEEN a.x AND a.x + 9",
    "interval" -> s"SELECT /*+ BROADCAST(b) */ * FROM a JOIN single b ON a.k = b.k AND $bounds",
    "interval" -> "SELECT /*+ BROADCAST(b) */ * FROM a JOIN single b ON a.k = b.k AND b.lo BETWEEN a.x AND a.x + 500",
    "existence" -> exists("b", "b.k = a.k"),
    "existence" -> exists("sparse", "b.k = a.k", "NOT"),
    "existence" -> exists("b", "b.s = a.s"),
    "existence" -> exists("b", "b.t = a.t"),
    "existence" -> exists("b", "b.s = a.s AND b.k = a.k"),
    "existence" -> exists("b", "b.k = a.k AND b.lo <> a.x"),
    "existence" -> exists("b", "b.k = a.k AND b.lo > a.x"),
    "existence" -> exists("b", "b.s = a.s AND b.lo > a.x"),
    "existence" -> exists("b", "b.k = a.k AND (b.lo + a.x) % 3 = 1"),
    "existence" -> exists("b", "b.s = a.s AND (b.lo + a.x) % 3 = 1"),
    "existence" -> "SELECT * FROM a WHERE (k, x) NOT IN (SELECT k, lo FROM b)",
    "existence" -> "SELECT * FROM a WHERE (k, s) NOT IN (SELECT k, s FROM b)",
    "nearest" -> "SELECT * FROM as_of",
    "nearest" -> "SELECT * FROM as_of_beside",
    "nearest" -> "SELECT a.id, no FROM a, LATERAL (SELECT no FROM b WHERE b.k = a.k AND b.s <= a.s ORDER BY b.s DESC LIMIT 1)",
    "nearest" -> closest("k"),
    "nearest" -> closest("s"),
    "boxes" -> s"SELECT * FROM a JOIN b ON $bounds AND a.id > b.no AND a.id < b.no + 500",
    "boxes" -> s"SELECT * FROM a JOIN b ON a.k = b.k AND $bounds AND a.id > b.no AND a.id < b.no + 500",
    "boxes" -> s"SELECT * FROM a JOIN b ON a.s = b.s AND $bounds AND a.id > b.no AND a.id < b.no + 500",
    "boxes" -> "SELECT * FROM a JOIN b ON st_intersects(st_point(a.x, a.id), st_point(b.lo, b.no))",
    "boxes" -> ("SELECT a.id, d FROM a, LATERAL (SELECT hypot(a.x - b.lo, a.id - b.no) AS d FROM b " +
      "WHERE hypot(a.x - b.lo, a.id - b.no) IS NOT NULL ORDER BY d LIMIT 2)"),
    "interval" -> exists("b", bounds),
    "existence" -> exists("b", s"b.k = a.k AND $bounds"),
    "existence" -> exists("b", s"b.s = a.s AND $bounds"),
    "interval" -> exists("b", "b.lo > a.x AND b.hi < a.id"),
    "containment" -> onSets("b.lo IN (a.x, a.id)"),
    "containment" -> onSets("a.x IN (b.lo, b.hi)"),
    "containment" -> onSets("a.s IN (b.s, concat(b.s, 'x'))"),
    "containment" -> onSets("size(array_intersect(array(a.x, a.id), array(b.lo, b.hi))) > 1"),
    "containment" -> onSets("size(array_except(array(a.x), array(b.lo, b.hi))) = 0"),
    "containment" -> onSets("size(array_except(array(b.lo, b.hi), array(a.x, a.id))) = 0"),
    "containment" -> onSets("a.k = b.k AND a.x IN (b.lo, b.hi)"),
    "containment" -> onSets(alike("size(array_union(array(a.x, a.id), array(b.lo, b.hi)))")),
    "containment" -> onSets(alike("(size(array(a.x, a.id)) + size(array(b.lo, b.hi)))")),
    "containment" -> onSets(alike("sqrt(size(array(a.x, a.id)) * size(array(b.lo, b.hi)))")),
    "containment" -> onSets(alike("least(size(array(a.x, a.id)), size(array(b.lo, b.hi)))")),
    "containment" -> onSets(alike("greatest(size(array(a.x, a.id)), size(array(b.lo, b.hi)))")),
    "containment" -> onSets(alike("size(array(a.x, a.id))")),
    "containment" -> onSets(alike("size(array(b.lo, b.hi))")),
    "containment" -> onSets("size(array_intersect(array(a.x, a.id), array(b.lo, b.hi))) >= b.tiny"),
    "containment" -> mostAlike("1 = 1"),
    "containment" -> mostAlike("a.k = b.k"),
    "containment" -> mostAlike("a.s = b.s"),
    "wildcard" -> onSets("(b.k IS NULL OR a.k = b.k) AND (b.s = '' OR a.s = b.s)"),
    "patterns" -> onSets("contains(a.t, b.s)"),
    "patterns" -> onSets("a.k = b.k AND a.s LIKE b.s || '%'"),
    "patterns" -> onSets("a.t RLIKE b.s || '|e'"),
    "patterns" -> onSets("startswith(b.s, a.t)"),
    "patterns" -> onSets("contains(b.s, a.t)"),
    "patterns" -> onSets("a.k = b.k AND b.s LIKE a.t || '%'"),
    "patterns" -> onSets("b.s RLIKE a.t || '|e'"),
    "similar" -> onSets("levenshtein(a.s, b.s) <= 1"),
    "similar" -> onSets("a.k = b.k AND levenshtein(a.t, b.t) <= b.tiny"),
    "similar" -> onSets("levenshtein(a.t, b.t) <= 0.1 * length(a.t)"),
    "similar" -> nearestText,
    "vector" -> onSets("vector_l2_distance(array(float(a.x)), array(float(b.lo))) < 2"),
    "anyof" -> onSets(s"a.x = b.lo OR a.s = b.s OR ($bounds) OR a.id IN (b.lo, b.hi)")
  )

  private def nearestText: String =
    """SELECT a.id, d FROM a, LATERAL (SELECT levenshtein(a.s, b.s) AS d FROM b
      |  WHERE levenshtein(a.s, b.s) IS NOT NULL ORDER BY d LIMIT 2)""".stripMargin

  private def closest(key: String): String =
    s"""SELECT a.id, d FROM a, LATERAL (
       |  SELECT abs(a.x - b.lo) AS d FROM b WHERE a.$key = b.$key AND a.x IS NOT NULL AND b.lo IS NOT NULL ORDER BY d LIMIT 1
       |)""".stripMargin

  private def onSets(condition: String): String =
    s"SELECT /*+ BROADCAST(b) */ * FROM a LEFT JOIN b ON $condition"

  test("each kind of index is broadcast, and read as it was written") {
    val kryo = serializer.newInstance()
    val seen = broadcast.flatMap { case (accelerator, sql) =>
      val plan = withConf("spark.sql.codegen.wholeStage" -> "false")(
        withClue(sql)(assertSame(sql, accelerator))
      )
      val relations = broadcastJoins(plan).map(_.relation().value)
      assert(relations.size == 1, sql)
      relations.foreach(assertReadAsWritten(kryo, _, sql))
      relations.map(_.index.getClass: Class[_])
    }
    // An index of Python's is made by a Python worker: tests/python/test_python_workers.py has it.
    val ofPython = "thetajoin.accelerator.python."
    val indexes = classes.filter(classOf[JoinIndex].isAssignableFrom(_))
    assert(seen.toSet == indexes.filterNot(_.getName.startsWith(ofPython)))
  }

  private def assertReadAsWritten(
      kryo: SerializerInstance,
      relation: ThetaRelation,
      sql: String
  ): Unit = {
    val written = kryo.serialize(relation)
    assert(kryo.serialize(kryo.deserialize[ThetaRelation](written.duplicate())) == written, sql)
  }

  test("each kind of node moves its rows") {
    val shuffled = Seq("spark.sql.autoBroadcastJoinThreshold" -> "1b")
    val measured = shuffled ++ Seq("spark.sql.adaptive.autoBroadcastJoinThreshold" -> "1m")
    val full = s"FROM a FULL JOIN b ON $bounds"
    val onKeys = "SELECT /*+ BROADCAST(b) */ b.* FROM b LEFT"
    def has[A <: SparkPlan: reflect.ClassTag](plan: SparkPlan) =
      collect(plan) { case node: A => node }.nonEmpty
    for (codegen <- Seq(true, false)) {
      def check[A <: SparkPlan: reflect.ClassTag](sql: String, accelerator: String)(
          confs: (String, String)*
      ): Unit = withConf(confs :+ ("spark.sql.codegen.wholeStage" -> codegen.toString): _*) {
        val plan = assertSame(sql, accelerator)
        assert(has[A](plan), s"$sql\n$plan")
      }
      check[BroadcastThetaJoinExec](s"SELECT * $full", "interval")()
      check[BroadcastThetaJoinExec](s"$onKeys SEMI JOIN a ON a.k = b.k AND x > lo", "interval")()
      check[BroadcastThetaJoinExec](s"$onKeys ANTI JOIN a ON x BETWEEN lo AND hi", "interval")()
      check[BroadcastThetaJoinExec](
        "SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k)",
        "existence"
      )()
      check[BroadcastThetaJoinExec](
        "SELECT * FROM a WHERE (k, s) NOT IN (SELECT k, s FROM b)",
        "existence"
      )()
      check[BlockThetaJoinExec](exists("b", "b.s = a.s"), "existence")(shuffled: _*)
      check[BroadcastThetaJoinExec](exists("b", "b.s = a.s"), "existence")(measured: _*)
      check[ShuffledThetaJoinExec](
        s"SELECT * FROM a JOIN b ON a.k = b.k AND $bounds",
        "interval"
      )(shuffled: _*)
      check[BroadcastThetaJoinExec](s"SELECT count(*), sum(no) $full", "interval")()
      if (codegen) check[MarkRowsExec](s"$onKeys SEMI JOIN a ON a.k = b.k", "existence")()
    }
  }

  test("an error that a pair raised reaches the task that knows whether it counts") {
    def query(compared: String) = spark.sql(
      s"SELECT /*+ BROADCAST(b) */ no FROM b LEFT SEMI JOIN a ON x > lo AND 100 DIV (x - no) $compared"
    )
    // One row of b has no larger x; all others have one that differs from their number.
    assert(query("< 1000").collect().length == 299)
    assert(broadcastJoins(query("< 1000").queryExecution.executedPlan).size == 1)
    assert(intercept[Exception](query("> 1000").collect()).toString.contains("DIVIDE_BY_ZERO"))
  }

  // ---- What values are made of ------------------------------------------------------------------

  /** Our classes of which there are instances. */
  private lazy val classes: Set[Class[_]] =
    Set[Class[_]](classOf[ThetaRelation], classOf[JoinIndex]).flatMap(classesBeside)

  private def classesBeside(one: Class[_]): Set[Class[_]] = {
    val root = Path.of(one.getProtectionDomain.getCodeSource.getLocation.toURI)
    Using.resource(Files.walk(root.resolve("thetajoin")))(_.iterator.asScala.map(root.relativize)
      .map(_.toString).filter(_.endsWith(".class"))
      .map(name =>
        Class.forName(name.stripSuffix(".class").replace('/', '.'), false, getClass.getClassLoader)
      )
      .filter(c => !c.isInterface && !Modifier.isAbstract(c.getModifiers))
      .toSet)
  }

  /** Classes of others that a field of ours may be declared as: Kryo or Spark has registered what is in such a field. */
  private val known: Set[Class[_]] = Set(
    classOf[String],
    classOf[Option[_]],
    // FlatColumn.values, a primitive array.
    classOf[AnyRef]
  )

  test("all that a value can be made of is registered") {
    val kryo: Kryo = serializer.newKryo()
    val found = mutable.LinkedHashSet.empty[Class[_]]
    def fields(c: Class[_]): Seq[Field] =
      Option(c).toSeq.flatMap(c => c.getDeclaredFields.toSeq ++ fields(c.getSuperclass))
        .filterNot(f => Modifier.isStatic(f.getModifiers) || Modifier.isTransient(f.getModifiers))
    def add(declared: Class[_]): Unit =
      if (!declared.isPrimitive && !known(declared) && found.add(declared)) {
        if (declared.isArray) add(declared.getComponentType)
        else {
          assert(declared.getName.startsWith("thetajoin."), s"what is in a field of $declared?")
          classes.filter(c => c != declared && declared.isAssignableFrom(c)).foreach(add)
          fields(declared).foreach(f => add(f.getType))
        }
      }
    Seq(classOf[ThetaRelation], classOf[MatchedSlice]).foreach(add)
    assert(found.contains(classOf[thetajoin.kit.keys.ShortTable]))
    val written = found.filter(c => c.isArray || classes(c))
    assert(written.filter(kryo.getClassResolver.getRegistration(_) == null).toSet == Set.empty)
  }
}
