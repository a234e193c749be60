"""ASOF joins of DataFrames, on every version of Spark, against a loop over all pairs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import thetajoin
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import input_file_name, lit

Row = tuple[int, Any, Any]
ORIGIN = datetime(2024, 2, 29, 23, 59, 30)
# Makes a value of a type from a small whole number, and a distance.
TYPES: dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]] = {
    "int": (int, int),
    "bigint": (int, int),
    "double": (float, float),
    "decimal(12,2)": (lambda n: Decimal(n) / 2, lambda n: Decimal(n) / 2),
    "date": (lambda n: date(2024, 2, 27) + timedelta(n), lambda n: timedelta(n)),
    "timestamp": (lambda n: ORIGIN + timedelta(seconds=n), lambda n: timedelta(seconds=n)),
    "timestamp_ntz": (lambda n: ORIGIN + timedelta(seconds=n), lambda n: timedelta(seconds=n)),
}
CASES = list(product(("backward", "forward", "nearest"), ("inner", "left"), (True, False)))


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    session = spark.newSession()
    # Rows that come from Python have no size that Spark knows.
    session.conf.set("spark.sql.defaultSizeInBytes", "1000")
    yield session


def table(rng: random.Random, rows: int, value: Callable[[int], Any]) -> list[Row]:
    """Rows with nulls, duplicates and keys that the other side lacks."""
    keys = [None, "p", "q", "r" if rows > 50 else "s"]
    numbers = [None, *range(-20, 40)]
    drawn = [(rng.choice(keys), rng.choice(numbers)) for _ in range(rows)]
    return [(i, k, None if n is None else value(n)) for i, (k, n) in enumerate(drawn)]


def matches(
    left: Row, right: list[Row], *, direction: str, exact: bool, keyed: bool, tolerance: Any
) -> list[tuple[Any, int]]:
    """Distances and numbers of the right rows that match."""
    _, key, time = left
    found = []
    for number, other_key, other in right:
        if time is None or other is None or (keyed and (key is None or key != other_key)):
            continue
        away = time - other if other <= time else other - time
        is_on_side = direction == "nearest" or (
            other <= time if direction == "backward" else other >= time
        )
        is_near = tolerance is None or (away <= tolerance if exact else away < tolerance)
        if is_on_side and is_near and (exact or other != time):
            found.append((away, number))
    return found


def check(rows: list[Any], left: list[Row], right: list[Row], how: str, **how_to: Any) -> None:
    """Each left row has one of its nearest, and only if it has any."""
    given: dict[int, list[Any]] = {}
    for row in rows:
        given.setdefault(row["id"], []).append(row["no"])
    for row in left:
        found = matches(row, right, **how_to)
        nearest = [number for away, number in found if away == min(found)[0]]
        got = given.get(row[0], [])
        if nearest:
            assert len(got) == 1 and got[0] in nearest, (row, got, sorted(found))
        else:
            assert got == ([None] if how == "left" else []), (row, got)


def accelerators(frame: DataFrame) -> list[tuple[str, str | None]]:
    return [(join.exec or "", join.accelerator) for join in thetajoin.explain_joins(frame)]


def as_of(left: DataFrame, right: DataFrame, keyed: bool, **how_to: Any) -> DataFrame:
    on = left["k"] == right["m"] if keyed else None
    return left._joinAsOf(right, left["t"], right["u"], on=on, **how_to)


@pytest.mark.parametrize("sql_type", TYPES)
@pytest.mark.parametrize("keyed", [True, False], ids=["keys", "no keys"])
def test_rows_are_those_of_a_loop(session: SparkSession, sql_type: str, keyed: bool) -> None:
    value, distance = TYPES[sql_type]
    rng = random.Random(f"{sql_type} {keyed}")
    a, b = table(rng, 40, value), table(rng, 60, value)
    left = session.createDataFrame(a, f"id int, k string, t {sql_type}")
    right = session.createDataFrame(b, f"no int, m string, u {sql_type}")
    for number, (direction, how, exact) in enumerate(CASES):
        session.conf.set("spark.sql.codegen.wholeStage", number % 2 == 0)
        session.conf.set("spark.sql.adaptive.enabled", number % 3 > 0)
        shuffles = keyed and number % 4 == 0
        session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1" if shuffles else "10m")
        tolerance = distance(4) if number % 2 else None
        joined = as_of(
            left, right, keyed,
            how=how, direction=direction, allowExactMatches=exact,
            tolerance=None if tolerance is None else lit(tolerance),
        )  # fmt: skip
        rows = joined.collect()
        check(
            rows, a, b, how,
            direction=direction, exact=exact, keyed=keyed, tolerance=tolerance,
        )  # fmt: skip
        ((node, accelerator),) = accelerators(joined)
        assert node == ("ShuffledThetaJoin" if shuffles else "BroadcastThetaJoin")
        # The distance of dates is in days, and Spark compares a tolerance as a time: of that, no index sorts the days.
        is_wide = sql_type == "date" and direction == "nearest" and tolerance is not None
        assert accelerator == ("interval" if is_wide and not keyed else "nearest")


@pytest.fixture
def small(session: SparkSession) -> tuple[DataFrame, DataFrame]:
    left = session.createDataFrame(
        [(1, "p", 5), (2, "p", 9), (3, "q", 7)], "id int, k string, t int"
    )
    right = session.createDataFrame([(10, "p", 4), (20, "p", 8)], "no int, m string, u int")
    return left, right


def test_filters_of_the_left_side_go_below_and_others_stay(
    small: tuple[DataFrame, DataFrame],
) -> None:
    joined = as_of(*small, False, how="inner").filter("id > 1 AND no > 10").select("id", "no")
    assert sorted(map(tuple, joined.collect())) == [(2, 20)]
    plan = joined._jdf.queryExecution().optimizedPlan().toString()
    above, below = plan.split("RankedJoin")
    assert "no" in above and "id" not in above.partition("Filter")[2].partition("\n")[0]
    assert "(id" in below


def test_a_row_that_fails_the_condition_gives_way_to_the_next(
    small: tuple[DataFrame, DataFrame],
) -> None:
    left, right = small
    on = (left["k"] == right["m"]) & ((left["id"] + right["no"]) % 2 == 1) & (right["no"] < 15)
    joined = left._joinAsOf(right, left["t"], right["u"], on=on, how="left")
    assert sorted(map(tuple, joined.select("id", "no").collect())) == [
        (1, 10),
        (2, None),
        (3, None),
    ]
    assert accelerators(joined) == [("BroadcastThetaJoin", "nearest")]


def test_switched_off_it_is_sparks(
    small: tuple[DataFrame, DataFrame], session: SparkSession
) -> None:
    session.conf.set("spark.thetajoin.enabled", "false")
    off = as_of(*small, True, how="left")
    assert "ThetaJoin" not in off._jdf.queryExecution().executedPlan().toString()
    rows = sorted(map(str, off.collect()))
    session.conf.set("spark.thetajoin.enabled", "true")
    on = as_of(*small, True, how="left")
    assert sorted(map(str, on.collect())) == rows
    assert accelerators(on) == [("BroadcastThetaJoin", "nearest")]


def test_without_its_accelerator_the_heap_finds_it(
    small: tuple[DataFrame, DataFrame], session: SparkSession
) -> None:
    session.conf.set("spark.thetajoin.accelerator.nearest.enabled", "false")
    joined = as_of(*small, True, how="left")
    assert sorted(map(tuple, joined.select("id", "no").collect())) == [(1, 10), (2, 20), (3, None)]
    ((_, accelerator),) = accelerators(joined)
    assert accelerator == "interval"


def test_a_distance_that_may_wrap_around_is_found_too(
    small: tuple[DataFrame, DataFrame], session: SparkSession
) -> None:
    session.conf.set("spark.sql.ansi.enabled", "false")
    joined = as_of(*small, False, how="inner", direction="nearest")
    assert sorted(map(tuple, joined.select("id", "no").collect())) == [(1, 10), (2, 20), (3, 20)]
    assert accelerators(joined) == [("BroadcastThetaJoin", "nearest")]


def test_a_bound_that_overflows_ends_nothing(session: SparkSession) -> None:
    """Its error is raised only if a pair needs the bound, as in Spark."""
    low = -(2**31)
    left = session.createDataFrame([(1, low + 1), (2, 5)], "id int, t int")
    right = session.createDataFrame([(10, 4), (20, 2)], "no int, u int")
    joined = left._joinAsOf(right, left["t"], right["u"], how="left", tolerance=lit(2))
    assert sorted(map(tuple, joined.select("id", "no").collect())) == [(1, None), (2, 10)]
    close = session.createDataFrame([(30, low)], "no int, u int")
    failing = left._joinAsOf(close, left["t"], close["u"], how="left", tolerance=lit(2))
    with pytest.raises(PySparkException, match="ARITHMETIC_OVERFLOW"):
        failing.collect()


def test_a_cached_join_is_found_again(small: tuple[DataFrame, DataFrame]) -> None:
    joined = as_of(*small, True, how="left").cache()
    try:
        assert joined.count() == 3
        again = as_of(*small, True, how="left")
        assert "InMemoryTableScan" in again._jdf.queryExecution().executedPlan().toString()
    finally:
        joined.unpersist()


def test_a_table_with_columns_of_its_own(session: SparkSession) -> None:
    """Spark's optimizer drops the aliases of the right side: it must not have the left one's columns."""
    numbers = session.range(10).selectExpr("id + 0 AS id").limit(10)
    again = numbers.select(numbers["id"].alias("id"))
    joined = numbers._joinAsOf(
        again, numbers["id"], again["id"], how="left", allowExactMatches=False
    )
    rows = sorted(map(tuple, joined.collect()), key=lambda row: row[0])
    assert rows == [(0, None), *((i, i - 1) for i in range(1, 10))]
    assert accelerators(joined) == [("BroadcastThetaJoin", "nearest")]


@pytest.mark.parametrize("limit", ["-1", "10m"])
def test_zeros_and_nans_are_equal_keys(session: SparkSession, limit: str) -> None:
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", limit)
    nan = float("nan")
    left = [(1, 0.0, 5), (2, -0.0, 5), (3, nan, 5), (4, 1.0, 5)]
    right = [(10, -0.0, 4), (20, nan, 4), (30, 2.0, 4)]
    a = session.createDataFrame(left, "id int, k double, t int").repartition(3)
    b = session.createDataFrame(right, "no int, m double, u int").repartition(3)
    joined = as_of(a, b, True, how="left").select("id", "no")
    assert sorted(map(tuple, joined.collect())) == [(1, 10), (2, 10), (3, 20), (4, None)]
    node = "ShuffledThetaJoin" if limit == "-1" else "BroadcastThetaJoin"
    assert accelerators(joined) == [(node, "nearest")]


def test_rows_keep_the_file_that_they_are_read_from(session: SparkSession, tmp_path: Path) -> None:
    folder = str(tmp_path / "left")
    session.range(0, 3000, 1, 3).selectExpr("id", "id * 2 AS t").write.parquet(folder)
    right = session.range(2000).selectExpr("id AS no", "id * 3 AS u")
    left = session.read.parquet(folder)
    expected = sorted(map(tuple, left.select("id", input_file_name()).collect()))
    joined = left._joinAsOf(right, left["t"], right["u"], how="left")
    assert sorted(map(tuple, joined.select("id", input_file_name()).collect())) == expected
    assert accelerators(joined) == [("BroadcastThetaJoin", "nearest")]
