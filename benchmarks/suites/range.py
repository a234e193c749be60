"""Joins on ranges: points in intervals, overlaps, bands and pairs of inequalities.

Rows lie in a Parquet file in no order. The answer is the row count and the sums of a column of each
side, of the left side only where existence is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from benchmarks.queries import GrowthStep, Query, Shape, Suite, shapes_of
from benchmarks.tables import Parquet, Table, short

JoinType = Literal["INNER", "LEFT", "FULL", "SEMI", "ANTI"]

# Engines whose EXISTS on an inequality meets every pair, though their SEMI and ANTI JOIN do not,
# and what stands before these words.
_EXISTENCE_JOIN = {"DuckDB": "", "ClickHouse": "LEFT "}


@dataclass(frozen=True)
class Condition:
    """What a pair must fulfil, and the columns of each side that this reads."""

    conjuncts: tuple[str, ...]
    left: tuple[str, ...]
    right: tuple[str, ...]

    def __str__(self) -> str:
        return " AND ".join(self.conjuncts)


@dataclass(frozen=True, kw_only=True)
class RangeQuery(Query):
    """A join of `left` and `right`; no column of one side is named as one of the other.

    `sample` is what left rows must fulfil to be joined at all.
    """

    left: Parquet
    right: Parquet
    condition: Condition
    join_type: JoinType = "INNER"
    sample: str | None = None

    @property
    def asks_existence(self) -> bool:
        """Whether left rows come out, and no pairs."""
        return self.join_type in ("SEMI", "ANTI")

    @property
    def sides(self) -> tuple[Table, Table]:
        """Both tables."""
        return self.left, self.right

    @property
    def values(self) -> tuple[str, ...]:
        """The row number of each side, or of the left one alone."""
        return ("v",) if self.asks_existence else ("v", "w")

    def select(self, columns: str, engine: str) -> str:
        """The join; existence is asked with EXISTS unless the engine has a join for it."""
        if self.asks_existence and engine not in _EXISTENCE_JOIN:
            negation = "NOT " if self.join_type == "ANTI" else ""
            return (
                f"SELECT {columns} FROM {self.left.name} "
                f"WHERE {negation}EXISTS (SELECT 1 FROM {self.right.name} WHERE {self.condition})"
            )
        prefix = _EXISTENCE_JOIN[engine] if self.asks_existence else ""
        where = f" WHERE {self.sample}" if self.sample else ""
        return (
            f"SELECT {columns} FROM {self.left.name} "
            f"{prefix}{self.join_type} JOIN {self.right.name} ON {self.condition}{where}"
        )

    @property
    def join_facts(self) -> dict[str, str]:
        """Join type, row counts and condition."""
        sample = f"{self.sample}, " if self.sample else ""
        return {
            "join": self.join_type,
            "rows": f"{short(self.left.rows)} x {short(self.right.rows)}",
            "condition": f"`{sample}{self.condition}`",
        }

    @property
    def join_scan(self) -> str:
        """All rows of both tables with the columns that the query reads."""
        left = " + ".join((*self.condition.left, "v"))
        right = " + ".join((*self.condition.right, *(() if self.asks_existence else ("w",))))
        return (
            f"SELECT sum({left}) FROM {self.left.name} "
            f"UNION ALL SELECT sum({right}) FROM {self.right.name}"
        )


_SPAN = 1_000_000_000


def random(column: str, limit: int) -> str:
    """A whole number below the limit, another for each row and column."""
    return f"CAST(hash(i, '{column}') % {limit} AS BIGINT)"


def _in_blocks(column: str, width: int) -> str:
    """The span has a thousand blocks of a million numbers; this one is among a block's first."""
    return f"{random(f'{column} block', 1000)} * {_SPAN // 1000} + {random(column, width)}"


# Gaps all over the span: some points meet no interval, and some intervals no point.
_POINT = f"{_in_blocks('p', 950_000)} + 50000"
_START = _in_blocks("lo", 900_000)


def _points(rows: int) -> Parquet:
    return Parquet(f"points_{short(rows).lower()}", rows, f"{_POINT} AS p, i AS v")


def _intervals(rows: int, matches: int) -> Parquet:
    """So many intervals that a point is in `matches` of them on average."""
    return Parquet(
        f"intervals_{short(rows).lower()}_x{matches}",
        rows,
        f"{_START} AS lo, lo + {random('hi', 2 * matches * _SPAN // rows)} AS hi, i AS w",
    )


def _grouped_points(rows: int, groups: int) -> Parquet:
    return Parquet(
        f"grouped_points_{short(rows).lower()}",
        rows,
        f"{random('k', groups)} AS k, {random('p', _SPAN)} AS p, i AS v",
    )


def _grouped_intervals(rows: int, groups: int) -> Parquet:
    """A point is in five intervals of its group on average."""
    length = random("hi", 2 * 5 * _SPAN * groups // rows)
    return Parquet(
        f"grouped_intervals_{short(rows).lower()}",
        rows,
        f"{random('g', groups)} AS g, {random('lo', _SPAN)} AS lo, lo + {length} AS hi, i AS w",
    )


def _pareto(column: str) -> str:
    """A length by the Pareto distribution: 7500 on average, 25 million at most."""
    uniform = f"(1 + {random(column, 1_000_000)}) / 1000000.0"
    return f"CAST(2500 / pow({uniform}, 1 / 1.5) AS BIGINT)"


_POINTS_1M, _POINTS_20M = _points(1_000_000), _points(20_000_000)
_INTERVALS_100K, _INTERVALS_1M = _intervals(100_000, 5), _intervals(1_000_000, 5)
_SPELLS = Parquet(
    "spells",
    100_000,
    f"{random('s', _SPAN)} AS s, s + {random('e', 120_000)} AS e, i AS v",
)
_PARETO_SPELLS = Parquet(
    "pareto_spells", 1_000_000, f"{random('s', _SPAN)} AS s, s + {_pareto('e')} AS e, i AS v"
)
_PARETO_INTERVALS = Parquet(
    "pareto_intervals",
    1_000_000,
    f"{random('lo', _SPAN)} AS lo, lo + {_pareto('hi')} AS hi, i AS w",
)
_TICKS = Parquet("ticks", 1_000_000, f"{random('t', 1_000_000)} AS t, i AS v")
_EVENTS = Parquet("events", 100_000, f"{random('u', 1_000_000)} AS u, i AS w")

_SITES = Parquet(
    "sites",
    1_000_000,
    f"{random('x', _SPAN)} AS x, {random('y', _SPAN)} AS y, i AS v",
)
# Long in one direction and short in the other.
_BOXES = Parquet(
    "boxes",
    100_000,
    f"{random('x1', _SPAN)} AS x1, x1 + {_SPAN // 2} AS x2, "
    f"{random('y1', _SPAN)} AS y1, y1 + {_SPAN // 10_000} AS y2, i AS w",
)

_IN = Condition(("p BETWEEN lo AND hi",), ("p",), ("lo", "hi"))
_IN_GROUP = Condition(("k = g", *_IN.conjuncts), ("k", "p"), ("g", "lo", "hi"))
_IN_BOX = Condition(
    ("x BETWEEN x1 AND x2", "y BETWEEN y1 AND y2"), ("x", "y"), ("x1", "x2", "y1", "y2")
)
_OVERLAP = Condition(("s <= hi", "e >= lo"), ("s", "e"), ("lo", "hi"))
_BAND = Condition(("t BETWEEN u - 5 AND u + 5",), ("t",), ("u",))
_INVERTED = Condition(
    ("a_salary < b_salary", "a_tax > b_tax"), ("a_salary", "a_tax"), ("b_salary", "b_tax")
)


def _inequalities(name: str, rows: int, error: int, target: float) -> RangeQuery:
    """Tax grows with salary but for an error, so that few pairs stand the other way round."""

    def table(side: str, value: str) -> Parquet:
        salary, tax = f"{side}_salary", f"{side}_tax"
        return Parquet(
            f"{name}_{side}",
            rows,
            f"{random(salary, _SPAN)} AS {salary}, "
            f"{salary} // 4 + {random(tax, error)} AS {tax}, i AS {value}",
        )

    return RangeQuery(
        name=name,
        left=table("a", "v"),
        right=table("b", "w"),
        condition=_INVERTED,
        target=target,
    )


def _point_large(join_type: JoinType, **case: object) -> RangeQuery:
    suffix = "" if join_type == "INNER" else f"_{join_type.lower()}"
    return RangeQuery(
        name=f"point_large{suffix}",
        left=_POINTS_20M,
        right=_INTERVALS_1M,
        condition=_IN,
        join_type=join_type,
        **case,  # type: ignore[arg-type]
    )


_RANGES = (
    RangeQuery(name="point", left=_POINTS_1M, right=_INTERVALS_100K, condition=_IN, target=0.5),
    _point_large("INNER", ahead_of=("DuckDB", "ClickHouse", "Polars")),
    _point_large("SEMI", no_slower_than="point_large"),
    _point_large("ANTI", no_slower_than="point_large"),
    _point_large("LEFT", no_slower_than="point_large"),
    _point_large("FULL", no_slower_than="point_large"),
    RangeQuery(name="overlap", left=_SPELLS, right=_INTERVALS_100K, condition=_OVERLAP, target=0.5),
    RangeQuery(name="band", left=_TICKS, right=_EVENTS, condition=_BAND, target=0.5),
    RangeQuery(
        name="grouped",
        left=_grouped_points(1_000_000, 100),
        right=_grouped_intervals(100_000, 100),
        condition=_IN_GROUP,
        target=0.5,
    ),
    RangeQuery(
        name="grouped_large",
        left=_grouped_points(20_000_000, 1000),
        right=_grouped_intervals(1_000_000, 1000),
        condition=_IN_GROUP,
        target=3.0,
    ),
    # Neither side is small enough to broadcast.
    RangeQuery(
        name="grouped_both",
        left=_grouped_points(3_000_000, 30_000),
        right=_grouped_intervals(3_000_000, 30_000),
        condition=_IN_GROUP,
    ),
    RangeQuery(
        name="overlap_pareto",
        left=_PARETO_SPELLS,
        right=_PARETO_INTERVALS,
        condition=_OVERLAP,
        target=1.0,
    ),
    # The first two comparisons leave a third of the pairs, the others a ten-thousandth.
    RangeQuery(name="boxes", left=_SITES, right=_BOXES, condition=_IN_BOX),
    _inequalities("inequalities", 100_000, 29_400, target=0.5),
    _inequalities("inequalities_large", 1_000_000, 438, target=1.2),
)

_BY_NAME = {query.name: query for query in _RANGES}

# 5, 5 and 15 million pairs, most of 20 million rows, and the pairs of the first with all other rows
# (Spark alone can't be stopped there).
_SHAPED = (
    *shapes_of(_BY_NAME["point"]),
    *shapes_of(_BY_NAME["grouped"]),
    *shapes_of(_BY_NAME["overlap_pareto"]),
    *shapes_of(_BY_NAME["point_large_semi"], Shape.GROUPED, Shape.WRITTEN),
    *shapes_of(
        replace(_BY_NAME["point"], name="point_full", join_type="FULL", off=False),
        Shape.GROUPED,
        Shape.WRITTEN,
    ),
)

_GROWTH_SIZES = (1_000, 10_000, 100_000, 1_000_000)


def _growth(size: int, suffix: str = "", sample: str | None = None) -> RangeQuery:
    return RangeQuery(
        name=f"growth_{short(size).lower()}{suffix}",
        left=_POINTS_20M,
        right=_intervals(size, 2),
        condition=_IN,
        sample=sample,
        off=False,
    )


# What all points take more than a sample of them is neither reading nor building.
_GROWTH = {size: (_growth(size), _growth(size, "_sample", "v % 64 = 0")) for size in _GROWTH_SIZES}

SUITE = Suite(
    name="range",
    title="Range joins",
    data=(
        "All engines read the same Parquet files, which DuckDB wrote and of which none is sorted. "
        "Semi and anti joins are EXISTS and NOT EXISTS for Spark, SEMI JOIN and ANTI JOIN for "
        "DuckDB and ClickHouse, which compare every pair for EXISTS."
    ),
    answer="the row count and the sums of a column of each side",
    queries=_RANGES + _SHAPED + tuple(chain.from_iterable(_GROWTH.values())),
    peers=("DuckDB", "ClickHouse", "Polars"),
    growth=tuple(
        GrowthStep(size, _POINTS_20M.rows * 63 // 64, query.name, base.name)
        for size, (query, base) in _GROWTH.items()
    ),
)
