"""Accelerators in Python that give the k nearest rows: every form of a top-k join, nulls, and what is left to Spark."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import thetajoin
from differential import ENABLED, MATRIX, Confs
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from pyspark.sql.types import DoubleType

# Workers can't import a test.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

Rows = list[tuple[int, float | None, int]]
# No two distances from a row are equal.
A: Rows = [(i, None if i % 11 == 5 else (i * 37 % 101) + i / 64, i % 4) for i in range(40)]
B: Rows = [(i, None if i % 7 == 3 else (i * 29 % 97) + i / 4096, i % 3) for i in range(25)]
SCALE = -2.0


@udf(DoubleType())
def away(x: float | None, y: float | None, scale: float) -> float | None:
    return None if x is None or y is None else abs(x - y) * abs(scale)


class Nearest:
    def __init__(self, wrong: Any = None) -> None:
        self.wrong = wrong

    def build(self, keys: pa.Table, scale: float) -> Any:
        assert scale == SCALE and keys.column_names in (["x"], ["y"])
        return np.array(keys.column(0))

    def nearest(self, index: Any, keys: pa.RecordBatch, k: int, scale: float) -> Any:
        assert scale == SCALE
        if self.wrong is not None:
            return self.wrong
        k = min(k, len(index))
        order = np.argsort(abs(np.array(keys.column(0))[:, None] - index[None, :]), axis=1)
        # Rows of the batch in any order.
        rows = np.repeat(np.arange(keys.num_rows), k).reshape(-1, k)[::-1]
        return rows.ravel(), order[::-1, :k].ravel()

    def bytes(self, index: Any) -> int:
        return 1_000_000 + int(index.nbytes)


thetajoin.accelerator(serves=away, nearest="lowest")(Nearest)


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    session = spark.newSession()
    session.createDataFrame(A, "id int, x double, k int").createOrReplaceTempView("a")
    session.createDataFrame(B, "no int, y double, m int").createOrReplaceTempView("b")
    session.createDataFrame([], "no int, y double, m int").createOrReplaceTempView("nothing")
    thetajoin.register_accelerator(session, Nearest())
    yield session


def expected(k: int, left: Rows = A, right: Rows = B, keeps: bool = False) -> Counter[Any]:
    """By a loop over all pairs."""
    found: Counter[Any] = Counter()
    for i, x, _ in left:
        near = sorted((abs(x - y), no) for no, y, _ in right if x is not None and y is not None)
        found.update((i, no) for _, no in near[:k])
        if keeps and not near:
            found[i, None] += 1
    return found


def rows_and_plan(session: SparkSession, query: str) -> tuple[Counter[Any], str]:
    frame = session.sql(query)
    rows = Counter(map(tuple, frame.collect()))
    return rows, frame._jdf.queryExecution().executedPlan().toString()


def accelerated(session: SparkSession, query: str) -> Counter[Any]:
    rows, plan = rows_and_plan(session, query)
    assert re.search(r"BroadcastThetaJoin python, ", plan), plan
    return rows


def without_nulls(session: SparkSession) -> None:
    """Which the class leaves out, and Spark has first."""
    for name, value in (("a", "x"), ("b", "y")):
        session.table(name).where(f"{value} IS NOT NULL").createOrReplaceTempView(name)


LATERAL = "SELECT id, no FROM a {}JOIN LATERAL (SELECT no FROM (SELECT *, away({}) d FROM {}) ORDER BY d LIMIT {})"
FORMS = {
    "lateral": LATERAL.format("", "a.x, b.y, -2D", "b", "{k}"),
    "written the other way": LATERAL.format("", "b.y, a.x, 0 - 2D", "b", "{k}"),
    "value": """SELECT id, no FROM a, LATERAL (
        SELECT *, away(a.x, b.y, -2D) AS d FROM b ORDER BY d LIMIT {k}) b WHERE d = 2 * abs(x - y)""",
    "row_number": """SELECT id, no FROM (SELECT *, row_number() OVER (
        PARTITION BY id ORDER BY away(x, y, -2D)) n FROM a JOIN b ON x IS NOT NULL AND y IS NOT NULL)
        WHERE n <= {k}""",
    "nearest by": "SELECT id, no FROM a JOIN b EXACT NEAREST {k} BY DISTANCE away(a.x, b.y, -2D)",
}


@pytest.mark.parametrize("configuration", MATRIX)
@pytest.mark.parametrize("k", [1, 5])
def test_the_first_k_rows_come_out(session: SparkSession, k: int, configuration: str) -> None:
    confs = Confs(session)
    try:
        for batch in ("7", "10000"):
            rows = {"spark.sql.execution.arrow.maxRecordsPerBatch": batch}
            confs.apply({**MATRIX[configuration], **rows})
            for form, query in FORMS.items():
                if form != "nearest by" or session.version >= "4.2":
                    assert accelerated(session, query.format(k=k)) == expected(k), form
            left = LATERAL.format("LEFT ", "a.x, b.y, -2D", "b", k)
            assert accelerated(session, left) == expected(k, keeps=True)
    finally:
        confs.apply({})


def test_more_rows_than_there_are(session: SparkSession) -> None:
    query = LATERAL.format("", "a.x, b.y, -2D", "b", 30)
    assert accelerated(session, query) == expected(30)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a.id, min_by(no, away(x, y, -2D)) FROM a JOIN b GROUP BY a.id",
        "SELECT a.id, max(x), min(away(x, y, -2D)) FROM a JOIN b GROUP BY a.id",
        *(FORMS[form].format(k=3) for form in ("lateral", "value", "row_number")),
        LATERAL.format("LEFT ", "a.x, b.y, -2D", "b", 3),
        """SELECT id, no FROM a, LATERAL (
            SELECT *, away(a.x, b.y, -2D) d FROM b WHERE m > 0 AND a.k > 0 ORDER BY d LIMIT 2)""",
    ],
)
def test_rows_are_those_of_spark(session: SparkSession, query: str) -> None:
    without_nulls(session)
    on = accelerated(session, query)
    session.conf.set(ENABLED, "false")
    off, plan = rows_and_plan(session, query)
    assert "BatchEvalPython" in plan and on == off and on


@pytest.mark.parametrize("how", ["inner", "left"])
def test_nearest_join(session: SparkSession, how: Any) -> None:
    a, b = session.table("a"), session.table("b")
    from pyspark.sql.functions import lit

    joined = thetajoin.nearest_join(
        a, b, 2, distance=lambda a, b: away(a["x"], b["y"], lit(SCALE)), how=how
    ).select("id", "no")
    rows = Counter(map(tuple, joined.collect()))
    assert rows == expected(2, keeps=how == "left")
    assert "ThetaJoin python" in joined._jdf.queryExecution().executedPlan().toString()


@pytest.mark.parametrize("kind", ["", "LEFT "])
def test_sides_may_be_empty(session: SparkSession, kind: str) -> None:
    query = LATERAL.format(kind, "a.x, b.y, -2D", "nothing b", 2)
    assert rows_and_plan(session, query)[0] == expected(2, right=[], keeps=kind != "")
    query = query.replace("nothing b", "(SELECT * FROM b WHERE no < 0 - m) b")
    assert accelerated(session, query) == expected(2, right=[], keeps=kind != "")
    query = "SELECT * FROM (SELECT * FROM a WHERE id < 0 - k) a, LATERAL"
    query += " (SELECT *, away(a.x, b.y, -2D) d FROM b ORDER BY d LIMIT 2)"
    assert not accelerated(session, query)


@udf(DoubleType())
def likeness(v: float | None, w: float | None) -> float:
    return -1.0 if v is None or w is None else 1 / (1 + abs(v - w))


class Likest:
    """Finds all matches too. A null is as unlike as can be."""

    def build(self, keys: pa.Table, least: float | None = None) -> Any:
        return keys.column("w").to_pylist()

    def probe(self, index: Any, keys: pa.RecordBatch, least: float) -> Any:
        return [], []

    def nearest(self, index: Any, keys: pa.RecordBatch, k: int) -> Any:
        pairs = [
            (i, j)
            for i, v in enumerate(keys.column("v").to_pylist())
            for j in sorted(range(len(index)), key=lambda j, v=v: -likeness.func(v, index[j]))[:k]
        ]
        return [i for i, _ in pairs], pa.array([j for _, j in pairs], pa.int32())


def test_the_highest_come_first_and_nulls_are_given(session: SparkSession) -> None:
    thetajoin.accelerator(
        serves=likeness, build="w", compared=">=", nearest="highest", takes_nulls=True
    )(Likest)
    thetajoin.register_accelerator(session, Likest())
    lateral = "SELECT id, no FROM a, LATERAL (SELECT *, likeness(a.x, b.y) d FROM b ORDER BY d {} LIMIT 1)"
    rows = accelerated(session, lateral.format("DESC"))
    assert len(rows) == len(A)
    assert {row for row in rows if A[row[0]][1] is not None} == set(expected(1))
    _, plan = rows_and_plan(session, lateral.format("ASC"))
    assert "ThetaJoin python" not in plan
    assert not accelerated(session, "SELECT * FROM a JOIN b ON likeness(a.x, b.y) >= 0.1D")


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (
            "SELECT id, no FROM a, LATERAL (SELECT *, away(a.x, b.y, -2D) d FROM b WHERE b.m = a.k ORDER BY d LIMIT 2)",
            "FIRST_ROWS_ALONE",
        ),
        (
            "SELECT id, no FROM a, LATERAL (SELECT *, away(a.x, b.y, -2D) d FROM b WHERE b.no < a.id ORDER BY d LIMIT 2)",
            "FIRST_ROWS_ALONE",
        ),
        (
            "SELECT id, no FROM a, LATERAL (SELECT *, away(a.x, b.y, a.k + 1D) d FROM b ORDER BY d LIMIT 2)",
            "OTHER_SIDES",
        ),
        (
            """SELECT id, no, d FROM a LEFT JOIN LATERAL (
                SELECT *, away(a.x, b.y, -2D) d FROM b ORDER BY d LIMIT 2)""",
            "Leave it out of the subquery's columns",
        ),
        (
            "SELECT id, no FROM a, LATERAL (SELECT *, away(a.x, b.y, -2D) d FROM b ORDER BY d DESC LIMIT 2)",
            "",
        ),
        (
            "SELECT id, no FROM a, LATERAL (SELECT *, away(a.x, b.y, -2D) d FROM b ORDER BY d, no LIMIT 2)",
            "",
        ),
        (
            """SELECT id, no FROM (SELECT *, rank() OVER (PARTITION BY id ORDER BY away(x, y, -2D)) n
                FROM a JOIN b) WHERE n = 1""",
            "",
        ),
    ],
)
def test_other_queries_are_left_to_spark(session: SparkSession, query: str, why: str) -> None:
    without_nulls(session)
    on, plan = rows_and_plan(session, query)
    assert "ThetaJoin python" not in plan
    reports = thetajoin.explain_joins(session.sql(query))
    assert why in str([report.notes for report in reports])
    session.conf.set(ENABLED, "false")
    assert on == rows_and_plan(session, query)[0] and on


def test_a_report_has_the_order(session: SparkSession) -> None:
    (report,) = thetajoin.explain_joins(session.sql(FORMS["lateral"].format(k=2)))
    assert report.accelerator == "python" and not report.notes and report.residual == ()
    assert report.index == ("away(x, y, -2.0)",)


def test_large_right_sides_are_broadcast(session: SparkSession) -> None:
    for key in ("spark.sql.autoBroadcastJoinThreshold", "spark.thetajoin.broadcast.maxBytes"):
        session.conf.set(key, "0")
    assert accelerated(session, FORMS["lateral"].format(k=2)) == expected(2)


def test_frames_are_cached(session: SparkSession) -> None:
    frame = session.sql(FORMS["lateral"].format(k=2)).cache()
    try:
        assert Counter(map(tuple, frame.collect())) == expected(2)
        assert "ThetaJoin python" in frame._jdf.queryExecution().executedPlan().toString()
    finally:
        frame.unpersist()


def test_the_size_of_the_index_counts_what_it_takes_in_a_worker(session: SparkSession) -> None:
    session.conf.set("spark.sql.adaptive.enabled", "false")
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    frame = session.sql(FORMS["lateral"].format(k=2))
    frame.collect()
    plan = frame._jdf.queryExecution().executedPlan()
    while "ThetaJoin" not in plan.nodeName():
        plan = plan.children().apply(0)
    size = plan.metrics().apply("indexBytes").value()
    assert 1_000_000 < size < 1_100_000


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (([0, 0, 0], [0, 1, 2]), "3 build rows for probe row 0, more than 2"),
        (([0, 0], [1, 1]), "probe row 0 with build row 1 more than once"),
        (([0], [25]), "25 among build_rows"),
        ((pa.array([0]), pa.array([None], pa.int32())), "1 nulls in build_rows"),
    ],
)
def test_wrong_answers_fail(session: SparkSession, wrong: Any, text: str) -> None:
    thetajoin.register_accelerator(session, Nearest(wrong))
    with pytest.raises(Exception, match="PYTHON_ACCELERATOR") as failed:
        session.sql(FORMS["lateral"].format(k=2)).collect()
    assert f"Nearest.nearest gave {text}" in str(failed.value)
