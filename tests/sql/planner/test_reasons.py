"""Reasons that SQL text alone can't bring about, and the places where reasons are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import thetajoin
from differential import execute
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import udf


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    session = spark.newSession()
    session.sql("SELECT id AS x FROM range(5)").createOrReplaceTempView("a")
    session.sql("SELECT id AS y FROM range(5)").createOrReplaceTempView("b")
    yield session


def reasons(session: SparkSession, sql: str) -> list[str | None]:
    text = sql.replace("'", "\\'")
    rows = session.sql(f"SELECT * FROM thetajoin_explain('{text}') ORDER BY join_number").collect()
    return [row.reason_code for row in rows]


def test_tables_that_are_too_large_for_a_stream(session: SparkSession, tmp_path: Path) -> None:
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    session.conf.set("spark.thetajoin.broadcast.maxBytes", "1b")
    session.readStream.format("rate").load().createOrReplaceTempView("ticks")
    rows = session.sql("SELECT value, x FROM ticks JOIN a ON value > x")
    query = rows.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
    try:
        query.processAllAvailable()
        execution = query._jsq.streamingQuery().lastExecution()
        mode = session._jvm.org.apache.spark.sql.execution.ExplainMode.fromString("simple")
        text = execution.explainString(mode)
    finally:
        query.stop()
    assert "BroadcastThetaJoin" not in text and "not accelerated, STREAMING" in text


@pytest.mark.slow
def test_python_functions_are_left_to_spark(session: SparkSession) -> None:
    session.udf.register("odd_sum", udf(lambda x, y: (x + y) % 2 == 1, "boolean"))
    sql = "SELECT * FROM a JOIN b ON odd_sum(x, y)"
    result = execute(session, sql)
    assert result.error is None and result.rows.total() == 12


@pytest.mark.slow
def test_python_function_of_one_side_is_computed_below(session: SparkSession) -> None:
    session.udf.register("twice", udf(lambda x: 2 * x, "long"))
    result = execute(session, "SELECT * FROM a LEFT JOIN b ON twice(x) > y")
    assert [node.accelerator for node in result.nodes] == ["piecewise"], result.plan
    assert result.rows.total() == 1 + 2 + 4 + 5 + 5


def test_nondeterministic_conditions_are_refused_by_spark(session: SparkSession) -> None:
    with pytest.raises(PySparkException, match="INVALID_NON_DETERMINISTIC_EXPRESSIONS"):
        session.sql("SELECT * FROM a JOIN b ON x > y + rand()").collect()


def test_each_join_of_a_query_is_reported(session: SparkSession) -> None:
    found = reasons(
        session,
        "SELECT * FROM a JOIN b ON x > y JOIN a AS c ON c.x = y LEFT JOIN b AS d ON d.y <> c.x",
    )
    assert sorted(map(str, found)) == ["EQUI_KEYS", "None", "None"]


def test_a_limit_without_order_takes_rows_as_sparks_join_gives_them(session: SparkSession) -> None:
    session.sql("SELECT 99 - id AS y FROM range(0, 100, 1, 1)").createOrReplaceTempView("b")
    sql = "SELECT x, y FROM a, LATERAL (SELECT y FROM b WHERE y >= x LIMIT 2)"
    session.conf.set("spark.thetajoin.enabled", "false")
    expected = sorted(session.sql(sql).collect())
    session.conf.unset("spark.thetajoin.enabled")
    assert sorted(session.sql(sql).collect()) == expected
    assert "ARRIVAL_ORDER" in reasons(session, sql)


@pytest.mark.parametrize("order", ["y", "y DESC", "-y", "z", "z DESC, y"])
@pytest.mark.parametrize("limit", ["LIMIT 1", "LIMIT 2", "LIMIT 2 OFFSET 1"])
def test_ordered_limits_are_accelerated(session: SparkSession, order: str, limit: str) -> None:
    session.sql(
        "CREATE OR REPLACE TEMP VIEW b AS "
        "SELECT 99 - id AS y, 7 * id % 101 AS z FROM range(0, 100, 1, 3)"
    )
    sql = f"SELECT x, y FROM a, LATERAL (SELECT y FROM b WHERE y >= x ORDER BY {order} {limit})"
    session.conf.set("spark.thetajoin.enabled", "false")
    expected = sorted(session.sql(sql).collect())
    session.conf.unset("spark.thetajoin.enabled")
    assert sorted(session.sql(sql).collect()) == expected
    # An index finds the first rows themselves; otherwise it is the join of the decorrelated subquery.
    is_first = order in ("y", "y DESC") and "OFFSET" not in limit
    expected_reasons = ["None"] if is_first else ["EQUI_KEYS", "None"]
    assert sorted(map(str, reasons(session, sql))) == expected_reasons


def test_sort_by_is_no_order(session: SparkSession) -> None:
    sorted_parts = "SELECT y FROM (SELECT * FROM b WHERE y >= x SORT BY y) LIMIT 1"
    assert "ARRIVAL_ORDER" in reasons(session, f"SELECT x, y FROM a, LATERAL ({sorted_parts})")


def test_operators_of_sparks_own_are_told_as_such(session: SparkSession) -> None:
    session.conf.set("spark.sql.join.asofJoin.enabled", "true")
    session.conf.set("spark.thetajoin.enabled", "false")
    sql = "SELECT * FROM a ASOF JOIN b MATCH_CONDITION (a.x >= b.y)"
    try:
        rows = session.sql(f"SELECT * FROM thetajoin_explain('{sql}')").collect()
    except PySparkException:
        pytest.skip("Spark 4.3 has ASOF JOIN")
    assert [row.reason_code for row in rows] == ["OTHER_OPERATOR"]
    (advice,) = rows[0].advice
    assert "AsOfJoin" in advice and advice.endswith(". Nothing to do.")


def test_a_dataframe_keeps_the_plan_of_a_disabled_session(session: SparkSession) -> None:
    sql = "SELECT * FROM a JOIN b ON x > y"
    session.conf.set("spark.thetajoin.enabled", "false")
    before = session.sql(sql)
    assert [join.reason_code for join in thetajoin.explain_joins(before)] == ["DISABLED"]
    session.conf.set("spark.thetajoin.enabled", "true")
    (kept,) = thetajoin.explain_joins(before)
    assert kept.reason_code == "DISABLED" and "make the DataFrame anew" in str(kept.remedy)
    assert thetajoin.explain_joins(session.sql(sql))[0].accelerated


@pytest.mark.slow
def test_joins_inside_foreach_batch_are_accelerated(session: SparkSession, tmp_path: Path) -> None:
    accelerated: list[bool] = []

    def join(batch: DataFrame, _: int) -> None:
        joined = batch.join(session.table("a"), batch.value > session.table("a").x)
        accelerated.extend(join.accelerated for join in thetajoin.explain_joins(joined))

    ticks = session.readStream.format("rate").load()
    query = ticks.writeStream.foreachBatch(join).option("checkpointLocation", str(tmp_path)).start()
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    assert accelerated and all(accelerated)


def test_an_unknown_accelerator_class_reaches_the_user(session: SparkSession) -> None:
    session.conf.set("spark.thetajoin.accelerators", "no.such.Accelerator")
    with pytest.raises(PySparkException, match="INVALID_ACCELERATOR"):
        session.sql("SELECT * FROM a JOIN b ON x > y").collect()


MANY_ARMS = " OR ".join(f"x = y + {n}" for n in range(17))

PASSED_OVER = [
    ("x <> y", "containment", "NO_SET_CONDITION", ""),
    ("x <> y", "wildcard", "NO_OPEN_COLUMN", ""),
    ("x <> y", "patterns", "NO_TEXT_CONDITION", ""),
    ("x <> y", "vector", "NO_VECTORS", ""),
    ("x <> y", "similar", "NO_EDIT_DISTANCE", ""),
    ("x <> y", "anyof", "NO_OR", ""),
    ("x = y + 1 OR x * y = 4", "anyof", "ARM_NOT_SERVED", "((a.x * b.y) = 4L)"),
    (MANY_ARMS, "anyof", "TOO_MANY_ARMS", "17 in"),
]


@pytest.mark.parametrize(("condition", "accelerator", "code", "detail"), PASSED_OVER)
def test_what_an_accelerator_lacks_is_told(
    session: SparkSession, condition: str, accelerator: str, code: str, detail: str
) -> None:
    """Reasons that an accelerator brings itself."""
    (report,) = thetajoin.explain_joins(session.sql(f"SELECT * FROM a JOIN b ON {condition}"))
    assert report.accelerator == "nestedloop"
    (told,) = [line for line in report.passed_over if line.startswith(f"{accelerator}, ")]
    assert told.startswith(f"{accelerator}, {code}: ") and detail in told


def test_as_many_arms_as_allowed_are_served(session: SparkSession) -> None:
    condition = MANY_ARMS.rpartition(" OR ")[0]
    result = execute(session, f"SELECT * FROM a JOIN b ON {condition}")
    assert [node.accelerator for node in result.nodes] == ["anyof"], result.plan
    assert result.rows.total() == 5 + 4 + 3 + 2 + 1


def test_what_bounds_nothing_is_no_box(session: SparkSession) -> None:
    (report,) = thetajoin.explain_joins(session.sql("SELECT * FROM a JOIN b ON x <> y"))
    assert report.accelerator == "nestedloop"
    assert any("FEW_DIMENSIONS" in passed for passed in report.passed_over)
