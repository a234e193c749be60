"""Questions that the advisor asks a session, apart from logs."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession
from thetajoin import settings
from thetajoin._advisor.plans import parse_join
from thetajoin._advisor.questions import Question, ask, confs
from thetajoin._plans import explain_text


def test_a_condition_that_spark_prints_differently_is_not_confirmed(spark: SparkSession) -> None:
    """Spark would have printed a cast in the log, had the columns these types."""
    question = Question("Inner", "(a#1 > b#2)", (1,), 10, 10, {1: "string", 2: "int"})
    found = ask(spark, question)
    assert (found.why_not, found.confirmed) == ("", False)
    assert ask(spark, replace(question, types={1: "int", 2: "int"})).confirmed


def test_assumed_types_are_told(spark: SparkSession) -> None:
    found = ask(spark, Question("Inner", "(a#1 > b#2)", (1,), 10, 10, {}))
    assert (found.accelerator, found.confirmed) == ("piecewise", True)
    assert found.types == {"a": "int", "b": "int"}


def test_a_reason_is_told_in_place_of_an_accelerator(spark: SparkSession) -> None:
    found = ask(spark, Question("Inner", "((a#1 = b#2) AND (a#1 <> b#3))", (1,), 1000, 1000, {}))
    assert found.why_not
    question = Question("Inner", "((a#1 = b#2) AND NOT (c#3 = d#4))", (1, 3), 1000, 1000, {})
    found = ask(spark, question)
    assert (found.accelerator, found.reason_code) == (None, "EQUI_KEYS")


@pytest.mark.parametrize(
    "kind",
    [
        "Inner",
        "Cross",
        "LeftOuter",
        "RightOuter",
        "FullOuter",
        "LeftSemi",
        "LeftAnti",
        "ExistenceJoin(exists#5)",
    ],
)
def test_every_join_type_is_asked(spark: SparkSession, kind: str) -> None:
    condition = "((a#1L >= lo#2L) AND (a#1L < hi#3L))"
    found = ask(spark, Question(kind, condition, (1,), 5000, 40, {}))
    assert (found.why_not, found.accelerator, found.confirmed) == ("", "interval", True)
    assert found.sql == "((l.`a` >= r.`lo`) AND (l.`a` < r.`hi`))"


def test_the_rows_of_the_log_decide_which_side_is_built(spark: SparkSession) -> None:
    few, many = 10, 100_000
    condition = "((a#1L >= lo#2L) AND (a#1L < hi#3L))"
    assert ask(spark, Question("Inner", condition, (1,), many, few, {})).build_side == "BuildRight"
    assert ask(spark, Question("Inner", condition, (1,), few, many, {})).build_side == "BuildLeft"


def test_settings_of_the_log_hold_for_its_question_only(spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    other = "false" if before == "true" else "true"
    told = {"spark.sql.ansi.enabled": other, "spark.executor.memory": "1g"}
    assert confs(told, "4.0.0") == {"spark.sql.ansi.enabled": other}
    assert confs({}, "3.5.1") == {"spark.sql.ansi.enabled": "false"}
    assert confs({}, "4.1.0") == {}
    question = Question("Inner", "(a#1 > b#2)", (1,), 10, 10, {}, confs(told, "4.0.0"))
    assert ask(spark, question).confirmed
    assert spark.conf.get("spark.sql.ansi.enabled") == before
    assert spark.conf.get(settings.ENABLED) == "true"


def test_a_function_that_spark_does_not_know_is_told(spark: SparkSession) -> None:
    found = ask(spark, Question("Inner", "my_own(a#1, b#2)", (1,), 10, 10, {}))
    assert "UNRESOLVED_ROUTINE" in found.why_not
    assert found.accelerator is None


TABLE = """
SELECT nullif(int(id), 5) AS i, id AS l, double(id) AS x, timestamp_seconds(id) AS t,
  string(nullif(id, 3)) AS s,
  date_from_unix_date(int(id)) AS d, cast(id AS decimal(10,2)) AS p, array(string(id)) AS tags
FROM range(100)
"""
CONDITIONS = [
    "a.i > b.i",
    "a.l > b.l + 5",
    "a.i > b.l",
    "a.i BETWEEN b.i - 3 AND b.i + 3",
    "abs(a.x - b.x) <= 2.5D",
    "a.t > b.t - INTERVAL 5 MINUTES AND a.t <= b.t",
    "a.t - b.t < INTERVAL 5 MINUTES AND a.t > b.t",
    "a.t >= b.t AND (a.t < TIMESTAMP'2024-01-01 00:00:00' OR b.t > a.t)",
    "a.d > b.d + INTERVAL 1 DAY",
    "a.d BETWEEN b.d AND date_add(b.d, 5)",
    "datediff(a.d, b.d) < 3",
    "a.p > b.p",
    "a.s LIKE concat('%', b.s, '%')",
    "a.s LIKE concat(b.s, '!%') ESCAPE '!'",
    "a.s ILIKE b.s",
    "a.s RLIKE b.s",
    "startswith(a.s, b.s)",
    "contains(a.s, b.s)",
    "levenshtein(a.s, b.s) < 3",
    "upper(a.s) > lower(b.s)",
    "array_contains(a.tags, b.s)",
    "arrays_overlap(a.tags, b.tags)",
    "size(array_intersect(a.tags, b.tags)) > 0",
    "a.s = b.s OR a.i = b.i + 5",
    "(b.s IS NULL OR a.s = b.s) AND (b.i IS NULL OR a.i = b.i)",
    "b.s = '*' OR a.s = b.s",
    "a.s > b.s AND b.s IN ('a b', 'c') OR b.s > a.s",
    "CASE WHEN a.i > 5 THEN a.i ELSE 0 END > b.i",
    "coalesce(a.i, 7) >= greatest(b.i, 3) AND least(a.x, b.x) > 1D",
    "NOT (a.s = b.s) AND a.i < b.i",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_that_spark_prints_are_read(spark: SparkSession, condition: str) -> None:
    """Spark's own plan shows the condition; no type is told but BIGINT."""
    spark.sql(TABLE).createOrReplaceTempView("advised")
    spark.conf.set(settings.ENABLED, "false")
    try:
        query = f"SELECT * FROM advised AS a JOIN advised AS b ON {condition}"
        plan = explain_text(spark.sql(query))
    finally:
        spark.conf.unset(settings.ENABLED)
    line, left = re.findall(r"(?:NestedLoopJoin|Product) .*|Project \[.*", plan)[:2]
    join = parse_join(f"Broadcast{line}" if line.startswith("Nested") else f"Cartesian{line}")
    assert join is not None
    printed = join[3]
    assert printed is not None
    of_left = set(re.findall(r" AS \w+#(\d+)", left)) & set(re.findall(r"#(\d+)", printed))
    numbers = tuple(map(int, of_left))
    assert numbers
    found = ask(spark, Question("Inner", printed, numbers, 1000, 1000, {}))
    assert (found.why_not, found.confirmed) == ("", True), found
    assert found.accelerator is not None
