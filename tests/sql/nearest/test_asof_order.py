"""ASOF joins of DataFrames give rows that Spark's own order asks for, where it is not that of the values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product

import pytest
import thetajoin
from differential import ANSI, ENABLED, GENERATED, INTERPRETED
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr
from sessions import release

ZONE = "spark.sql.session.timeZone"
# Spark takes a row for which this is the least.
ORDER = {"backward": "t - u", "forward": "u - t", "nearest": "if(t > u, t - u, u - t)"}
NEAREST = {"nearest"}
OF_ALL = {"piecewise", "nestedloop"}
# Without ANSI mode differences of whole numbers wrap around, and those of decimals are null.
WRAPPING = ("tinyint", "int", "int, bigint", "long decimal", "text")


@dataclass(frozen=True)
class Pair:
    """Values of both sides, and what finds their rows: by one bound, and by both directions."""

    left: Sequence[str]
    right: Sequence[str]
    bounded: set[str]
    both: set[str]
    tolerance: str | None = None
    zone: str = "UTC"


def typed(of: str, *values: object) -> list[str]:
    return [f"CAST('{value}' AS {of})" for value in values]


def day(date: str, times: str, of: str = "TIMESTAMP") -> list[str]:
    zone = " UTC" if of == "TIMESTAMP" else ""
    return [f"{of} '{date} {time}:00{zone}'" for time in times.split()]


ODD = ("-Infinity", -5, 0, 7, "Infinity", "NaN")
ODD_TOO = ("-Infinity", -6, -5, "-0.0", 7.5, "Infinity", "NaN")
# Clocks are set back at 06:00 UTC in New York, at 01:00 UTC in Berlin.
NEW_YORK = ("2024-11-03", "04:30 05:20 05:50 06:00 06:05 06:30 06:59 07:00 07:20")
NEW_YORK_TOO = ("2024-11-03", "04:10 05:10 05:30 05:55 06:10 06:40 07:30")
BERLIN = ("2024-10-27", "00:20 00:50 01:05 01:30 02:00 02:20")
BERLIN_TOO = ("2024-10-27", "00:10 00:30 00:55 01:00 01:40 02:30")
IN_SPRING = ("2024-03-10", "06:10 06:50 07:00 07:20 08:10")
IN_SPRING_TOO = ("2024-03-10", "06:00 06:55 07:05 08:20")
MINUTES = "INTERVAL '45' MINUTE"
PAIRS = {
    "double": Pair(typed("DOUBLE", *ODD), typed("DOUBLE", *ODD_TOO), NEAREST, NEAREST, "3D"),
    "float": Pair(typed("FLOAT", *ODD), typed("FLOAT", *ODD_TOO), NEAREST, NEAREST),
    "infinite": Pair(typed("DOUBLE", *ODD), typed("DOUBLE", *ODD[::4]), NEAREST, NEAREST),
    "bigint, float": Pair(
        typed("BIGINT", -7, 0, 2**62), typed("FLOAT", *ODD_TOO), NEAREST, NEAREST
    ),
    "tinyint": Pair(
        typed("TINYINT", -128, -5, 100, 127),
        typed("TINYINT", -128, -100, -4, 0, 99, 101),
        NEAREST,
        NEAREST,
    ),
    "int": Pair(
        typed("INT", 2 * 10**9, 5, -2 * 10**9),
        typed("INT", -2 * 10**9, -(10**9), 0, 1999999999),
        NEAREST,
        NEAREST,
        "100",
    ),
    "int, bigint": Pair(
        typed("INT", -5, 5), typed("BIGINT", -(2**63), -4, 9, 2**63 - 1), NEAREST, NEAREST
    ),
    "decimal": Pair(
        typed("DECIMAL(10,2)", 5.25, -3),
        typed("DECIMAL(10,2)", -4.1, 5.2, 5.25, 5.3),
        NEAREST,
        NEAREST,
        "0.1",
    ),
    "decimals": Pair(
        typed("DECIMAL(10,2)", 5.25, -3), typed("DECIMAL(14,4)", -4.1, 5.2, 5.2499), NEAREST, OF_ALL
    ),
    "long decimal": Pair(
        typed("DECIMAL(38,0)", "9" * 38, 5, "-" + "9" * 38),
        typed("DECIMAL(38,0)", "-" + "9" * 38, 4, 7),
        OF_ALL,
        OF_ALL,
    ),
    "rounded decimals": Pair(
        typed("DECIMAL(38,0)", 5, -3),
        typed("DECIMAL(38,10)", 4.1, 4.4, -4.2, 5.3, -2.9),
        OF_ALL,
        OF_ALL,
    ),
    "text": Pair(typed("STRING", 95, 5, "x"), typed("STRING", 10, 9, 4, 96), OF_ALL, OF_ALL),
    "date": Pair(
        typed("DATE", "2024-11-02", "2024-11-04"),
        typed("DATE", "2024-11-01", "2024-11-03", "2024-11-06"),
        NEAREST,
        NEAREST,
        zone="America/New_York",
    ),
    "UTC": Pair(day(*NEW_YORK), day(*NEW_YORK_TOO), NEAREST, NEAREST),
    **{
        zone: Pair(day(*left), day(*right), NEAREST, NEAREST, MINUTES, zone)
        for zone, left, right in (
            ("America/New_York", NEW_YORK, NEW_YORK_TOO),
            ("Europe/Berlin", BERLIN, BERLIN_TOO),
            ("Canada/Eastern", IN_SPRING, IN_SPRING_TOO),
        )
    },
    "ntz": Pair(
        day(*NEW_YORK, "TIMESTAMP_NTZ"),
        day(*NEW_YORK_TOO, "TIMESTAMP_NTZ"),
        NEAREST,
        NEAREST,
        MINUTES,
        "America/New_York",
    ),
    "timestamp, ntz": Pair(
        day(*NEW_YORK),
        day("2024-11-03", "00:10 01:10 01:59 02:20", "TIMESTAMP_NTZ"),
        OF_ALL,
        OF_ALL,
        zone="America/New_York",
    ),
    "timestamp, date": Pair(
        day(*NEW_YORK),
        typed("DATE", "2024-11-02", "2024-11-03", "2024-11-04"),
        OF_ALL,
        OF_ALL,
        zone="America/New_York",
    ),
    "interval": Pair(
        typed("INTERVAL HOUR", 5, -3), typed("INTERVAL HOUR", 4, 1, -4), NEAREST, NEAREST
    ),
}


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    session = spark.newSession()
    # Spark reads some settings from the session that made the last DataFrame.
    session.createDataFrame([(1,)], "n int")
    yield session


def table(session: SparkSession, values: Sequence[str], column: str) -> DataFrame:
    rows = ", ".join(f"({value})" for value in [*values, "NULL"])
    return session.sql(f"SELECT {column} FROM VALUES {rows} AS v({column})")


def rows(session: SparkSession, name: str, enabled: str) -> tuple[Counter[str], list[set[str]]]:
    """How near the row of each left row is, and what finds it, for all that an ASOF join may ask."""
    pair = PAIRS[name]
    session.conf.set(ENABLED, enabled)
    left, right = table(session, pair.left, "t"), table(session, pair.right, "u")
    asked: list[DataFrame] = []
    for direction, exact, tolerance in product(ORDER, (True, False), {None, pair.tolerance}):
        joined = left._joinAsOf(
            right, left["t"], right["u"],
            how="left", direction=direction, allowExactMatches=exact,
            tolerance=None if tolerance is None else expr(tolerance),
        )  # fmt: skip
        label = f"{direction}, exact {exact}, tolerance {tolerance}"
        columns = ("string(t)", "u IS NULL", f"string({ORDER[direction]})")
        asked.append(joined.selectExpr(f'"{label}"', *columns))
    found = [{join.accelerator or "" for join in thetajoin.explain_joins(one)} for one in asked]
    return Counter(map(str, reduce(DataFrame.unionAll, asked).collect())), found


CASES = [*((name, True) for name in PAIRS), *((name, False) for name in ("double", "int"))]


@pytest.mark.parametrize(("name", "generated"), [*CASES, ("America/New_York", False)])
def test_rows_have_sparks_least_difference(
    session: SparkSession, name: str, generated: bool
) -> None:
    pair = PAIRS[name]
    for key, value in (GENERATED if generated else INTERPRETED).items():
        session.conf.set(key, value)
    session.conf.set(ZONE, pair.zone)
    session.conf.set(ANSI, str(name not in WRAPPING).lower())
    off, _ = rows(session, name, "false")
    on, found = rows(session, name, "true")
    assert on - off == off - on == Counter()
    half = len(found) * 2 // 3
    assert all(found[:half]) and set().union(*found[:half]) <= pair.bounded, found
    assert all(found[half:]) and set().union(*found[half:]) <= pair.both, found


def test_a_difference_of_other_values_is_no_order_of_an_index(session: SparkSession) -> None:
    """Text is compared as text, and as far apart as the numbers that it is read as are."""
    session.conf.set(ANSI, "false")
    left, right = table(session, PAIRS["text"].left[:2], "t"), table(session, ["'10'", "'9'"], "u")
    joined = left._joinAsOf(right, left["t"], right["u"], how="inner", direction="nearest")
    assert sorted(map(tuple, joined.collect())) == [("5", "10"), ("95", "10")]
    (report,) = thetajoin.explain_joins(joined)
    assert report.accelerator == "nestedloop"
    assert any("OTHER_RANK" in passed for passed in report.passed_over)


@pytest.mark.parametrize(
    ("op", "value", "right", "expected", "of_spark"),
    [
        (">=", "06:10", "05:55 06:05", "06:05", "06:05"),
        ("<=", "05:50", "05:55 06:05 06:40", "05:55", "06:05"),
        (">=", "Infinity", "4 Infinity", "Infinity", "Infinity"),
        ("<=", "-Infinity", "-Infinity 4", "-Infinity", "4"),
    ],
)
def test_asof_join_of_sql_takes_the_row_next_to_the_bound(
    session: SparkSession, op: str, value: str, right: str, expected: str, of_spark: str
) -> None:
    """So does Spark, but for 4.3.0, where it goes on while rows are nearer by the difference."""
    if release(session) < (4, 3):
        pytest.skip("needs Spark 4.3")
    session.conf.set("spark.sql.join.asofJoin.enabled", "true")
    session.conf.set(ZONE, "America/New_York")
    as_value = "double(v)" if "n" in value else "timestamp('2024-11-03 ' || v || ':00 UTC')"

    def rows(values: str, name: str) -> str:
        each = f"SELECT explode(split('{values}', ' ')) AS v"
        return f"(SELECT v AS {name}, {as_value} AS at FROM ({each}))"

    sides = f"{rows(value, 'l')} AS a ASOF JOIN {rows(right, 'r')} AS b"
    sql = f"SELECT r FROM {sides} MATCH_CONDITION (a.at {op} b.at)"
    for enabled, row in (("true", expected), ("false", of_spark)):
        session.conf.set(ENABLED, enabled)
        joined = session.sql(sql)
        found = [join.accelerator for join in thetajoin.explain_joins(joined)]
        assert found == ["nearest" if enabled == "true" else None]
        if enabled == "true" or session.version == "4.3.0":
            assert joined.collect() == [(row,)]
