"""`thetajoin.asof_join`: names, rules and errors; its rows are those of tests/sql/nearest."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pandas
import polars
import pytest
import thetajoin
from pyspark.pandas import merge_asof
from pyspark.sql import DataFrame, SparkSession

START = datetime(2024, 2, 29, 23, 59)


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


@pytest.fixture
def trades(spark: SparkSession) -> DataFrame:
    rows = [("A", at(5), 1), ("A", at(9), 2), ("B", at(9), 3), (None, at(9), 4)]
    return spark.createDataFrame(rows, "symbol string, time timestamp, size int")


@pytest.fixture
def quotes(spark: SparkSession) -> DataFrame:
    rows = [("A", at(4), 10), ("A", at(8.5), 20), ("B", at(10), 30), (None, at(9), 40)]
    return spark.createDataFrame(rows, "symbol string, time timestamp, bid int")


def bids(joined: DataFrame) -> list[tuple[Any, Any]]:
    return sorted((row["size"], row["bid"]) for row in joined.collect())


def test_columns_compared_come_out_once(trades: DataFrame, quotes: DataFrame) -> None:
    joined = thetajoin.asof_join(trades, quotes, on="time", by="symbol")
    assert joined.columns == ["symbol", "time", "size", "bid"]
    assert bids(joined) == [(1, 10), (2, 20), (3, None), (4, None)]
    assert [j.accelerator for j in thetajoin.explain_joins(joined)] == ["nearest"]


@pytest.mark.parametrize(
    ("how_to", "expected"),
    [
        ({"direction": "forward"}, [(1, 20), (2, None), (3, 30), (4, None)]),
        ({"direction": "nearest"}, [(1, 10), (2, 20), (3, 30), (4, None)]),
        ({"how": "inner"}, [(1, 10), (2, 20)]),
        ({"tolerance": timedelta(seconds=30)}, [(1, None), (2, 20), (3, None), (4, None)]),
        ({"tolerance": timedelta(minutes=1)}, [(1, 10), (2, 20), (3, None), (4, None)]),
        (
            {"tolerance": timedelta(minutes=1), "allow_exact_matches": False},
            [(1, None), (2, 20), (3, None), (4, None)],
        ),
    ],
)
def test_rules(
    trades: DataFrame, quotes: DataFrame, how_to: dict[str, Any], expected: list[tuple[int, Any]]
) -> None:
    joined = thetajoin.asof_join(trades, quotes, on="time", by=["symbol"], **how_to)
    assert bids(joined) == expected


def test_names_of_each_side(trades: DataFrame, quotes: DataFrame) -> None:
    joined = thetajoin.asof_join(
        trades, quotes,
        left_on="time", right_on="time", left_by="symbol", right_by="symbol",
    )  # fmt: skip
    assert joined.columns == ["symbol_x", "time_x", "size", "symbol_y", "time_y", "bid"]
    assert bids(joined) == [(1, 10), (2, 20), (3, None), (4, None)]


def test_a_table_with_itself(trades: DataFrame) -> None:
    before = thetajoin.asof_join(
        trades, trades, on="time", by="symbol", allow_exact_matches=False, suffixes=("", "_before")
    )
    assert before.columns == ["symbol", "time", "size", "size_before"]
    rows = sorted((row["size"], row["size_before"]) for row in before.collect())
    assert rows == [(1, None), (2, 1), (3, None), (4, None)]


def test_without_equal_columns(trades: DataFrame, quotes: DataFrame) -> None:
    joined = thetajoin.asof_join(trades, quotes, on="time")
    assert joined.columns == ["symbol_x", "time", "size", "symbol_y", "bid"]
    assert bids(joined) == [(1, 10), (2, 40), (3, 40), (4, 40)]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "by `on`, or by both"),
        ({"on": "time", "left_on": "time"}, "by `on`, or by both"),
        ({"left_on": "time"}, "by `on`, or by both"),
        ({"on": "time", "by": "symbol", "left_by": "symbol"}, "by `by`, or by both"),
        ({"on": "time", "left_by": ["symbol"], "right_by": []}, "as many columns"),
        ({"on": "size"}, "right has no column 'size': it has symbol, time, bid"),
        ({"on": "time", "direction": "sideways"}, "direction must be one of"),
        ({"on": "time", "how": "outer"}, "how must be one of"),
        ({"on": "time", "suffixes": ("", "")}, "several columns symbol: rename"),
    ],
)
def test_contradictions_are_errors(
    trades: DataFrame, quotes: DataFrame, wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        thetajoin.asof_join(trades, quotes, **wrong)


Rows = dict[str, list[Any]]
NAN, INFINITE = float("nan"), float("inf")
EQUAL: Rows = {"t": [5, 5], "b": [10, 20]}
# Two rows of which either may come are a set, an error is the start of its text.
BESIDE_OTHERS: dict[str, tuple[Rows, Rows, dict[str, Any], Any, Any, Any]] = {
    "unsorted": (
        {"t": [9, 5]}, {"t": [7, 4], "b": [20, 10]}, {},
        [20, 10], "keys must be sorted", "argument in operation 'asof_join' is not sorted",
    ),
    "tolerance, excluded": (
        {"t": [5]}, {"t": [4], "b": [10]}, {"tolerance": 1, "allow_exact_matches": False},
        [None], [10], [10],
    ),
    "equal right values": ({"t": [5]}, EQUAL, {}, [{10, 20}], [20], [20]),
    "equal right values, forward": (
        {"t": [5]}, EQUAL, {"direction": "forward"}, [{10, 20}], [10], [10],
    ),
    "equal right values, nearest": (
        {"t": [5]}, EQUAL, {"direction": "nearest"}, [{10, 20}], [20], [20],
    ),
    "as close below and above": (
        {"t": [5]}, {"t": [3, 7], "b": [10, 20]}, {"direction": "nearest"}, [10], [10], [20],
    ),
    "null": (
        {"t": [None, 5.0]}, {"t": [None, 4.0], "b": [10, 20]}, {},
        [None, 20], "Merge keys contain null values", [None, 20],
    ),
    "null in by": (
        {"t": [5, 9], "k": [None, "x"]}, {"t": [4, 7], "k": [None, "x"], "b": [10, 20]},
        {"by": "k"}, [None, 20], [10, 20], [None, 20],
    ),
    "infinite": (
        {"t": [5.0, INFINITE]}, {"t": [4.0, INFINITE], "b": [10, 20]}, {},
        [10, 10], [10, 20], [10, 20],
    ),
    "NaN": (
        {"t": [5.0, NAN]}, {"t": [4.0, NAN], "b": [10, 20]}, {},
        [10, {10, 20}], "Merge keys contain null values", [10, 20],
    ),
    "types": (
        {"t": [5, 9]}, {"t": [4.5, 7.0], "b": [10, 20]}, {},
        [10, 20], "incompatible merge keys", "datatypes of join keys don't match",
    ),
    "text as tolerance": (
        {"t": [at(5)]}, {"t": [at(4)], "b": [10]}, {"tolerance": "2m"},
        "tolerance must be", "incompatible tolerance", [10],
    ),
    "negative tolerance": (
        {"t": [5]}, {"t": [4], "b": [10]}, {"tolerance": -1},
        "[AS_OF_JOIN.TOLERANCE_IS_NON_NEGATIVE]", "tolerance must be positive", [10],
    ),
    "no match, dropped": (
        {"t": [3, 5]}, {"t": [4], "b": [10]}, {"how": "inner"},
        [10], "merge_asof() got an unexpected", "DataFrame.join_asof() got an unexpected",
    ),
}  # fmt: skip


def of_spark(spark: SparkSession, left: Rows, right: Rows, **how_to: Any) -> list[Any]:
    frames = [
        spark.createDataFrame(list(zip(*rows.values(), strict=True)), list(rows))
        for rows in ({"a": list(range(len(left["t"]))), **left}, right)
    ]
    joined = thetajoin.asof_join(*frames, on="t", **how_to)
    assert [join.accelerator for join in thetajoin.explain_joins(joined)] == ["nearest"]
    return [row["b"] for row in joined.orderBy("a").collect()]


def of_pandas(_: SparkSession, left: Rows, right: Rows, **how_to: Any) -> list[Any]:
    joined = pandas.merge_asof(pandas.DataFrame(left), pandas.DataFrame(right), on="t", **how_to)
    return [None if pandas.isna(b) else b for b in joined["b"]]


def of_polars(_: SparkSession, left: Rows, right: Rows, **how_to: Any) -> list[Any]:
    how_to = {"strategy" if k == "direction" else k: v for k, v in how_to.items()}
    joined = polars.DataFrame(left).join_asof(polars.DataFrame(right), on="t", **how_to)
    return joined["b"].to_list()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("case", BESIDE_OTHERS)
def test_where_pandas_and_polars_differ(spark: SparkSession, case: str) -> None:
    """As docs/top-k.md tells those who come from there."""
    left, right, how_to, *wanted = BESIDE_OTHERS[case]
    for join, want in zip((of_spark, of_pandas, of_polars), wanted, strict=True):
        if isinstance(want, str):
            with pytest.raises(Exception, match=re.escape(want)):
                join(spark, left, right, **how_to)
        else:
            got = join(spark, left, right, **how_to)
            sets = [one if isinstance(one, set) else {one} for one in want]
            assert len(got) == len(sets), (join.__name__, got)
            assert all(g in s for g, s in zip(got, sets, strict=True)), (join.__name__, got)


def test_names_of_columns_beside_pandas_and_polars(spark: SparkSession) -> None:
    left, right = {"p": [1], "t": [5], "v": [1]}, {"q": [1], "t": [4], "v": [2]}
    a, b = (
        spark.createDataFrame([tuple(v[0] for v in s.values())], list(s)) for s in (left, right)
    )
    ours = thetajoin.asof_join(a, b, on="t", left_by="p", right_by="q")
    keys = {"left_by": "p", "right_by": "q"}
    of_pandas = pandas.merge_asof(pandas.DataFrame(left), pandas.DataFrame(right), on="t", **keys)
    assert set(ours.columns) == set(of_pandas) == {"p", "t", "v_x", "q", "v_y"}
    of_polars = polars.DataFrame(left).join_asof(
        polars.DataFrame(right), on="t", by_left="p", by_right="q"
    )
    assert of_polars.columns == ["p", "t", "v", "v_right"]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_timestamps_are_instants(spark: SparkSession, zone: str) -> None:
    """Clocks in New York are set back at 06:00 UTC."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)

    def times(column: str, *minutes: int) -> DataFrame:
        rows = session.createDataFrame([(m,) for m in minutes], f"{column} long")
        return rows.selectExpr(
            column, f"timestamp'2024-11-03 05:00:00 UTC' + make_dt_interval(0, 0, {column}) AS t"
        )

    left, right = times("a", 40, 70, 90), times("b", 30, 55, 65)
    for direction, expected in (
        ("backward", [(40, 30), (70, 65), (90, 65)]),
        ("forward", [(40, 55), (70, None), (90, None)]),
        ("nearest", [(40, 30), (70, 65), (90, 65)]),
    ):
        joined = thetajoin.asof_join(
            left, right, on="t", direction=direction, tolerance=timedelta(minutes=30)
        )
        assert sorted((row["a"], row["b"]) for row in joined.collect()) == expected
        assert [join.accelerator for join in thetajoin.explain_joins(joined)] == ["nearest"]


def test_pandas_on_spark(trades: DataFrame, quotes: DataFrame) -> None:
    joined = merge_asof(trades.pandas_api(), quotes.pandas_api(), on="time", by="symbol").to_spark()
    assert bids(joined) == [(1, 10), (2, 20), (3, None), (4, None)]
    assert [join.accelerator for join in thetajoin.explain_joins(joined)] == ["nearest"]
