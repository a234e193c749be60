"""DuckDB: integers are in-memory tables, which it reads faster than its `range` function.

Rows are written to such a table too.
"""

from __future__ import annotations

import duckdb

from benchmarks.engines import Answer, Runner, UnsupportedJoinError, summed
from benchmarks.queries import Query
from benchmarks.tables import FILES, Range


class DuckDBRunner(Runner):
    """Runs queries on one in-memory database."""

    def __init__(self, threads: int, memory: int | None) -> None:
        self._connection = duckdb.connect(config={"threads": threads})
        if memory is not None:
            self._connection.execute(f"SET memory_limit = '{memory}GB'")
            self._connection.execute(f"SET temp_directory = '{FILES / 'duckdb'}'")
        self._connection.execute("SET enable_progress_bar = false")

    def prepare(self, query: Query) -> None:
        """Create the tables or views."""
        for table in query.tables:
            if isinstance(table, Range):
                self._connection.execute(
                    f"CREATE OR REPLACE TABLE {table.name} AS "
                    f"SELECT range AS {table.column} FROM range({table.rows})"
                )
            else:
                self._connection.execute(
                    f"CREATE OR REPLACE VIEW {table.name} AS FROM read_parquet('{table.path}')"
                )

    def run(self, query: Query) -> Answer:
        """Fetch the query's one row."""
        try:
            return tuple(self._connection.execute(query.sql_of("DuckDB")).fetchall()[0])
        except duckdb.OutOfMemoryException as error:
            raise UnsupportedJoinError("out of memory") from error

    def write(self, query: Query) -> None:
        """Make a table of the rows."""
        self._connection.execute(f"CREATE OR REPLACE TABLE written AS {query.sql_of('DuckDB')}")

    def written(self) -> int:
        """Count and drop the table's rows."""
        rows: int = self._connection.execute("SELECT count(*) FROM written").fetchall()[0][0]
        self._connection.execute("DROP TABLE written")
        return rows

    def read(self, scan: str) -> None:
        """Fetch the scan's row for each table."""
        self._connection.execute(summed(scan).replace("octet_length", "strlen")).fetchall()

    def cancel(self) -> None:
        """Interrupt the connection."""
        self._connection.interrupt()


def start(threads: int, memory: int | None = None) -> dict[str, Runner]:
    """The engine by name, in so many GB."""
    return {"DuckDB": DuckDBRunner(threads, memory)}
