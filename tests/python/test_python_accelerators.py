"""Accelerators written in Python, in a session: every join type, next to other conditions, and what goes wrong."""

from __future__ import annotations

import itertools
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import thetajoin
from differential import ENABLED, MATRIX, Confs, execute
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from pyspark.sql.types import BooleanType, DoubleType

# Workers can't import a test.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

JOINS = ["INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"]
A = [(i, None if i % 11 == 5 else f"{'abcde'[i % 5]}{'xyz'[i % 3]}{i}", i % 4) for i in range(60)]
B = [(i, None if i % 7 == 3 else f"{'bcdef'[i % 5]}{'wxy'[i % 3]}-{i}", i % 3) for i in range(25)]


@udf(BooleanType())
def alike(x: str | None, y: str | None, n: int) -> bool | None:
    return None if x is None or y is None else x[:n] == y[:n]


class Prefixes:
    """A dictionary of prefixes."""

    def build(self, keys: pa.Table, n: int) -> Any:
        rows: dict[str, list[int]] = {}
        for row, text in enumerate(keys.column(0).to_pylist()):
            rows.setdefault(text[:n], []).append(row)
        return rows

    def probe(self, index: Any, keys: pa.RecordBatch, n: int) -> Any:
        texts = enumerate(keys.column(0).to_pylist())
        pairs = [(i, row) for i, text in texts for row in index.get(text[:n], [])]
        return [i for i, _ in pairs], pa.array([row for _, row in pairs], pa.int32())


thetajoin.accelerator(serves=alike)(Prefixes)


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    session = spark.newSession()
    session.createDataFrame(A, "id int, x string, k int").createOrReplaceTempView("a")
    session.createDataFrame(B, "no int, y string, m int").createOrReplaceTempView("b")
    session.createDataFrame([], "no int, y string, m int").createOrReplaceTempView("nothing")
    thetajoin.register_accelerator(session, Prefixes())
    yield session


def holds(a: tuple[Any, ...], b: tuple[Any, ...], more: Callable[[Any, Any], bool]) -> bool:
    return a[1] is not None and b[1] is not None and a[1][0] == b[1][0] and more(a, b)


def expected(
    kind: str, left: list[Any], right: list[Any], on: Callable[[Any, Any], bool]
) -> Counter[Any]:
    """By a loop over all pairs."""
    pairs = [(a, b) for a in left for b in right if on(a, b)]
    found_left, found_right = {a for a, _ in pairs}, {b for _, b in pairs}
    if kind == "LEFT SEMI":
        return Counter(a for a in left if a in found_left)
    if kind == "LEFT ANTI":
        return Counter(a for a in left if a not in found_left)
    none = (None, None, None)
    rows = [a + b for a, b in pairs]
    if kind in ("LEFT", "FULL"):
        rows += [a + none for a in left if a not in found_left]
    if kind in ("RIGHT", "FULL"):
        rows += [none + b for b in right if b not in found_right]
    return Counter(rows)


def rows_and_plan(session: SparkSession, query: str) -> tuple[Counter[Any], str]:
    frame = session.sql(query)
    rows = Counter(map(tuple, frame.collect()))
    return rows, frame._jdf.queryExecution().executedPlan().toString()


def accelerated(session: SparkSession, query: str) -> Counter[Any]:
    rows, plan = rows_and_plan(session, query)
    assert re.search(r"ThetaJoin python, ", plan), plan
    return rows


CONDITIONS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "alone": ("alike(a.x, b.y, 1)", lambda a, b: True),
    "residual": ("alike(a.x, b.y, 1) AND a.id + b.no <> 20", lambda a, b: a[0] + b[0] != 20),
    "equal keys": ("alike(a.x, b.y, 1) AND a.k = b.m", lambda a, b: a[2] == b[2]),
    "one-sided": ("a.k > 0 AND b.m > 0 AND alike(a.x, b.y, 1)", lambda a, b: a[2] > 0 and b[2] > 0),
    "written the other way": ("alike(b.y, a.x, 1)", lambda a, b: True),
}


@pytest.mark.parametrize("configuration", MATRIX)
@pytest.mark.parametrize("kind", JOINS)
def test_joins_give_the_rows_of_a_loop(
    session: SparkSession, kind: str, configuration: str
) -> None:
    confs = Confs(session)
    try:
        joins = itertools.product(("a", "b"), CONDITIONS.values())
        for number, (built, (text, more)) in enumerate(joins):
            batch = {"spark.sql.execution.arrow.maxRecordsPerBatch": "7" if number % 2 else "10000"}
            confs.apply({**MATRIX[configuration], **batch})
            query = f"SELECT /*+ BROADCAST({built}) */ * FROM a {kind} JOIN b ON {text}"
            assert accelerated(session, query) == expected(
                kind, A, B, lambda a, b, more=more: holds(a, b, more)
            ), query
    finally:
        confs.apply({})


@pytest.mark.parametrize("text", [text for text, _ in CONDITIONS.values()])
def test_inner_joins_give_the_rows_of_spark(session: SparkSession, text: str) -> None:
    query = f"SELECT * FROM a JOIN b ON {text}"
    on = accelerated(session, query)
    session.conf.set(ENABLED, "false")
    off, plan = rows_and_plan(session, query)
    assert "BatchEvalPython" in plan and on == off and on


@pytest.mark.parametrize("kind", JOINS)
def test_sides_may_be_empty(session: SparkSession, kind: str) -> None:
    def on(*_: Any) -> bool:
        return False

    query = f"SELECT * FROM a {kind} JOIN nothing AS b ON alike(a.x, b.y, 1)"
    assert rows_and_plan(session, query)[0] == expected(kind, A, [], on)
    query = f"SELECT * FROM nothing AS a {kind} JOIN b ON alike(a.y, b.y, 1)"
    assert rows_and_plan(session, query)[0] == expected(kind, [], B, on)
    # Known to be empty once they have been read only.
    query = (
        f"SELECT * FROM a {kind} JOIN (SELECT * FROM b WHERE no < -k) AS b ON alike(a.x, b.y, 1)"
    )
    query = query.replace("-k", "0 - m")
    assert accelerated(session, query) == expected(kind, A, [], on)


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("kind", JOINS)
def test_large_sides_are_shuffled_or_cut_into_blocks(
    session: SparkSession, kind: str, adaptive: str
) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    for key in ("spark.sql.autoBroadcastJoinThreshold", "spark.thetajoin.broadcast.maxBytes"):
        session.conf.set(key, "0")
    nodes = set()
    for text, more in (CONDITIONS["equal keys"], CONDITIONS["residual"]):
        query = f"SELECT * FROM a {kind} JOIN b ON {text}"
        rows, plan = rows_and_plan(session, query)
        nodes |= set(re.findall(r"(\w+)ThetaJoin python", plan))
        assert rows == expected(kind, A, B, lambda a, b, more=more: holds(a, b, more))
    assert nodes & {"Shuffled", "Block"}, nodes


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a.* FROM a, b WHERE alike(a.x, b.y, 1) AND a.id < 50",
        "SELECT a.* FROM a, (SELECT 1 AS one) c, b WHERE alike(a.x, b.y, 1) AND c.one = 1",
        "SELECT a.* FROM a WHERE EXISTS (SELECT 1 FROM b WHERE alike(a.x, b.y, 1) AND b.m = a.k)",
        "SELECT a.* FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE alike(a.x, b.y, 1))",
        "SELECT a.* FROM a WHERE id = 3 OR EXISTS (SELECT 1 FROM b WHERE alike(a.x, b.y, 1))",
        "SELECT a.id, count(*), max(b.no) FROM a JOIN b ON alike(a.x, b.y, 1) GROUP BY a.id",
        "SELECT a.* FROM a JOIN b ON alike(upper(a.x), upper(b.y), 1 + 0)",
        "SELECT a.* FROM a JOIN b ON alike(concat(a.x, a.k), b.y, 2)",
        "SELECT a.x, b.y, c.y FROM a JOIN b ON alike(a.x, b.y, 1) LEFT JOIN b c ON alike(a.x, c.y, 2)",
        "SELECT /*+ THETA_JOIN(python) */ a.* FROM a JOIN b ON alike(a.x, b.y, 1)",
    ],
)
def test_other_forms_run_on_the_index(session: SparkSession, query: str) -> None:
    on = accelerated(session, query)
    # Spark alone runs some of them once the functions are one of its own.
    session.conf.set(ENABLED, "false")
    own = re.sub(
        r"alike\((.*?), (\w\.y|upper\(b.y\)), (\d)( \+ 0)?\)", r"left(\1, \3) = left(\2, \3)", query
    )
    assert "alike" not in own
    assert on == rows_and_plan(session, own)[0]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM a JOIN b ON alike(a.x, b.y, 1) OR a.id = b.no",
        "SELECT * FROM a JOIN b ON NOT alike(a.x, b.y, 1)",
        "SELECT * FROM a JOIN b ON alike(a.x, b.y, a.k)",
        "SELECT * FROM a JOIN b ON alike(concat(a.x, b.y), b.y, 1)",
        "SELECT /*+ NO_THETA_JOIN */ * FROM a JOIN b ON alike(a.x, b.y, 1)",
        "SELECT /*+ THETA_JOIN(interval) */ * FROM a JOIN b ON alike(a.x, b.y, 1)",
        "SELECT *, input_file_name() FROM a JOIN b ON alike(a.x, b.y, 1)",
        "SELECT * FROM a WHERE alike(a.x, 'b', 1)",
        "SELECT * FROM a JOIN (SELECT 'bx' y) b ON alike(a.x, b.y, 1)",
        "SELECT * FROM a JOIN b ON a.x = b.y AND alike(a.x, b.y, 1)",
        "SELECT alike(a.x, b.y, 1) FROM a JOIN b ON a.id = b.no",
        "SELECT * FROM a JOIN b ON a.id = b.no AND alike(a.x, 'b', 1)",
    ],
)
def test_other_conditions_are_run_by_spark(session: SparkSession, query: str) -> None:
    """Or by us: the rows are the same."""
    on, _ = rows_and_plan(session, query)
    session.conf.set(ENABLED, "false")
    assert on == rows_and_plan(session, query)[0]


def test_what_spark_refuses_is_refused_as_before(session: SparkSession) -> None:
    query = "SELECT * FROM a LEFT JOIN b ON NOT alike(a.x, b.y, 1)"
    on = execute(session, query).error
    session.conf.set(ENABLED, "false")
    off = execute(session, query).error
    assert on and off and "ON_CLAUSE" in off and on.split("\n")[0] == off.split("\n")[0]


def test_reasons_name_what_is_missing(session: SparkSession) -> None:
    session.conf.set("spark.thetajoin.accelerator.nestedloop.enabled", "false")
    plain = thetajoin.explain_joins(session.sql("SELECT * FROM a JOIN b ON a.id * b.no = 6"))
    assert "NO_PYTHON_ACCELERATOR" in str(plain[0].passed_over)
    (report,) = thetajoin.explain_joins(session.sql("SELECT * FROM a JOIN b ON alike(a.x, b.y, 1)"))
    assert report.accelerator == "python" and not report.notes
    assert "alike(" in report.index[0] and report.residual == ()


def test_arguments_of_both_sides_are_not_served(session: SparkSession) -> None:
    thetajoin.register_accelerator(session, Lengths())
    query = "SELECT * FROM a JOIN b ON levenshtein(concat(a.x, b.y), b.y) <= 2"
    (report,) = thetajoin.explain_joins(session.sql(query))
    assert any("python, OTHER_SIDES" in why for why in report.passed_over)


def test_a_switch_leaves_joins_to_spark(session: SparkSession) -> None:
    query = "SELECT * FROM a JOIN b ON alike(a.x, b.y, 1)"
    on = accelerated(session, query)
    session.conf.set("spark.thetajoin.accelerator.python.enabled", "false")
    off, plan = rows_and_plan(session, query)
    assert on == off and "ThetaJoin python" not in plan


def test_keys_that_fail_fail_where_a_pair_needs_them(session: SparkSession) -> None:
    session.conf.set("spark.sql.ansi.enabled", "true")
    key = "concat(a.x, 1 div (a.id - 7))"
    for kind in ("INNER", "LEFT"):
        query = f"SELECT * FROM a {kind} JOIN b ON a.id <> 7 AND alike({key}, b.y, 1)"
        assert accelerated(session, query) == expected(
            kind, A, B, lambda a, b: holds(a, b, lambda a, b: a[0] != 7)
        )
    failed = execute(session, f"SELECT * FROM a JOIN b ON alike({key}, b.y, 1)")
    assert failed.error and "DIVIDE_BY_ZERO" in failed.error


# ---- Nulls, comparisons, sides -------------------------------------------------------------------


@udf(BooleanType())
def same_or_none(v: int | None, w: int | None) -> bool:
    return v == w


class SameOrNone:
    def build(self, keys: pa.Table) -> Any:
        return (
            keys.column("w").to_pylist()
            if "w" in keys.column_names
            else keys.column("v").to_pylist()
        )

    def probe(self, index: Any, keys: pa.RecordBatch) -> Any:
        found = [
            (i, j)
            for i, v in enumerate(keys.column(0).to_pylist())
            for j, w in enumerate(index)
            if v == w
        ]
        return np.array([i for i, _ in found]), np.array([j for _, j in found], dtype=np.uint16)


thetajoin.accelerator(serves=same_or_none, takes_nulls=True)(SameOrNone)


@pytest.mark.parametrize("configuration", MATRIX)
@pytest.mark.parametrize("kind", JOINS)
def test_nulls_are_given_to_an_accelerator_that_takes_them(
    session: SparkSession, kind: str, configuration: str
) -> None:
    thetajoin.register_accelerator(session, SameOrNone())
    confs = Confs(session)
    confs.apply(MATRIX[configuration])
    try:
        left = "(SELECT id, IF(id % 4 = 1, NULL, id % 6 + 0L) v, 0 FROM range(20))"
        right = "(SELECT id, IF(id % 3 = 1, NULL, id % 5 + 0L) w, 0 FROM range(12))"
        rows = accelerated(
            session, f"SELECT * FROM {left} a {kind} JOIN {right} b ON same_or_none(a.v, b.w)"
        )
    finally:
        confs.apply({})
    a = [(i, None if i % 4 == 1 else i % 6, 0) for i in range(20)]
    b = [(i, None if i % 3 == 1 else i % 5, 0) for i in range(12)]
    assert rows == expected(kind, a, b, lambda a, b: a[1] == b[1])


@udf(DoubleType())
def closeness(v: float, w: float) -> float:
    return 1.0 / (1.0 + abs(v - w))


class Close:
    def build(self, keys: pa.Table, least: float) -> Any:
        return np.array(keys.column("w"))

    def probe(self, index: Any, keys: pa.RecordBatch, least: float) -> Any:
        v = np.array(keys.column("v"))
        return np.nonzero(1.0 / (1.0 + abs(v[:, None] - index[None, :])) >= least)


thetajoin.accelerator(serves=closeness, build="w", compared=">=")(Close)


@pytest.mark.parametrize("kind", JOINS)
@pytest.mark.parametrize("condition", ["closeness(a.v, b.w) >= 0.3", "0.3 <= closeness(a.v, b.w)"])
def test_a_function_is_compared_with_a_constant(
    session: SparkSession, kind: str, condition: str
) -> None:
    thetajoin.register_accelerator(session, Close())
    query = f"""SELECT * FROM (SELECT id * 1.5D v FROM range(30)) a
        {kind} JOIN (SELECT id * 2.5D w FROM range(9)) b ON {condition}"""
    rows = accelerated(session, query)
    frame = session.sql(query)
    assert "BuildRight" in frame._jdf.queryExecution().executedPlan().toString()
    a, b = [(i * 1.5,) for i in range(30)], [(i * 2.5,) for i in range(9)]
    padded = expected(kind, a, b, lambda x, y: 1.0 / (1.0 + abs(x[0] - y[0])) >= 0.3)
    # `expected` pads with three nulls.
    assert rows == Counter({trimmed(row, kind): n for row, n in padded.items()})


def trimmed(row: tuple[Any, ...], kind: str) -> tuple[Any, ...]:
    if kind.startswith("LEFT "):
        return row
    if row[:3] == (None, None, None):
        return (None, row[3])
    return row[:2]


def test_another_operator_is_left_to_spark(session: SparkSession) -> None:
    thetajoin.register_accelerator(session, Close())
    query = """SELECT * FROM (SELECT id * 1.5D v FROM range(30)) a
        JOIN (SELECT id * 2.5D w FROM range(9)) b ON closeness(a.v, b.w) > 0.3"""
    _, plan = rows_and_plan(session, query)
    assert "BatchEvalPython" in plan


def test_only_the_side_that_can_be_indexed_is_built(session: SparkSession) -> None:
    thetajoin.register_accelerator(session, Close())
    query = """SELECT /*+ BROADCAST(a) */ * FROM (SELECT id * 1.5D v FROM range(30)) a
        RIGHT JOIN (SELECT id * 2.5D w FROM range(9)) b ON closeness(a.v, b.w) >= 0.3"""
    rows, _ = rows_and_plan(session, query)
    assert len(rows) >= 9


# ---- Functions of Spark --------------------------------------------------------------------------


class Lengths:
    """Texts of about the same length: more than the matches."""

    def build(self, keys: pa.Table, most: int) -> Any:
        return np.array([len(text) for text in keys.column(0).to_pylist()])

    def probe(self, index: Any, keys: pa.RecordBatch, most: int) -> Any:
        lengths = np.array([len(text) for text in keys.column(0).to_pylist()])
        return np.nonzero(abs(lengths[:, None] - index[None, :]) <= most)


thetajoin.accelerator(serves="levenshtein", arguments=("x", "y"), compared="<=")(Lengths)


@pytest.mark.parametrize("kind", JOINS)
@pytest.mark.parametrize("operator", ["<=", "<"])
def test_functions_of_spark_are_tested_on_what_is_found(
    session: SparkSession, kind: str, operator: str
) -> None:
    thetajoin.register_accelerator(session, Lengths())
    for condition in (
        f"levenshtein(a.x, b.y) {operator} 3",
        f"levenshtein(a.x, b.y) {operator} 3 AND a.k = b.m",
    ):
        query = f"SELECT /*+ THETA_JOIN(python) */ * FROM a {kind} JOIN b ON {condition}"
        on = accelerated(session, query)
        session.conf.set(ENABLED, "false")
        assert on == rows_and_plan(session, query)[0] and on
        session.conf.set(ENABLED, "true")


# ---- What goes wrong -----------------------------------------------------------------------------


@udf(BooleanType())
def broken(x: str, y: str) -> bool:
    return False


class Broken:
    def __init__(self, at: str) -> None:
        self.at = at

    def build(self, keys: pa.Table) -> Any:
        if self.at == "build":
            raise KeyError("no such letter")
        return threading.Lock() if self.at == "pickle" else None

    def probe(self, index: Any, keys: pa.RecordBatch) -> Any:
        if self.at == "probe":
            raise KeyError("no such letter")
        return ([0, 0], [0, 0]) if self.at == "twice" else ([], [])


thetajoin.accelerator(serves=broken)(Broken)


@pytest.mark.parametrize(
    ("at", "texts"),
    [
        (
            "build",
            ["[PYTHON_ACCELERATOR] Broken.build failed: KeyError", "no such letter", "in build"],
        ),
        (
            "probe",
            ["[PYTHON_ACCELERATOR] Broken.probe failed: KeyError", "no such letter", "in probe"],
        ),
        (
            "twice",
            ["[PYTHON_ACCELERATOR] Broken.probe gave probe row 0 with build row 0 more than once"],
        ),
    ],
)
@pytest.mark.parametrize("kind", ["INNER", "FULL"])
def test_errors_show_the_accelerator_and_its_lines(
    session: SparkSession, kind: str, at: str, texts: list[str]
) -> None:
    thetajoin.register_accelerator(session, Broken(at))
    with pytest.raises(Exception) as failed:
        session.sql(f"SELECT * FROM a {kind} JOIN b ON broken(a.x, b.y)").collect()
    for text in texts:
        assert text in str(failed.value)
    # The session goes on.
    assert accelerated(session, "SELECT * FROM a JOIN b ON alike(a.x, b.y, 1)")


def test_an_index_that_cannot_be_pickled_is_built_by_workers(session: SparkSession) -> None:
    thetajoin.register_accelerator(session, Broken("pickle"))
    rows = accelerated(session, "SELECT * FROM a LEFT JOIN b ON broken(a.x, b.y)")
    assert sum(rows.values()) == len(A)


# ---- The pages -----------------------------------------------------------------------------------

DOCS = Path(__file__).resolve().parents[2] / "docs"
PROGRAMS = {
    f"{page}-{i}": program
    for page in ("accelerators-in-python", "python-accelerator-examples")
    for i, program in enumerate(
        re.findall(r"^```python\n(.*?)^```$", (DOCS / f"{page}.md").read_text(), re.M | re.S)
    )
}


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_of_the_pages_run(session: SparkSession, program: str) -> None:
    text = PROGRAMS[program]
    for library in ("shapely", "rapidfuzz", "faiss", "datasketch"):
        if f"import {library}" in text or f"from {library}" in text:
            pytest.importorskip(library)
    names: dict[str, Any] = {"spark": session, "__name__": "__main__"}
    exec(compile(text, program, "exec"), names)
    on = Counter(map(str, names["joined"].collect()))
    assert "ThetaJoin python" in names["joined"]._jdf.queryExecution().executedPlan().toString()
    assert on
    if "LEFT JOIN" in text:
        assert any("None" in row for row in on) and any("None" not in row for row in on)
        return
    session.conf.set(ENABLED, "false")
    exec(compile(text[text.index("\njoined") :], program, "exec"), names)
    assert on == Counter(map(str, names["joined"].collect()))
