"""DataFusion over its `range` function, as in its own benchmark; over tables it is slower.

Its experimental piecewise merge join stays off, which is its default.
"""

from __future__ import annotations

from datafusion import SessionConfig, SessionContext

from benchmarks.engines import Answer, Runner
from benchmarks.queries import Query


class DataFusionRunner(Runner):
    """Runs queries in one session context."""

    def __init__(self, threads: int) -> None:
        self._context = SessionContext(SessionConfig().with_target_partitions(threads))

    def prepare(self, query: Query) -> None:
        """Create both views."""
        for table, column, rows in (("t1", "a", query.left_rows), ("t2", "b", query.right_rows)):
            self._context.sql(
                f"CREATE OR REPLACE VIEW {table} AS SELECT value AS {column} FROM range({rows})"
            ).collect()

    def run(self, query: Query) -> Answer:
        """Collect the query's one row."""
        count, left, right = self._context.sql(query.sql).to_pylist()[0].values()
        return (count, left, right)


def start(threads: int) -> dict[str, Runner]:
    """The engine by name."""
    return {"DataFusion": DataFusionRunner(threads)}
