"""Reasons that SQL text alone can't bring about, and the places where reasons are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from differential import execute
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
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


def test_streaming_joins_are_left_to_spark(session: SparkSession, tmp_path: Path) -> None:
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
    assert "ARRIVAL_ORDER" not in reasons(session, sql.replace("LIMIT", "ORDER BY y LIMIT"))


def test_an_unreadable_setting_reaches_the_user(session: SparkSession) -> None:
    session.conf.set("spark.thetajoin.broadcast.maxBytes", "lots")
    with pytest.raises(PySparkException, match="INVALID_SETTING"):
        session.sql("SELECT * FROM a JOIN b ON x > y").collect()


def test_an_unknown_accelerator_class_reaches_the_user(session: SparkSession) -> None:
    session.conf.set("spark.thetajoin.accelerators", "no.such.Accelerator")
    with pytest.raises(PySparkException, match="INVALID_ACCELERATOR"):
        session.sql("SELECT * FROM a JOIN b ON x > y").collect()
