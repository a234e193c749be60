"""What a suite of queries is, for engines and reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TypeVar

from benchmarks.tables import Parquet, Table

OFF, ON = "Spark", "Spark + thetajoin"
_SCAN = " scan"

_GROUPS = 1_000
_BUCKETS = Parquet("buckets", _GROUPS, "i AS bucket, i // 100 AS grade")


def scan_of(engine: str) -> str:
    """The name under which an engine is timed that only reads the tables; Spark is one for this."""
    return (OFF if engine == ON else engine) + _SCAN


def is_scan(name: str) -> bool:
    """Whether it is such a name."""
    return name.endswith(_SCAN)


class Shape(str, Enum):
    """What becomes of the rows of a join; the value is the word for it in names and reports."""

    COUNTED = "counted"
    GROUPED = "grouped"
    WRITTEN = "written"
    JOINED_AGAIN = "joined"


@dataclass(frozen=True, kw_only=True)
class Query(ABC):
    """A join and what becomes of its rows; the answer is one row of whole numbers.

    `target` is the seconds that Spark with thetajoin may take (None: no limit). It is to be faster
    than the engines `ahead_of`, and no slower than on the query `no_slower_than`. `off` is False
    where Spark alone is not asked, as it could only run into the time limit. `peers` are those that
    have such a join (None: all). `joins` is how many joins Spark with thetajoin makes of the join
    (None: any number, and none of thetajoin's where it leaves the join to Spark).
    """

    name: str
    shape: Shape = Shape.COUNTED
    target: float | None = None
    ahead_of: tuple[str, ...] = ()
    no_slower_than: str | None = None
    off: bool = True
    peers: tuple[str, ...] | None = None
    joins: int | None = 1

    @property
    @abstractmethod
    def sides(self) -> tuple[Table, Table]:
        """What the join reads, left and right."""

    @property
    @abstractmethod
    def values(self) -> tuple[str, ...]:
        """The columns of whole numbers that come out: one of each side, the left one's first."""

    @abstractmethod
    def select(self, columns: str, engine: str) -> str:
        """The join in an engine's own words, with these columns or aggregates of its rows."""

    @property
    @abstractmethod
    def join_facts(self) -> dict[str, str]:
        """What tells the join from the others."""

    @property
    def join_scan(self) -> str | None:
        """A query that reads the join's columns and joins nothing, where that is to be measured."""
        return None

    def agree(self, one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        """Whether two engines gave the same answer."""
        return one == other

    def asks(self, engine: str) -> bool:
        """Whether the engine is asked at all."""
        if engine in (OFF, ON):
            return self.off or engine == ON
        return self.peers is None or engine in self.peers

    @property
    def tables(self) -> tuple[Table, ...]:
        """All that it reads."""
        return (*self.sides, _BUCKETS) if self.shape is Shape.JOINED_AGAIN else self.sides

    @property
    def facts(self) -> dict[str, str]:
        """What tells it from the others: columns of the report."""
        return self.join_facts | {"then": self.shape.value}

    @property
    def scan(self) -> str | None:
        """A query that only reads, beside a query that does little more than to join."""
        return self.join_scan if self.shape is Shape.COUNTED else None

    def sql_of(self, engine: str) -> str:
        """The query in an engine's own words."""
        return self.shaped(partial(self.select, engine=engine))

    def shaped(self, select: Callable[[str], str]) -> str:
        """The query over a join, of whose rows `select` gives columns or aggregates.

        The aggregate over the groups has products with their keys, which none within them has.
        The filter above the second join needs columns of all three tables.
        """
        left, right = self.values[0], self.values[-1]
        key = f"{left} % {_GROUPS}"
        columns = ", ".join(self.values)
        totals = ", ".join(("count(*)", *(f"coalesce(sum({value}), 0)" for value in self.values)))
        match self.shape:
            case Shape.COUNTED:
                return select(totals)
            case Shape.GROUPED:
                groups = select(f"{key} AS bucket, count(*) AS n, sum({right}) AS total")
                return (
                    "SELECT count(*), sum(n), sum(n * bucket), sum(total) "
                    f"FROM ({groups} GROUP BY {key}) AS groups_of_rows"
                )
            case Shape.WRITTEN:
                return select(columns)
            case Shape.JOINED_AGAIN:
                mixed = " + ".join(f"coalesce({value}, 0)" for value in self.values)
                return (
                    f"SELECT {totals} FROM ({select(columns)}) AS joined "
                    f"JOIN {_BUCKETS.name} ON {key} = bucket WHERE ({mixed} + grade) % 2 = 0"
                )


AnyQuery = TypeVar("AnyQuery", bound=Query)


def shapes_of(query: AnyQuery, *shapes: Shape) -> tuple[AnyQuery, ...]:
    """The same join in these shapes, by default in all others, without limits."""
    return tuple(
        replace(
            query,
            name=f"{query.name}_{shape.value}",
            shape=shape,
            target=None,
            ahead_of=(),
            no_slower_than=None,
        )
        for shape in shapes or (Shape.GROUPED, Shape.WRITTEN, Shape.JOINED_AGAIN)
    )


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
    sizes, for a plot. `memory` is how many GB an engine may take, where it is limited. `costs` says
    that the report compares the CPU time of Spark with thetajoin off and on.
    """

    name: str
    title: str
    data: str
    answer: str
    queries: tuple[Query, ...]
    peers: tuple[str, ...]
    above_scan: float | None = None
    growth: tuple[GrowthStep, ...] = ()
    memory: int | None = None
    costs: bool = False

    @property
    def engines(self) -> tuple[str, ...]:
        """All engines of the suite, in the order of its report."""
        return OFF, ON, *self.peers
