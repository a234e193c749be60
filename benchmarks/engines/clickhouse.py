"""ClickHouse in its package chdb; it reads Parquet files itself.

With `ie_join` first, two inequalities go before equal keys, which is several times faster for the
queries here that have both. Its EXISTS on an inequality meets every pair, its SEMI JOIN does not.
"""

from __future__ import annotations

import chdb

from benchmarks.engines import Answer, Runner, summed
from benchmarks.queries import Query
from benchmarks.suites.range import RangeQuery
from benchmarks.tables import Range

SETTINGS = {
    "join_algorithm": "ie_join,direct,parallel_hash,hash",
    "join_use_nulls": 1,
    # The files hold no nulls, though their schema would allow them.
    "schema_inference_make_columns_nullable": 0,
}


class ClickHouseRunner(Runner):
    """Runs queries on one in-memory database."""

    def __init__(self, threads: int) -> None:
        self._connection = chdb.connect(":memory:")
        for name, value in {"max_threads": threads, **SETTINGS}.items():
            self._connection.query(f"SET {name} = {value!r}")

    def prepare(self, query: Query) -> None:
        """Create the views."""
        for table in query.tables:
            source = (
                f"SELECT number AS {table.column} FROM numbers({table.rows})"
                if isinstance(table, Range)
                else f"SELECT * FROM file('{table.path}', Parquet)"
            )
            self._connection.query(f"CREATE OR REPLACE VIEW {table.name} AS {source}")

    def run(self, query: Query) -> Answer:
        """Fetch the query's one row."""
        sql = query.sql_of("ClickHouse")
        if isinstance(query, RangeQuery) and query.asks_existence:
            sql = query.joined(f"LEFT {query.join_type}")
        return tuple(map(int, str(self._connection.query(sql, "CSV")).split(",")))

    def read(self, scan: str) -> None:
        """Fetch the scan's row for each table."""
        self._connection.query(summed(scan), "CSV")


def start(threads: int) -> dict[str, Runner]:
    """The engine by name."""
    return {"ClickHouse": ClickHouseRunner(threads)}
