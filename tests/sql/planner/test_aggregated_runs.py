"""Aggregates of matches that are not listed: how many candidates there were, and how exact a sum of doubles is."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction

import pytest
import thetajoin
from pyspark.sql import SparkSession

ROWS = 3000


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    session = spark.newSession()
    session.conf.set("spark.sql.adaptive.enabled", "false")
    session.sql(
        f"SELECT id, id * 7919 % {ROWS} AS s, id * 7919 % {ROWS} + 20 + id % 100 AS e, "
        f"id % 5 AS w FROM range(0, {ROWS}, 1, 2)"
    ).createOrReplaceTempView("spells")
    session._jvm.thetajoin.Yardsticks.set("manyListed", 1)
    yield session
    session._jvm.thetajoin.Yardsticks.reset("manyListed")


def counted(session: SparkSession, sql: str) -> tuple[int, int]:
    """The candidates and the matches of the only join."""
    frame = session.sql(sql)
    frame.collect()
    (report,) = thetajoin.explain_joins(frame)
    assert report.candidates is not None
    assert report.matches is not None
    return report.candidates, report.matches


@pytest.mark.parametrize(
    ("on", "share"),
    [
        ("a.s BETWEEN b.s AND b.e", 0.2),
        # The rows that end within the interval of the probe row are a run, and count one by one.
        ("a.s <= b.e AND b.s <= a.e", 0.7),
        ("a.w % 2 = b.w % 2 AND a.s < b.e AND b.s < a.e", 0.8),
    ],
)
def test_rows_that_are_open_at_a_point_are_one_candidate(
    session: SparkSession, on: str, share: float
) -> None:
    pairs = session.sql(f"SELECT count(*), max(a.id + b.id) FROM spells a JOIN spells b ON {on}")
    expected = pairs.collect()[0][0]
    candidates, matches = counted(
        session,
        f"SELECT /*+ BROADCAST(b) */ a.id, count(*), sum(b.w) FROM spells a JOIN spells b ON {on} GROUP BY a.id",
    )
    assert matches == expected
    assert candidates < matches * share


def test_functions_of_the_probe_side_that_ignore_repeats_need_no_pairs(
    session: SparkSession,
) -> None:
    frame = session.sql(
        "SELECT /*+ BROADCAST(b) */ a.id, any_value(a.w), max(a.e), min_by(a.w, a.s), count(*), sum(b.w) "
        "FROM spells a JOIN spells b ON b.s < a.s GROUP BY a.id"
    )
    assert "aggregated: [count(1), sum(" in frame._jdf.queryExecution().executedPlan().toString()
    (row,) = frame.where("id = 1").collect()
    started = 7919 % ROWS
    others = [id % 5 for id in range(ROWS) if id * 7919 % ROWS < started]
    assert tuple(row) == (1, 1, started + 21, 1, len(others), sum(others))


def test_the_error_of_a_sum_grows_with_the_logarithm_of_the_run(session: SparkSession) -> None:
    drawn = random.Random(5)
    numbers = [drawn.uniform(-1, 1) * 10.0 ** drawn.randint(-12, 12) for _ in range(ROWS)]
    rows = session.createDataFrame(list(enumerate(numbers)), "no int, x double")
    rows.createOrReplaceTempView("numbers")
    bounds = [(a * 5, a * 5 + drawn.randint(1, ROWS)) for a in range(ROWS // 5)]
    asked = session.createDataFrame(
        [(i, *b) for i, b in enumerate(bounds)], "id int, lo int, hi int"
    )
    asked.createOrReplaceTempView("asked")
    sql = (
        "SELECT /*+ BROADCAST(n) */ id, sum(x) FROM asked JOIN numbers n "
        "ON no BETWEEN lo AND hi GROUP BY id"
    )
    frame = session.sql(sql)
    sums = dict(tuple(row) for row in frame.collect())
    assert "aggregated: [" in frame._jdf.queryExecution().executedPlan().toString()
    assert len(sums) == len(bounds)
    for i, (lo, hi) in enumerate(bounds):
        summed = [Fraction(x) for x in numbers[lo : hi + 1]]
        # 32 rows one by one at most, blocks of 16, and two nodes of each level.
        additions = 32 + 16 + 2 * math.log2(ROWS)
        bound = additions * Fraction(2) ** -53 * sum(map(abs, summed))
        assert abs(Fraction(sums[i]) - sum(summed)) <= bound, i
