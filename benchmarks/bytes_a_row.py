"""Bytes of a build row in memory, by accelerator: `python -m benchmarks.bytes_a_row`.

Each join builds the rows of one table, all numbers of 64 bits unless the table says otherwise.
Spark's metric "index size" counts the rows and their index. The results are in results/bytes.json,
and in a table of docs/memory.md.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

import thetajoin
from pyspark.sql import SparkSession

from benchmarks import markdown
from benchmarks.executed_plan import executed_join, plan_of

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "bytes.json"
PAGE = ROOT / "docs" / "memory.md"
PLACE = re.compile(r"(<!-- bytes:begin -->\n)(.*?)(<!-- bytes:end -->)", re.S)

_MILLION = 1_000_000
_A = "id * 7919 % 1000003"
_B = "id * 104729 % 1000003"
_PROBES = (
    "SELECT id, id * 1009 % 1000003 AS x, id * 997 % 1000003 AS y, 'text ' || id AS text "
    "FROM range({})"
)
_VECTOR = "transform(sequence(1, 64), n -> float(sin({} * n)))"


@dataclass(frozen=True)
class Case:
    """A join that builds the rows of one table."""

    accelerator: str
    row: str
    columns: str
    query: str
    rows: int = _MILLION
    probes: int = 100


@dataclass(frozen=True)
class Measured:
    """What the built side of a case takes."""

    accelerator: str
    row: str
    rows: int
    bytes: int
    index: str


NO_KEY = "SELECT count(*) FROM p WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = p.x)"
JOIN = "SELECT count(*), sum(w) FROM p JOIN b ON "
CASES = [
    Case("existence", "1 key, close to each other (a bitmap)", f"{_A} AS k", NO_KEY),
    Case("existence", "1 key, far apart (a hash table)", f"({_A}) * 1000000007 AS k", NO_KEY),
    Case(
        "interval",
        "2 ends, 1 value",
        f"{_A} AS lo, {_A} + 9 AS hi, id AS w",
        JOIN + "x BETWEEN lo AND hi",
    ),
    Case("piecewise", "1 bound, 1 value", f"{_A} AS lo, id AS w", JOIN + "x > lo"),
    Case(
        "boxes",
        "4 ends, 1 value",
        f"{_A} AS x1, {_A} + 9 AS x2, {_B} AS y1, {_B} + 9 AS y2, id AS w",
        JOIN + "x BETWEEN x1 AND x2 AND y BETWEEN y1 AND y2",
    ),
    Case(
        "containment",
        "5 elements, 1 value",
        f"transform(sequence(0, 4), n -> {_A} + n) AS tags, id AS w",
        JOIN + "array_contains(tags, x)",
    ),
    Case(
        "wildcard",
        "2 values or wildcards, 1 value",
        f"nullif({_A}, 5) AS rx, if(id % 2 = 0, {_B}, NULL) AS ry, id AS w",
        JOIN + "(rx IS NULL OR x = rx) AND (ry IS NULL OR y = ry)",
    ),
    Case(
        "patterns",
        "a text of 10 bytes, 1 value",
        "substr(md5(CAST(id AS STRING)), 1, 10) AS name, id AS w",
        JOIN + "contains(text, name)",
    ),
    Case(
        "similar",
        "a text of 10 bytes, 2 edits, 1 value",
        "substr(md5(CAST(id AS STRING)), 1, 10) AS name, id AS w",
        JOIN + "levenshtein(text, name) <= 2",
    ),
    Case(
        "vector",
        "64 dimensions of 32 bits, 1 value",
        f"{_VECTOR.format('id')} AS v, id AS w",
        f"SELECT count(*), sum(w) FROM (SELECT {_VECTOR.format('(id + 0.1)')} AS u FROM p) JOIN b "
        "ON vector_cosine_similarity(u, v) > 0.99",
        rows=100_000,
    ),
    Case("anyof", "2 keys, 1 value", f"{_A} AS k, {_B} AS m, id AS w", JOIN + "x = k OR y = m"),
    Case(
        "nearest",
        "1 time, 1 value",
        f"{_A} AS t, id AS w",
        "SELECT count(*), sum(w) FROM p, "
        "LATERAL (SELECT * FROM b WHERE t <= x ORDER BY t DESC LIMIT 1)",
        probes=_MILLION,  # few of them would narrow the right side first
    ),
    Case("nestedloop", "1 number, 1 value", f"{_A} AS a, id AS w", JOIN + "(x + a) % 1000 = 0"),
]
CONFS = {
    "spark.driver.memory": "4g",
    "spark.driver.host": "localhost",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.sql.autoBroadcastJoinThreshold": "2g",
    "spark.thetajoin.broadcast.maxBytes": "4g",
}


def measure(spark: SparkSession, case: Case) -> Measured:
    """Runs the join of a case, and reads its metrics."""
    spark.sql(f"CREATE OR REPLACE TEMP VIEW p AS {_PROBES.format(case.probes)}")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW b AS SELECT {case.columns} FROM range({case.rows})")
    frame = spark.sql(re.sub("SELECT", "SELECT /*+ BROADCAST(b) */", case.query, count=1))
    frame.collect()
    join = executed_join(plan_of(frame))
    if join.accelerator != case.accelerator:
        raise ValueError(f"{case.accelerator}: {join.line}")
    rows = join.metrics["indexRows"]
    return Measured(case.accelerator, case.row, rows, join.metrics["indexBytes"], join.line)


def table(measured: list[Measured]) -> str:
    """The table of docs/memory.md."""
    head = ("accelerator", "a build row", "rows", "bytes for a row")
    lines = (
        (f"`{one.accelerator}`", one.row, f"{one.rows:,}", f"{one.bytes / one.rows:.1f}")
        for one in measured
    )
    return "\n".join(markdown.table(head, lines, texts=2)) + "\n"


def read() -> list[Measured]:
    """What the last run has left."""
    return [Measured(**one) for one in json.loads(RESULTS.read_text())["results"]]


def main() -> None:
    """Measures all cases, and writes the results."""
    builder = SparkSession.builder.master("local[2]")
    for key, value in CONFS.items():
        builder = builder.config(key, value)
    spark = thetajoin.configure(builder).getOrCreate()
    measured = [measure(spark, case) for case in CASES]
    results = {"spark": spark.version, "results": [asdict(one) for one in measured]}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    page = PAGE.read_text()
    PAGE.write_text(PLACE.sub(lambda match: match[1] + table(measured) + match[3], page))


if __name__ == "__main__":
    main()
