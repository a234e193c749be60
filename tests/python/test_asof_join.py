"""`thetajoin.asof_join`: names, rules and errors; its rows are those of tests/sql/nearest."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
import thetajoin
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
