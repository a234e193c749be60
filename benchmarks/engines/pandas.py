"""pandas, which joins on one thread and has a join for the row before or nearest: `merge_asof`."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path

import pandas as pd

from benchmarks.engines import Answer, Runner, UnsupportedJoinError
from benchmarks.queries import Query, Shape
from benchmarks.suites.asof import AsOfQuery
from benchmarks.tables import Parquet


class FramesRunner(Runner):
    """Runs queries on frames that each run reads anew."""

    def __init__(self) -> None:
        self._paths: list[Path] = []
        self._written = 0

    def prepare(self, query: Query) -> None:
        """Find the files."""
        self._paths = [table.path for table in query.sides if isinstance(table, Parquet)]

    def run(self, query: Query) -> Answer:
        """Join, and count and add up."""
        if query.shape is not Shape.COUNTED:
            raise UnsupportedJoinError("frames are only joined here")
        joined = self._joined(query)
        return len(joined), *(int(joined[value].sum()) for value in query.values)

    def write(self, query: Query) -> None:
        """Join."""
        self._written = len(self._joined(query))

    def written(self) -> int:
        """As counted."""
        return self._written

    def read(self, scan: str) -> None:
        """Read the files."""
        self._frames()

    def _frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        left, right = self._paths
        return pd.read_parquet(left), pd.read_parquet(right)

    @abstractmethod
    def _joined(self, query: Query) -> pd.DataFrame:
        """The joined rows."""


class PandasRunner(FramesRunner):
    """Joins each row with the one before or nearest."""

    def _joined(self, query: Query) -> pd.DataFrame:
        if not isinstance(query, AsOfQuery) or query.nearest not in (None, 1):
            raise UnsupportedJoinError("pandas has no such join")
        left, right = self._frames()
        joined = pd.merge_asof(
            left.sort_values("t"),
            right.sort_values("t2"),
            left_on="t",
            right_on="t2",
            left_by="sym" if query.keyed else None,
            right_by="sym2" if query.keyed else None,
            direction="backward" if query.nearest is None else "nearest",
            tolerance=query.tolerance,
        )
        return joined[joined["w"].notna()].astype({"w": "int64"})


def start(threads: int) -> dict[str, Runner]:
    """The engine by name; it has one thread, whatever there are."""
    return {"pandas": PandasRunner()}
