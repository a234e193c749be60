"""ClickHouse in its package chdb; it reads Parquet files itself.

With `ie_join` first, two inequalities go before equal keys, which is several times faster for the
queries here that have both. Rows are written to a table in memory.
"""

from __future__ import annotations

import chdb

from benchmarks.engines import Answer, Runner, UnsupportedJoinError, summed
from benchmarks.queries import Query
from benchmarks.suites.asof import AsOfQuery
from benchmarks.tables import Parquet, Range

SETTINGS = {
    "join_algorithm": "ie_join,direct,parallel_hash,hash",
    "join_use_nulls": 1,
}
REFUSALS = {
    "MEMORY_LIMIT_EXCEEDED": "out of memory",
    "INVALID_JOIN_ON_EXPRESSION": "it has no such join",
}
# Whether columns of files may hold nulls; by the schema of every file they might.
NULLS = "schema_inference_make_columns_nullable"


class ClickHouseRunner(Runner):
    """Runs queries on one in-memory database."""

    def __init__(self, threads: int, memory: int | None) -> None:
        self._connection = chdb.connect(":memory:")
        bounds = {"max_threads": threads, "max_insert_threads": threads}
        if memory is not None:
            bounds["max_memory_usage"] = memory * 10**9
        for name, value in (bounds | SETTINGS).items():
            self._connection.query(f"SET {name} = {value!r}")

    def prepare(self, query: Query) -> None:
        """Create the views, with columns that hold nulls where there are some."""
        nulls = any(isinstance(table, Parquet) and table.nulls for table in query.tables)
        self._connection.query(f"SET {NULLS} = {int(nulls)}")
        for table in query.tables:
            source = (
                f"SELECT number AS {table.column} FROM numbers({table.rows})"
                if isinstance(table, Range)
                else f"SELECT * FROM file('{table.path}', Parquet)"
            )
            self._connection.query(f"CREATE OR REPLACE VIEW {table.name} AS {source}")

    def run(self, query: Query) -> Answer:
        """Fetch the query's one row."""
        try:
            return self._row(self._sql(query))
        except RuntimeError as error:
            for code, reason in REFUSALS.items():
                if code in str(error):
                    raise UnsupportedJoinError(reason) from error
            raise

    def write(self, query: Query) -> None:
        """Make a table of the rows."""
        self._connection.query(
            f"CREATE OR REPLACE TABLE written ENGINE = Memory AS {self._sql(query)}"
        )

    def written(self) -> int:
        """Count and drop the table's rows."""
        (rows,) = self._row("SELECT count(*) FROM written")
        self._connection.query("DROP TABLE written")
        return rows

    def read(self, scan: str) -> None:
        """Fetch the scan's row for each table."""
        self._connection.query(summed(scan), "CSV")

    def _sql(self, query: Query) -> str:
        if isinstance(query, AsOfQuery) and query.nearest is not None:
            raise UnsupportedJoinError("ClickHouse has no join with the nearest rows")
        return query.sql_of("ClickHouse")

    def _row(self, sql: str) -> Answer:
        return tuple(map(int, str(self._connection.query(sql, "CSV")).split(",")))


def start(threads: int, memory: int | None = None) -> dict[str, Runner]:
    """The engine by name, in so many GB."""
    return {"ClickHouse": ClickHouseRunner(threads, memory)}
