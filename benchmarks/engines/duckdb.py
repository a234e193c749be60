"""DuckDB over in-memory tables, which it reads faster than its `range` function."""

from __future__ import annotations

import duckdb

from benchmarks.engines import Answer, Runner
from benchmarks.queries import Query


class DuckDBRunner(Runner):
    """Runs queries on one in-memory database."""

    def __init__(self, threads: int) -> None:
        self._connection = duckdb.connect(config={"threads": threads})
        self._connection.execute("SET enable_progress_bar = false")

    def prepare(self, query: Query) -> None:
        """Create both tables."""
        for table, column, rows in (("t1", "a", query.left_rows), ("t2", "b", query.right_rows)):
            self._connection.execute(
                f"CREATE OR REPLACE TABLE {table} AS SELECT range AS {column} FROM range({rows})"
            )

    def run(self, query: Query) -> Answer:
        """Fetch the query's one row."""
        row = self._connection.execute(query.sql).fetchall()[0]
        return (row[0], row[1], row[2])

    def cancel(self) -> None:
        """Interrupt the connection."""
        self._connection.interrupt()


def start(threads: int) -> dict[str, Runner]:
    """The engine by name."""
    return {"DuckDB": DuckDBRunner(threads)}
