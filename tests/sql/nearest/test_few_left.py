"""Few left rows beside a large right side: the plan says that it is narrowed first, and when not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import thetajoin
from pyspark.sql import SparkSession


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    session = spark.newSession()
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "2k")
    session.range(0, 40).selectExpr("id", "id % 5 AS k", "id * 3700 % 9000 AS t").createTempView(
        "l"
    )
    session.range(0, 9000).selectExpr(
        "id AS no", "id % 6 AS m", "id * 5303 % 9973 AS u"
    ).createTempView("r")
    yield session


def nearest_joins(session: SparkSession, sql: str) -> int:
    """How many joins with the first rows the query has, after a look at its rows."""
    frame = session.sql(sql)
    rows = sorted(map(str, frame.collect()))
    session.conf.set("spark.thetajoin.enabled", "false")
    assert rows == sorted(map(str, session.sql(sql).collect()))
    session.conf.unset("spark.thetajoin.enabled")
    return sum(join.accelerator == "nearest" for join in thetajoin.explain_joins(frame))


@pytest.mark.parametrize("keys", ["", "m = k AND"])
@pytest.mark.parametrize(
    "order",
    ["u <= t ORDER BY u DESC", "u > t ORDER BY u", "u BETWEEN t - 9 AND t ORDER BY u DESC"],
)
def test_the_rows_next_to_left_rows_are_found_first(
    session: SparkSession, keys: str, order: str
) -> None:
    sql = f"SELECT id, u FROM l, LATERAL (SELECT u FROM r WHERE {keys} {order} LIMIT 1)"
    assert nearest_joins(session, sql) == 2


@pytest.mark.parametrize(
    "right",
    [
        "SELECT u FROM r WHERE m = k AND u <= t ORDER BY u DESC LIMIT 2",
        "SELECT u FROM r WHERE m = k AND u <= t AND (no + id) % 3 > 0 ORDER BY u DESC LIMIT 1",
        "SELECT u FROM r WHERE m = k AND u <= t ORDER BY u LIMIT 1",
        "SELECT u FROM r WHERE m = k AND u <= t AND u <= id * 90 ORDER BY u DESC LIMIT 1",
        "SELECT u, s FROM (SELECT m, u, string(u) AS s FROM r GROUP BY m, u) WHERE m = k AND u <= t ORDER BY u DESC LIMIT 1",
    ],
    ids=[
        "two rows",
        "a condition on pairs",
        "the first of all",
        "two bounds",
        "text of an aggregate",
    ],
)
def test_other_right_sides_stay_as_they_are(session: SparkSession, right: str) -> None:
    assert nearest_joins(session, f"SELECT id, u FROM l, LATERAL ({right})") == 1


@pytest.mark.parametrize("text", ["", ", string(u) AS s"], ids=["numbers", "text"])
def test_text_is_read_once_more(session: SparkSession, text: str) -> None:
    """The nearest rows come out of one scan, unless Spark would sort all rows for the text."""
    order = "WHERE m = k AND u <= t ORDER BY u DESC LIMIT 1"
    frame = session.sql(f"SELECT id, q.* FROM l, LATERAL (SELECT *{text} FROM r {order}) AS q")
    frame.collect()
    joins = [join.accelerator for join in thetajoin.explain_joins(frame)]
    assert joins.count("nearest") == 2
    assert joins.count("existence") == (1 if text else 0)


def test_rows_of_an_aggregate_are_read_once(session: SparkSession) -> None:
    right = "SELECT m, u FROM r GROUP BY m, u"
    sql = f"SELECT id, u FROM l, LATERAL (SELECT u FROM ({right}) WHERE m = k AND u <= t ORDER BY u DESC LIMIT 1)"
    assert nearest_joins(session, sql) == 2


def test_files_that_may_be_left_out_are_read_once(session: SparkSession, tmp_path: Path) -> None:
    session.table("r").write.parquet(str(tmp_path / "r"))
    session.read.parquet(str(tmp_path / "r")).createOrReplaceTempView("r")
    sql = "SELECT id, u, s FROM l, LATERAL (SELECT u, string(no) AS s FROM r WHERE u <= t ORDER BY u DESC LIMIT 1)"
    assert nearest_joins(session, sql) == 2
    session.conf.set("spark.sql.files.ignoreMissingFiles", "true")
    assert nearest_joins(session, sql) == 1


def test_lines_that_may_be_no_rows_are_read_once(session: SparkSession, tmp_path: Path) -> None:
    """Which lines of a CSV file are rows depends on the columns that are read."""
    lines = [
        *(f"{n},{n},7" for n in range(0, 9000, 2)),
        *(f"{n},{n},seven" for n in range(1, 9000, 2)),
    ]
    (tmp_path / "r.csv").write_text("\n".join(lines))
    frame = session.read.schema("no BIGINT, u BIGINT, w INT").option("mode", "DROPMALFORMED")
    frame.csv(str(tmp_path / "r.csv")).createOrReplaceTempView("r")
    sql = (
        "SELECT id, u, w, s FROM l, "
        "LATERAL (SELECT u, w, string(no) AS s FROM r WHERE u <= t ORDER BY u DESC LIMIT 1)"
    )
    assert nearest_joins(session, sql) == 1


def test_sides_of_like_size_stay_as_they_are(session: SparkSession) -> None:
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "10m")
    sql = "SELECT id, u FROM l, LATERAL (SELECT u FROM r WHERE u <= t ORDER BY u DESC LIMIT 1)"
    assert nearest_joins(session, sql) == 1
