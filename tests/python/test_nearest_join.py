"""`thetajoin.nearest_join`: names, rules and errors."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
import thetajoin
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import call_function

START = datetime(2024, 2, 29, 23, 59)


@pytest.fixture
def homes(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [("h", "n", 20), ("i", "n", 70), ("j", None, 50), ("k", "s", None)],
        "home string, town string, km int",
    )


@pytest.fixture
def stops(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [(1, "n", 10), (2, "n", 40), (3, "s", 71), (4, "n", None)],
        "stop int, town string, km int",
    )


def pairs(joined: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, joined.select("home", "stop").collect()), key=str)


def test_names_and_order_of_columns(homes: DataFrame, stops: DataFrame) -> None:
    joined = thetajoin.nearest_join(homes, stops, 2, on="km", distance_column="away")
    assert joined.columns == ["home", "town_x", "km_x", "stop", "town_y", "km_y", "away"]
    rows = sorted((row["home"], row["stop"], row["away"]) for row in joined.collect())
    assert rows == [
        ("h", 1, 10),
        ("h", 2, 20),
        ("i", 2, 30),
        ("i", 3, 1),
        ("j", 2, 10),
        ("j", 3, 21),
    ]
    assert [j.accelerator for j in thetajoin.explain_joins(joined)] == ["nearest"]


@pytest.mark.parametrize(
    ("how_to", "expected"),
    [
        ({}, [("h", 1), ("i", 3), ("j", 2)]),
        ({"how": "left"}, [("h", 1), ("i", 3), ("j", 2), ("k", None)]),
        ({"by": "town"}, [("h", 1), ("i", 2)]),
        ({"by": "town", "how": "left"}, [("h", 1), ("i", 2), ("j", None), ("k", None)]),
        (
            {"left_by": ["town"], "right_by": ["town"], "k": 2},
            [("h", 1), ("h", 2), ("i", 1), ("i", 2)],
        ),
    ],
)
def test_rules(
    homes: DataFrame, stops: DataFrame, how_to: dict[str, Any], expected: list[tuple[str, Any]]
) -> None:
    joined = thetajoin.nearest_join(homes, stops, on="km", **how_to)
    assert pairs(joined) == expected
    assert [j.accelerator for j in thetajoin.explain_joins(joined)] == ["nearest"]


def test_the_rows_are_those_of_spark_without_the_extension(
    spark: SparkSession, homes: DataFrame, stops: DataFrame
) -> None:
    session = spark.newSession()
    session.conf.set("spark.thetajoin.enabled", "false")
    frames = [session.createDataFrame(f.collect(), f.schema) for f in (homes, stops)]
    off = thetajoin.nearest_join(*frames, 2, on="km", by="town", how="left")
    assert "ThetaJoin" not in off._jdf.queryExecution().executedPlan().toString()
    assert pairs(off) == pairs(
        thetajoin.nearest_join(homes, stops, 2, on="km", by="town", how="left")
    )


def test_times_of_columns_with_different_names(spark: SparkSession) -> None:
    left = spark.createDataFrame([(1, START)], "id int, seen timestamp")
    right = spark.createDataFrame(
        [(n, START + timedelta(minutes=n)) for n in (-7, 3, 9)], "no int, at timestamp"
    )
    joined = thetajoin.nearest_join(left, right, on=("seen", "at"), distance_column="away")
    assert [(r["no"], r["away"]) for r in joined.collect()] == [(3, timedelta(minutes=3))]


def test_any_distance(homes: DataFrame, stops: DataFrame) -> None:
    joined = thetajoin.nearest_join(
        homes, stops, distance=lambda a, b: (a["km"] - b["km"]) * (a["km"] - b["km"])
    )
    assert pairs(joined) == [("h", 1), ("i", 3), ("j", 2)]


def test_a_table_with_itself(stops: DataFrame) -> None:
    joined = thetajoin.nearest_join(stops, stops, 2, on="km", suffixes=("", "_near"))
    assert sorted((r["stop"], r["stop_near"]) for r in joined.collect()) == [
        (1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (3, 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("how_to", "message"),
    [
        ({}, "`on`, or give the distance"),
        ({"on": "km", "distance": lambda a, b: a["km"]}, "`on`, or give the distance"),
        ({"on": "km", "k": 0}, "k must be 1 or more, but is 0"),
        ({"on": "km", "how": "full"}, "how must be one of"),
        ({"on": "miles"}, "left has no column 'miles'"),
        ({"on": ("km", "miles")}, "right has no column 'miles'"),
        ({"on": "km", "by": "town", "left_by": "town"}, "by `by`, or by both"),
        ({"on": "km", "distance_column": "home"}, "several columns home"),
    ],
)
def test_errors(homes: DataFrame, stops: DataFrame, how_to: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        thetajoin.nearest_join(homes, stops, **how_to)


@pytest.mark.parametrize("how", ["inner", "left"])
def test_vectors(spark: SparkSession, how: str) -> None:
    """Those with the least distance; a vector that is null has none."""
    questions = spark.sql(
        "SELECT * FROM VALUES ('a', array(1f, 0f)), ('b', array(0f, 2f)), ('c', NULL) AS t(q, v)"
    )
    passages = spark.sql(
        "SELECT id AS p, array(float(cos(id)), float(sin(id))) AS v FROM range(0, 300)"
    )
    joined = thetajoin.nearest_join(
        questions,
        passages,
        2,
        distance=lambda l, r: call_function("vector_l2_distance", l["v"], r["v"]),  # noqa: E741
        how=how,  # type: ignore[arg-type]
    )
    found = sorted((row["q"], row["p"]) for row in joined.collect() if row["p"] is not None)
    assert found == [("a", 0), ("a", 44), ("b", 33), ("b", 278)]
    assert joined.count() == (5 if how == "left" else 4)
    assert [j.accelerator for j in thetajoin.explain_joins(joined)] == ["vector"]
