"""Random joins of random tables give the same bag of rows with the extension on and off.

Three oracles: Spark with the extension off, for every query; DuckDB, for what both systems define
alike; loops in Python, for whole numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest
from differential import ENABLED, MATRIX, Confs, Outcome, difference, execute
from hypothesis import strategies as st
from oracles import DuckDB, brute_force, whole_numbers
from pyspark.sql import SparkSession
from queries import Query, joins
from values import FAMILIES, Table, tables

QUERIES_PER_DRAW = 4  # at least, on average

# Else Spark removes a join with an empty side before it is planned.
SESSION = {
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PropagateEmptyRelation",
    "spark.sql.adaptive.optimizer.excludedRules": (
        "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation"
    ),
    # Spark estimates the size of a join as the product of its sides, and a broadcast of few rows as megabytes.
    "spark.thetajoin.broadcast.maxBytes": "1024t",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.session.timeZone": "America/Los_Angeles",
}
BROADCAST_LIMIT = "spark.sql.autoBroadcastJoinThreshold"
OFF = {**SESSION, **MATRIX["interpreted"], ENABLED: "false", BROADCAST_LIMIT: "10m"}


@dataclass(frozen=True)
class Case:
    left: Table
    right: Table
    queries: list[Query]

    def statements(self) -> list[str]:
        """What makes the tables."""
        statements = []
        for table in (self.left, self.right):
            statements.append(f"CREATE OR REPLACE TEMP VIEW {table.name} AS {table.sql()}")
            if any(query.reads_files for query in self.queries):
                file = f"{table.name}_file"
                statements.append(f"DROP TABLE IF EXISTS {file}")
                statements.append(
                    f"CREATE TABLE {file} USING parquet AS SELECT * FROM {table.name}"
                )
        return statements


@st.composite
def cases(draw: st.DrawFn, version: tuple[int, ...]) -> Case:
    known = [f for f in FAMILIES if all(t.since <= version for t in f.types)]
    one = draw(st.sampled_from(known))
    families = (one, draw(st.sampled_from((one, *known, *known))))
    xs, ys = (draw(st.tuples(*[st.sampled_from(f.types)] * 2)) for f in families)
    left = draw(tables("l", xs[0], ys[0]))
    right = draw(tables("r", xs[1], ys[1]))
    at_least = draw(st.sampled_from((1, 4, 8)))
    queries = st.lists(joins(families, left, right), min_size=at_least, max_size=14)
    return Case(left, right, draw(queries))


class DifferenceError(AssertionError):
    """A query gives other rows than it must, or runs otherwise than it must."""


class Comparison:
    """Runs the queries of a case until as many as asked for have been compared."""

    def __init__(
        self, spark: SparkSession, wanted: int, repro: Path, covered: Counter[str]
    ) -> None:
        self.spark = spark.newSession()
        self.confs = Confs(self.spark)
        self.duckdb = DuckDB()
        self.wanted, self.repro, self.covered = wanted, repro, covered
        self.failed = False

    def run(self, case: Case) -> None:
        if self.covered["examples"] >= self.wanted and not self.failed:
            return
        self.confs.apply(OFF)
        for statement in case.statements():
            self.spark.sql(statement)
        self.duckdb.load(case.left, case.right)
        for query in case.queries:
            self.covered["examples"] += 1
            problem = self.problem(query, case)
            if problem:
                self.failed = True
                raise DifferenceError(f"{problem}\n\nSee {self.write(query, case, problem)}")

    def problem(self, query: Query, case: Case) -> str | None:
        sql = query.sql()
        ansi = {"spark.sql.ansi.enabled": str(query.ansi).lower()}
        self.confs.apply({**OFF, **ansi})
        off = execute(self.spark, sql)
        limit = {BROADCAST_LIMIT: query.broadcast}
        self.confs.apply({**SESSION, **MATRIX[query.config], **ansi, **limit, ENABLED: "true"})
        on = execute(self.spark, sql)
        if off.error and not _is_user_error(off.error):
            # Spark itself breaks down on the query, with internal errors as in NestedColumnAliasing.
            self.covered["faults of Spark"] += 1
            return None
        if off.error:
            # Pairs that we leave out may be the ones that raise.
            self.covered["errors"] += 1
            return on.error if on.error and not _is_user_error(on.error) else None
        return (
            difference(self.spark, sql, off, on)
            or self.plan(query, off, on)
            or self.rows(query, case, on)
        )

    def plan(self, query: Query, off: Outcome, on: Outcome) -> str | None:
        """Where Spark alone has a nested loop, there must be an accelerator; an index where one serves."""
        ids = {node.accelerator for node in on.nodes}
        for id in ids:
            self.covered[id] += 1
        self.covered["shuffled"] += any("Shuffled" in node.description for node in on.nodes)
        # Spark marks with ! a node that reads a column which its inputs lack.
        nested_loop = re.search(r"(?<!!)\b(BroadcastNestedLoopJoin|CartesianProduct)", off.plan)
        sorted_index = {"piecewise", "interval"}
        if nested_loop and (not ids or (query.indexed and not ids <= sorted_index)):
            return f"not accelerated as it must be:\n{on.plan}"
        hash_join = re.search(r"BroadcastHashJoin|ShuffledHashJoin|SortMergeJoin", off.plan)
        if hash_join and query.equal and not ids & {"existence", "interval"}:
            return f"not accelerated as it must be:\n{on.plan}"
        if query.ranged and (nested_loop or hash_join) and "interval" not in ids:
            return f"not accelerated as it must be:\n{on.plan}"
        return None

    def rows(self, query: Query, case: Case, on: Outcome) -> str | None:
        loops, peer = brute_force(query, case.left, case.right), self.duckdb.rows(query)
        for name, expected in (("loops", loops), ("DuckDB", peer)):
            if expected is not None:
                self.covered[name] += 1
                got = whole_numbers(on.rows)
                if got != expected:
                    return f"{name}: missing {expected - got}, extra {got - expected}\n{on.plan}"
        return None

    def write(self, query: Query, case: Case, problem: str) -> Path:
        """A script for spark-sql that shows the difference."""
        confs = {
            **SESSION,
            **MATRIX[query.config],
            "spark.sql.ansi.enabled": str(query.ansi).lower(),
            BROADCAST_LIMIT: query.broadcast,
        }
        lines = [f"-- {line}" for line in problem.splitlines()]
        lines += [f"SET {key}={value};" for key, value in confs.items()]
        lines += [f"{statement};" for statement in case.statements()]
        for enabled in ("false", "true"):
            lines += [f"SET {ENABLED}={enabled};", f"{query.sql()};"]
        self.repro.parent.mkdir(parents=True, exist_ok=True)
        self.repro.write_text("\n".join(lines) + "\n")
        return self.repro


def _is_user_error(error: str) -> bool:
    """Whether Spark reports it as the query's own error and not as a fault."""
    return re.search(r"SQLSTATE: (?!XX)|\b(integer|long) overflow\b", error) is not None


def test_random_joins(
    spark: SparkSession, request: pytest.FixtureRequest, covered: Counter[str]
) -> None:
    options = request.config.option
    repro = request.config.rootpath / "target" / "repro" / f"join-{options.seed}.sql"
    comparison = Comparison(spark, options.examples, repro, covered)
    version = tuple(int(n) for n in spark.version.split(".")[:2])

    @hypothesis.seed(options.seed)
    @hypothesis.settings(
        max_examples=max(1, options.examples // QUERIES_PER_DRAW),
        deadline=None,
        database=None,
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        verbosity=hypothesis.Verbosity.quiet,  # the script tells more than the drawn objects
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(cases(version))
    def same_rows(case: Case) -> None:
        comparison.run(case)

    same_rows()
    assert covered["examples"] >= options.examples
