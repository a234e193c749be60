"""DataFusion: integers come from its `range` function, as in its own benchmark; tables are slower.

Its experimental piecewise merge join stays off, which is its default. Rows are written to batches
in memory.
"""

from __future__ import annotations

from datafusion import DataFrame, SessionConfig, SessionContext

from benchmarks.engines import Answer, Runner, UnsupportedJoinError, summed
from benchmarks.queries import Query
from benchmarks.suites.existence import ExistenceQuery
from benchmarks.tables import Range


class DataFusionRunner(Runner):
    """Runs queries in one session context."""

    def __init__(self, threads: int) -> None:
        self._context = SessionContext(SessionConfig().with_target_partitions(threads))
        self._written = 0

    def prepare(self, query: Query) -> None:
        """Create the views."""
        for table in query.tables:
            if isinstance(table, Range):
                self._context.sql(
                    f"CREATE OR REPLACE VIEW {table.name} AS "
                    f"SELECT value AS {table.column} FROM range({table.rows})"
                ).collect()
            elif not self._context.table_exist(table.name):
                self._context.register_parquet(table.name, str(table.path))

    def run(self, query: Query) -> Answer:
        """Collect the query's one row."""
        return tuple(self._frame(query).to_pylist()[0].values())

    def write(self, query: Query) -> None:
        """Collect the rows."""
        self._written = sum(batch.num_rows for batch in self._frame(query).collect())

    def written(self) -> int:
        """As counted."""
        return self._written

    def read(self, scan: str) -> None:
        """Collect the scan's row for each table."""
        self._context.sql(summed(scan)).collect()

    def _frame(self, query: Query) -> DataFrame:
        if isinstance(query, ExistenceQuery) and len(query.columns) > 1:
            raise UnsupportedJoinError("DataFusion has no NOT IN of several columns")
        return self._context.sql(query.sql_of("DataFusion"))


def start(threads: int) -> dict[str, Runner]:
    """The engine by name."""
    return {"DataFusion": DataFusionRunner(threads)}
