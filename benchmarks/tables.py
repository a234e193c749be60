"""What queries read: consecutive integers, or a Parquet file that is generated once."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

FILES = Path("build/benchmarks")


@dataclass(frozen=True)
class Range:
    """The integers from 0 to `rows` - 1 as one column; each engine makes them in its own way."""

    name: str
    column: str
    rows: int


@dataclass(frozen=True)
class Parquet:
    """A file that all engines read: `columns` is SQL over the row number i, from 0.

    `nulls` says whether they hold any.
    """

    name: str
    rows: int
    columns: str
    nulls: bool = field(default=False, repr=False)

    @property
    def path(self) -> Path:
        """The file; its name changes with its content."""
        return FILES / f"{self.name}-{zlib.crc32(repr(self).encode()):08x}.parquet"

    def write(self) -> None:
        """Make the file unless it is there."""
        if self.path.exists():
            return
        FILES.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".unfinished")
        duckdb.execute(
            f"COPY (SELECT {self.columns} FROM range({self.rows}) AS t(i)) "
            f"TO '{unfinished}' (FORMAT parquet, COMPRESSION snappy)"
        )
        unfinished.rename(self.path)


Table = Range | Parquet


def short(rows: int) -> str:
    """A row count in a few characters, for example 10K or 1.5M."""
    if rows >= 1_000_000:
        return f"{rows / 1_000_000:g}M"
    return f"{rows / 1_000:g}K" if rows >= 1_000 else str(rows)
