"""The first matches among the candidates of an index: the plan says that the join gives no others."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

FIRST = """SELECT id, no FROM (SELECT a.id, no, row_number() OVER (PARTITION BY a.id ORDER BY {order}) AS n
  FROM a {join} b ON {on}) WHERE n <= 2"""


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.range(4000).selectExpr(
        "id", "concat('w', id % 7, 'x', id) AS text", "id % 11 AS x"
    ).createTempView("a")
    session.range(30).selectExpr(
        "id AS no",
        "concat('w', id % 9) AS word",
        "nullif(id % 4, 1) AS prio",
        "id AS lo",
        "id + 3 AS hi",
    ).createTempView("b")
    return session


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize(
    "order", ["prio, no", "prio DESC NULLS FIRST, no", "length(word) DESC, prio, no"]
)
@pytest.mark.parametrize(
    ("on", "accelerator"),
    [
        ("text LIKE concat('%', word, '%')", "patterns"),
        ("x BETWEEN lo AND hi", "interval"),
        ("(prio IS NULL OR prio = x) AND (lo = 3 OR lo = x)", "wildcard"),
    ],
)
def test_the_join_gives_the_first_matches_alone(
    session: SparkSession, join: str, order: str, on: str, accelerator: str
) -> None:
    sql = FIRST.format(join=join, order=order, on=on)
    frame = session.sql(sql)
    rows = sorted(map(str, frame.collect()))
    plan = frame._jdf.queryExecution().executedPlan().toString()
    session.conf.set("spark.thetajoin.enabled", "false")
    assert rows == sorted(map(str, session.sql(sql).collect()))
    assert f"ThetaJoin {accelerator}" in plan
    assert "limit: 2" in plan
