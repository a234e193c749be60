"""A join of ours does not keep AQE from turning a sort-merge join beside it into a broadcast join."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from differential import ENABLED, GENERATED, INTERPRETED, Confs, difference, execute
from pyspark.sql import SparkSession

# By its estimated size `facts JOIN kept` is sorted and merged; at run time `kept` is tiny.
SESSION = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.autoBroadcastJoinThreshold": "2000",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "100000",
}
EQUI = "facts JOIN kept ON facts.k = kept.k"


def _slow(*values: Any) -> list[Any]:
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


HINTS = ["", *_slow("/*+ BROADCAST(bounds) */", "/*+ BROADCAST(e) */")]
JOINS = ["FULL JOIN", *_slow("JOIN", "LEFT JOIN", "RIGHT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")]
CODE = {"codegen": GENERATED, "interpreted": INTERPRETED}
CODES = ["codegen", *_slow("interpreted")]


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    session = spark.newSession()
    session.sql("SELECT id, id % 50 AS k FROM range(0, 5000, 1, 4)").createOrReplaceTempView(
        "facts"
    )
    rows = session.sql(
        "SELECT id % 50 AS k, id % 7 AS h, hash(id) AS code FROM range(0, 5000, 1, 4)"
    )
    rows.createOrReplaceTempView("dimension")
    kept = session.sql("SELECT k, h FROM dimension WHERE pmod(code, 500) = 1")
    kept.createOrReplaceTempView("kept")
    session.sql("SELECT id AS lo FROM range(0, 60, 7, 2)").createOrReplaceTempView("bounds")
    yield session


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("hint", HINTS)
@pytest.mark.parametrize("condition", ["e.h * 9 > lo", "(e.h + lo) % 5 = 2 AND e.h < 3"])
@pytest.mark.parametrize("join", JOINS)
def test_equi_join_below_is_switched(
    session: SparkSession, join: str, condition: str, hint: str, code: str
) -> None:
    equi = f"(SELECT facts.id, h FROM {EQUI})"
    _assert_switched(
        session, f"SELECT {hint} * FROM {equi} AS e {join} bounds ON {condition}", code
    )


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("join", ["LEFT JOIN", *_slow("JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")])
def test_equi_join_above_is_switched(session: SparkSession, join: str, code: str) -> None:
    theta = f"(SELECT * FROM facts {join} bounds ON facts.id % 50 < lo - 40) AS facts"
    _assert_switched(
        session, f"SELECT facts.id, h FROM {EQUI}".replace("facts JOIN", f"{theta} JOIN"), code
    )


def _assert_switched(session: SparkSession, sql: str, code: str) -> None:
    confs = Confs(session)
    confs.apply({**SESSION, **CODE[code], ENABLED: "false"})
    before = session.sql(sql)._jdf.queryExecution().executedPlan().toString()
    off = execute(session, sql)
    assert "SortMergeJoin" in before and "BroadcastHashJoin" in off.plan, "no switch to look at"
    confs.apply({**SESSION, **CODE[code], ENABLED: "true"})
    on = execute(session, sql)
    different = difference(session, sql, off, on)
    assert not different, different
    assert on.nodes, on.plan
    assert "BroadcastHashJoin" in on.plan and "SortMergeJoin" not in on.plan, on.plan
    confs.apply({})
