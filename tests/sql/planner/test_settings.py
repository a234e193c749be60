"""Settings are known to Spark: SET checks their values and lists them. Off means off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import thetajoin
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from thetajoin import _settings

QUERY = "SELECT {} * FROM range(5) AS a JOIN range(9) AS b ON a.id > b.id"


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    yield spark.newSession()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spark.thetajoin.enabled", "maybe"),
        ("spark.thetajoin.enabled", ""),
        ("spark.thetajoin.broadcast.maxBytes", "lots"),
        ("spark.thetajoin.shuffle.maxPartitionBytes", "4 potatoes"),
        ("spark.thetajoin.accelerator.interval.enabled", "on"),
    ],
)
def test_a_wrong_value_fails_when_it_is_set(session: SparkSession, key: str, value: str) -> None:
    before = session.conf.get(key)
    for set_value in (
        lambda: session.sql(f"SET {key}={value}"),
        lambda: session.conf.set(key, value),
    ):
        with pytest.raises(PySparkException, match=rf"INVALID_SETTING\] {key} must be"):
            set_value()
        assert session.conf.get(key) == before
    assert thetajoin.explain_joins(session.sql(QUERY.format("")))[0].accelerated


def test_right_values_are_taken_as_before(session: SparkSession) -> None:
    for value in ("TRUE", " true ", "false", "true"):
        session.conf.set("spark.thetajoin.enabled", value)
    for value in ("0", "10", "1g", " 4m ", "3kb"):
        session.conf.set("spark.thetajoin.broadcast.maxBytes", value)
    session.conf.set("spark.thetajoin.accelerators", "")
    assert thetajoin.explain_joins(session.sql(QUERY.format("")))[0].accelerated


def test_all_settings_are_listed_with_what_they_do(session: SparkSession) -> None:
    listed = {row.key: row for row in session.sql("SET -v").collect()}
    for name in _settings.__all__:
        row = listed[getattr(_settings, name)]
        assert len(row.meaning) > 40 and row["Since version"]
    assert listed["spark.thetajoin.broadcast.maxBytes"].value == "256m"


HINTS = (
    "THETA_JOIN",
    "THETA_JOIN(a)",
    "THETA_JOIN(interval)",
    "NO_THETA_JOIN",
    "RANGE_JOIN(b, 10)",
)


@pytest.mark.parametrize("hint", [f"/*+ {hint} */" for hint in HINTS])
def test_off_means_off_for_hinted_joins_too(session: SparkSession, hint: str) -> None:
    sql = QUERY.format(hint)
    session.conf.set("spark.thetajoin.accelerators", "no.such.Accelerator")
    session.conf.set("spark.thetajoin.enabled", "false")
    off = session.sql(sql)
    assert len(off.collect()) == 10
    assert [join.reason_code for join in thetajoin.explain_joins(off)] == ["DISABLED"]
    plain = session.sql(QUERY.format(""))._jdf.queryExecution().optimizedPlan()
    assert off._jdf.queryExecution().optimizedPlan().sameResult(plain)


def test_a_class_that_is_missing_is_told_once_it_is_on(session: SparkSession) -> None:
    session.conf.set("spark.thetajoin.accelerators", "no.such.Accelerator")
    session.conf.set("spark.thetajoin.enabled", "false")
    assert len(session.sql(QUERY.format("/*+ THETA_JOIN(a) */")).collect()) == 10
    session.conf.set("spark.thetajoin.enabled", "true")
    with pytest.raises(PySparkException, match="INVALID_ACCELERATOR"):
        session.sql(QUERY.format("/*+ THETA_JOIN(a) */")).collect()


def test_hints_hold_again_once_it_is_on(session: SparkSession) -> None:
    sql = QUERY.format("/*+ NO_THETA_JOIN */")
    for enabled, reason in (("false", "DISABLED"), ("true", "HINTED"), ("false", "DISABLED")):
        session.conf.set("spark.thetajoin.enabled", enabled)
        (join,) = thetajoin.explain_joins(session.sql(sql))
        assert join.reason_code == reason
