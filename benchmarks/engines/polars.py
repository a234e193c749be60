"""Polars' `join_where` on its streaming engine; the other one would hold every pair in memory.

POLARS_MAX_THREADS, set for the process before Polars is imported, bounds the threads.
"""

from __future__ import annotations

import polars as pl

from benchmarks.engines import Answer, Runner, UnsupportedJoinError
from benchmarks.queries import Query


class PolarsRunner(Runner):
    """Runs queries on two lazy frames."""

    def __init__(self) -> None:
        self._left = self._right = pl.LazyFrame()

    def prepare(self, query: Query) -> None:
        """Make both frames."""
        self._left = pl.LazyFrame({"a": pl.int_range(query.left_rows, eager=True)})
        self._right = pl.LazyFrame({"b": pl.int_range(query.right_rows, eager=True)})

    def run(self, query: Query) -> Answer:
        """Collect the query's one row."""
        if query.join_type != "INNER":
            raise UnsupportedJoinError("Polars has no outer join on an inequality")
        joined = self._left.join_where(self._right, pl.sql_expr(query.condition))
        sums = joined.select(pl.len(), pl.col("a").sum(), pl.col("b").sum())
        count, left, right = sums.collect(engine="streaming").row(0)
        return (count, left, right)


def start(threads: int) -> dict[str, Runner]:
    """The engine by name; the environment has bounded its threads already."""
    if pl.thread_pool_size() != threads:
        raise RuntimeError(f"Polars has {pl.thread_pool_size()} threads, not {threads}")
    return {"Polars": PolarsRunner()}
