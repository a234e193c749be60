"""What a suite of queries is, for engines and reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from benchmarks.tables import Table

OFF, ON = "Spark", "Spark + thetajoin"
_SCAN = " scan"


def scan_of(engine: str) -> str:
    """The name under which an engine is timed that only reads the tables; Spark is one for this."""
    return (OFF if engine == ON else engine) + _SCAN


def is_scan(name: str) -> bool:
    """Whether it is such a name."""
    return name.endswith(_SCAN)


@dataclass(frozen=True, kw_only=True)
class Query(ABC):
    """A join whose answer is one row of whole numbers.

    `target` is the seconds that Spark with thetajoin may take (None: no limit). It is to be faster
    than the engines `ahead_of`, and no slower than on the query `no_slower_than`. `off` is False
    where Spark alone is not asked, as it could only run into the time limit.
    """

    name: str
    target: float | None = None
    ahead_of: tuple[str, ...] = ()
    no_slower_than: str | None = None
    off: bool = True

    @property
    @abstractmethod
    def sql(self) -> str:
        """The query in the words that all engines share."""

    def sql_of(self, engine: str) -> str:
        """The query in an engine's own words."""
        return self.sql

    @property
    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """What it reads."""

    @property
    @abstractmethod
    def facts(self) -> dict[str, str]:
        """What tells it from the others: columns of the report."""

    @property
    def scan(self) -> str | None:
        """A query that reads the same columns and joins nothing, where that is to be measured."""
        return None


@dataclass(frozen=True)
class GrowthStep:
    """A size in the plot of growth: `query` looks `rows` more rows up than `base` does."""

    size: int
    rows: int
    query: str
    base: str


@dataclass(frozen=True)
class Suite:
    """Queries that are run and reported together.

    `data` says in a sentence what they read, `answer` what they return. `above_scan` is the share
    that Spark with thetajoin may take of Spark's time above the scan, for queries without a target.
    `peers` are the engines that run beside Spark. `growth` has what a row costs at each of several
    sizes, for a plot.
    """

    name: str
    title: str
    data: str
    answer: str
    queries: tuple[Query, ...]
    peers: tuple[str, ...]
    above_scan: float | None = None
    growth: tuple[GrowthStep, ...] = ()

    @property
    def engines(self) -> tuple[str, ...]:
        """All engines of the suite, in the order of its report."""
        return OFF, ON, *self.peers
