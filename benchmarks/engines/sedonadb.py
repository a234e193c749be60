"""SedonaDB: its spatial joins are those of its ST functions, over geometries of the columns.

Rows are written to batches in memory.
"""

from __future__ import annotations

import sedonadb

from benchmarks.engines import Answer, Runner, UnsupportedJoinError, summed
from benchmarks.queries import Query
from benchmarks.suites.spatial import SpatialQuery
from benchmarks.tables import Range


class SedonaDBRunner(Runner):
    """Runs queries in one context."""

    def __init__(self, threads: int) -> None:
        self._context = sedonadb.connect()
        self._context.sql(f"SET datafusion.execution.target_partitions = {threads}").execute()
        self._written = 0

    def prepare(self, query: Query) -> None:
        """Create the views."""
        for table in query.tables:
            if isinstance(table, Range):
                raise UnsupportedJoinError("no such table here")
            self._context.read_parquet(str(table.path)).to_view(table.name, overwrite=True)

    def run(self, query: Query) -> Answer:
        """Collect the query's one row."""
        rows = self._context.sql(self._text(query)).to_arrow_table().to_pylist()
        return tuple(rows[0].values())

    def write(self, query: Query) -> None:
        """Collect the rows."""
        self._written = self._context.sql(self._text(query)).to_arrow_table().num_rows

    def written(self) -> int:
        """As counted."""
        return self._written

    def read(self, scan: str) -> None:
        """Collect the scan's row for each table."""
        self._context.sql(summed(scan)).to_arrow_table()

    def _text(self, query: Query) -> str:
        if not isinstance(query, SpatialQuery):
            raise UnsupportedJoinError("SedonaDB is asked for spatial joins only")
        return query.sql_of("SedonaDB")


def start(threads: int) -> dict[str, Runner]:
    """The engine by name."""
    return {"SedonaDB": SedonaDBRunner(threads)}
