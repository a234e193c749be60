"""Draws cases until a budget is spent, runs their queries with the extension on and off, and writes down what differs."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import hypothesis
from differential import (
    ANSI,
    BROADCAST_LIMIT,
    ENABLED,
    MATRIX,
    Confs,
    Outcome,
    difference,
    execute,
)
from hypothesis import strategies as st
from oracles import DuckDB, Rows, whole_numbers
from pyspark.sql import SparkSession
from sessions import release
from values import Table

# Else Spark removes a join with an empty side before it is planned.
SESSION = {
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PropagateEmptyRelation",
    "spark.sql.adaptive.optimizer.excludedRules": (
        "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation"
    ),
    # Spark estimates the size of a join as the product of its sides, and a broadcast of few rows as megabytes.
    "spark.thetajoin.broadcast.maxBytes": "1024t",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.join.asofJoin.enabled": "true",
    "spark.sql.session.timeZone": "America/Los_Angeles",
}
OFF = {**SESSION, **MATRIX["interpreted"], ENABLED: "false", BROADCAST_LIMIT: "10m"}

DRAWS = 40  # of a round
FEW_ROWS, MANY_ROWS = 1, 4096
AT_LEAST = 20  # examples, however slow the machine is


class Query(Protocol):
    """A query, and what it is to run under with the extension on, beside `SESSION`."""

    @property
    def settings(self) -> Mapping[str, str]: ...

    def sql(self, duckdb: bool = False) -> str: ...


Q = TypeVar("Q", bound=Query)


@dataclass(frozen=True)
class Case(Generic[Q]):
    """Tables and queries over them; `files` says that queries read `<table>_file` too."""

    tables: Sequence[Table]
    queries: Sequence[Q]
    files: bool

    def statements(self) -> list[str]:
        """What makes the tables."""
        statements = []
        for table in self.tables:
            statements.append(f"CREATE OR REPLACE TEMP VIEW {table.name} AS {table.sql()}")
            if self.files:
                file = f"{table.name}_file"
                statements.append(f"DROP TABLE IF EXISTS {file}")
                statements.append(
                    f"CREATE TABLE {file} USING parquet AS SELECT * FROM {table.name}"
                )
        return statements


@dataclass
class Budget:
    """How long to look: for a number of examples, or else for some seconds.

    One round of draws follows the other, each with a seed of its own, so that it can be repeated by itself.
    """

    seed: int
    seconds: float
    examples: int | None
    covered: Counter[str]
    repro: Path
    start: float = field(default_factory=time.monotonic)

    def spent(self) -> bool:
        done = self.covered["examples"]
        if self.examples is not None:
            return done >= self.examples
        return done >= AT_LEAST and time.monotonic() - self.start >= self.seconds

    def rounds(self) -> Iterator[int]:
        """The seeds."""
        while not self.spent():
            yield self.seed
            self.seed += 1


class DifferenceError(AssertionError):
    """A query gives other rows than it must, or runs otherwise than it must."""


class Comparison(Generic[Q]):
    """Runs the queries of drawn cases. A kind of test adds what it asks of a plan, and who else knows the rows."""

    def __init__(self, spark: SparkSession, budget: Budget) -> None:
        self.spark = spark.newSession()
        self.confs = Confs(self.spark)
        self.duckdb = DuckDB()
        self.budget, self.covered = budget, budget.covered
        self.failed = False

    def plan(self, query: Q, off: Outcome, on: Outcome) -> str | None:
        """What is wrong with the executed plan, if anything."""
        raise NotImplementedError

    def peers(self, query: Q, case: Case[Q]) -> dict[str, Rows | None]:
        """The rows as others than Spark find them; None of those who can't."""
        raise NotImplementedError

    def search(self, cases: Callable[[tuple[int, ...]], st.SearchStrategy[Case[Q]]]) -> None:
        version = release(self.spark)
        for seed in self.budget.rounds():
            self.index_keys_from(FEW_ROWS if seed % 2 else MANY_ROWS)

            @hypothesis.seed(seed)
            @hypothesis.settings(
                max_examples=DRAWS,
                deadline=None,
                database=None,
                phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
                verbosity=hypothesis.Verbosity.quiet,  # the script tells more than the drawn objects
                report_multiple_bugs=False,
                suppress_health_check=list(hypothesis.HealthCheck),
            )
            @hypothesis.given(cases(version))
            def same_rows(case: Case[Q]) -> None:
                # What is left of the last round costs no query; but a difference is shrunk to its end.
                if self.failed or not self.budget.spent():
                    self.run(case)

            same_rows()

    def index_keys_from(self, rows: int) -> None:
        """From how many build rows on a join's index is of its equality keys alone, where few rows have the same keys.

        Short runs are aggregated as a whole in the same rounds.
        """
        jvm = self.spark._jvm
        assert jvm is not None
        jvm.thetajoin.Yardsticks.set("indexOfKeysRows", rows)
        jvm.thetajoin.Yardsticks.set("foldedRun", 2 if rows == FEW_ROWS else 8)
        jvm.thetajoin.Yardsticks.set("manyListed", 1 if rows == FEW_ROWS else 32)
        jvm.thetajoin.Yardsticks.set("foldedBlock", 2 if rows == FEW_ROWS else 16)

    def run(self, case: Case[Q]) -> None:
        self.confs.apply(OFF)
        for statement in case.statements():
            self.spark.sql(statement)
        self.duckdb.load(*case.tables)
        for query in case.queries:
            self.covered["examples"] += 1
            problem = self.problem(query, case)
            if problem:
                self.failed = True
                file = self.write(query, case, problem)
                raise DifferenceError(f"{problem}\n\nSee {file}")

    def problem(self, query: Q, case: Case[Q]) -> str | None:
        sql = query.sql()
        self.confs.apply({**OFF, ANSI: query.settings[ANSI]})
        off = execute(self.spark, sql)
        self.confs.apply({**SESSION, **query.settings, ENABLED: "true"})
        on = execute(self.spark, sql)
        if _is_fault(off.error) or (_is_fault(on.error) and self.spark_fails(query)):
            # Spark itself breaks down on the query, with internal errors as in NestedColumnAliasing.
            self.covered["faults of Spark"] += 1
            return None
        if off.error:
            # Pairs that we leave out may be the ones that raise.
            self.covered["errors"] += 1
            return on.error if _is_fault(on.error) else None
        for id in {node.accelerator for node in on.nodes}:
            self.covered[id] += 1
        self.covered["shuffled"] += any("Shuffled" in node.description for node in on.nodes)
        return (
            difference(self.spark, sql, off, on)
            or self.plan(query, off, on)
            or self.rows(query, case, on)
        )

    def spark_fails(self, query: Q) -> bool:
        """Whether Spark alone has a fault too, once it plans as the query's settings say."""
        self.confs.apply({**SESSION, **query.settings, ENABLED: "false"})
        return _is_fault(execute(self.spark, query.sql()).error)

    def rows(self, query: Q, case: Case[Q], on: Outcome) -> str | None:
        for name, expected in self.peers(query, case).items():
            if expected is not None:
                self.covered[name] += 1
                got = whole_numbers(on.rows)
                if got != expected:
                    return f"{name}: missing {expected - got}, extra {got - expected}\n{on.plan}"
        return None

    def write(self, query: Q, case: Case[Q], problem: str) -> Path:
        """A script for spark-sql that shows the difference."""
        lines = [f"-- {line}" for line in problem.splitlines()]
        serializer = self.spark.conf.get("spark.serializer")
        lines += [f"-- repeat: --seed {self.budget.seed}", f"-- spark.serializer={serializer}"]
        confs = {**SESSION, **query.settings}
        lines += [f"SET {key}={value};" for key, value in confs.items()]
        lines += [f"{statement};" for statement in case.statements()]
        for enabled in ("false", "true"):
            lines += [f"SET {ENABLED}={enabled};", f"{query.sql()};"]
        file = self.budget.repro.with_name(f"{self.budget.repro.name}-{self.budget.seed}.sql")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")
        return file


def nested_loop(plan: str, of: str = "") -> bool:
    """Whether Spark runs a nested loop, of joins of some type. It marks with ! a node that reads a column which its
    inputs lack."""
    return re.search(rf"(?<!!)\b(BroadcastNestedLoopJoin|CartesianProduct){of}", plan) is not None


def _is_fault(error: str | None) -> bool:
    """Whether it is an error that Spark does not report as the query's own."""
    own = r"SQLSTATE: (?!XX)|\b(integer|long) overflow\b"
    return bool(error) and re.search(own, error) is None
