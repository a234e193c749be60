"""Aggregates of the rows that a join finds for each row: rolling sums, ranks, counts of overlaps.

The pairs are up to a hundred thousand for each row, and none of them comes out. The answer is the
count of the groups and the sums of their columns.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.queries import Query, Suite
from benchmarks.suites.range import Condition, random
from benchmarks.tables import Parquet, Table, short


@dataclass(frozen=True, kw_only=True)
class AggregateQuery(Query):
    """The count and the sum of `total`, a column of the right side, over the pairs of a join.

    There is one for each value of `group`, a column of the left side; if it is None, there is one.
    """

    left: Parquet
    right: Parquet
    condition: Condition
    join_type: str = "INNER"
    group: str | None = "v"
    total: str = "w"

    @property
    def sides(self) -> tuple[Table, Table]:
        """Both tables."""
        return self.left, self.right

    @property
    def values(self) -> tuple[str, ...]:
        """The group, the count of its pairs, and a sum over them."""
        return ("v", "n", "total") if self.group else ("n", "total")

    def select(self, columns: str, engine: str) -> str:
        """The groups as a table of their own."""
        group = f"{self.group} AS v, " if self.group else ""
        by = f" GROUP BY {self.group}" if self.group else ""
        return (
            f"SELECT {columns} FROM (SELECT {group}count({self.total}) AS n, "
            f"sum({self.total}) AS total FROM {self.left.name} {self.join_type} JOIN "
            f"{self.right.name} ON {self.condition}{by}) AS sums"
        )

    @property
    def join_facts(self) -> dict[str, str]:
        """Join type, row counts, condition and group."""
        return {
            "join": self.join_type,
            "rows": f"{short(self.left.rows)} x {short(self.right.rows)}",
            "condition": f"`{self.condition}`",
            "group": f"`{self.group}`" if self.group else "",
        }

    @property
    def join_scan(self) -> str:
        """All rows of both tables with the columns that the query reads."""
        left = " + ".join((*self.condition.left, *((self.group,) if self.group else ())))
        right = " + ".join((*self.condition.right, self.total))
        return (
            f"SELECT sum({left}) FROM {self.left.name} "
            f"UNION ALL SELECT sum({right}) FROM {self.right.name}"
        )


_MILLION = 1_000_000
_SPAN = 1_000_000_000
_DAYS = 30 * 86_400

_PURCHASES = Parquet(
    "purchases",
    _MILLION,
    f"{random('k', 50_000)} AS k, {random('bought', _DAYS)} AS bought, i AS v",
)
_EVENTS = Parquet(
    "page_views",
    10 * _MILLION,
    f"{random('g', 50_000)} AS g, {random('seen', _DAYS)} AS seen, {random('w', 1000)} AS w",
)
_BEFORE = Condition(
    ("k = g", "seen BETWEEN bought - 600 AND bought"), ("k", "bought"), ("g", "seen")
)


def _window(rows: int, length: int) -> Parquet:
    return Parquet(
        f"windows_{short(rows).lower()}_{length}",
        rows,
        f"{random('lo', _SPAN)} AS lo, lo + {random('length', 2 * length)} AS hi, i AS v",
    )


def _values(name: str, rows: int, value: str, number: str) -> Parquet:
    return Parquet(
        f"{name}_{short(rows).lower()}",
        rows,
        f"{random(value, _SPAN)} AS {value}, {random(number, 1000)} AS {number}",
    )


_IN_WINDOW = Condition(("x BETWEEN lo AND hi",), ("lo", "hi"), ("x",))
_OVERLAP = Condition(("lo <= e", "hi >= s"), ("lo", "hi"), ("s", "e"))
_ABOVE = Condition(("a > x",), ("a",), ("x",))
_POINTS = _values("amounts", _MILLION, "x", "w")
_SMALL = _values("few_amounts", 30_000, "x", "w")
_RANKED = Parquet("scores_1m", _MILLION, f"{random('a', _SPAN)} AS a, i AS v")
_FEW_RANKED = Parquet("scores_30k", 30_000, f"{random('a', _SPAN)} AS a, i AS v")
_SPELLS = Parquet(
    "stays_1m",
    _MILLION,
    f"{random('s', _SPAN)} AS s, s + {random('e', 200_000)} AS e, {random('w', 1000)} AS w",
)


def _in_windows(
    name: str, length: int, join_type: str = "INNER", target: float | None = None
) -> AggregateQuery:
    return AggregateQuery(
        name=name,
        left=_window(_MILLION, length),
        right=_POINTS,
        condition=_IN_WINDOW,
        join_type=join_type,
        target=target,
        off=False,
    )


SUITE = Suite(
    name="aggregate",
    title="Aggregates of matches",
    data="All engines read the same Parquet files, which DuckDB wrote; none is sorted.",
    answer="the count of the groups, and the sums of their columns",
    queries=(
        # 450 million pairs: an answer of one row.
        AggregateQuery(name="totals", left=_FEW_RANKED, right=_SMALL, condition=_ABOVE, group=None),
        AggregateQuery(
            name="totals_full",
            left=_FEW_RANKED,
            right=_SMALL,
            condition=_ABOVE,
            join_type="FULL",
            group=None,
        ),
        AggregateQuery(name="few_ranks", left=_FEW_RANKED, right=_SMALL, condition=_ABOVE),
        # 5 * 10^11 pairs.
        AggregateQuery(
            name="ranks", left=_RANKED, right=_POINTS, condition=_ABOVE, target=2.0, off=False
        ),
        # 10^11 pairs.
        _in_windows("windows", 100_000_000, target=2.0),
        _in_windows("windows_left", 100_000_000, join_type="LEFT"),
        _in_windows("short_windows", 5_000),
        AggregateQuery(
            name="overlaps",
            left=_window(_MILLION, 100_000),
            right=_SPELLS,
            condition=_OVERLAP,
            target=3.0,
            off=False,
        ),
        AggregateQuery(
            name="rolling",
            left=_PURCHASES,
            right=_EVENTS,
            condition=_BEFORE,
            target=3.0,
        ),
    ),
    peers=("DuckDB", "ClickHouse", "DataFusion", "Polars"),
)
