"""Two large sides, in the memory that each engine is given.

Rows lie in Parquet files in no order. The answer is the row count and the sums of a column of each
side, of the left side only where existence is asked.
"""

from __future__ import annotations

from itertools import pairwise

from benchmarks.queries import GrowthStep, Suite
from benchmarks.suites.range import Condition, JoinType, RangeQuery, random
from benchmarks.tables import Parquet, short

_MILLION = 1_000_000
_SPAN = 1_000_000_000


def _short(rows: int) -> str:
    """A row count as a part of a table's name."""
    return short(rows).lower().replace(".", "_")


def _points(rows: int) -> Parquet:
    name = f"scale_points_{_short(rows)}"
    return Parquet(name, rows, f"{random('p', _SPAN)} AS p, i AS v")


def _intervals(rows: int, length: int) -> Parquet:
    """Intervals of up to `length`."""
    name = f"scale_intervals_{_short(rows)}_{length}"
    columns = f"{random('lo', _SPAN)} AS lo, lo + {random('len', length)} AS hi, i AS w"
    return Parquet(name, rows, columns)


def _spells(rows: int) -> Parquet:
    name = f"scale_spells_{_short(rows)}"
    return Parquet(name, rows, f"{random('s', _SPAN)} AS s, s + {random('e', 20)} AS e, i AS v")


def _events(rows: int) -> Parquet:
    name = f"scale_events_{_short(rows)}"
    return Parquet(name, rows, f"{random('u', _SPAN)} AS u, i AS w")


def _keyed(side: str, rows: int) -> Parquet:
    """Three of ten rows have one key; the others have a million."""
    key, value = ("k", "p") if side == "points" else ("g", "lo")
    hot = f"if(hash(i, '{side} hot') % 10 < 3, 0, {random(f'{side} key', _MILLION)})"
    end = "" if side == "points" else f", lo + {random('len', 100)} AS hi"
    number = "v" if side == "points" else "w"
    columns = f"{hot} AS {key}, {random(value, _SPAN)} AS {value}{end}, i AS {number}"
    return Parquet(f"scale_keyed_{side}_{_short(rows)}", rows, columns)


_IN = Condition(("p BETWEEN lo AND hi",), ("p",), ("lo", "hi"))
_OVERLAP = Condition(("s <= hi", "e >= lo"), ("s", "e"), ("lo", "hi"))
_BAND = Condition(("p BETWEEN u - 5 AND u + 5",), ("p",), ("u",))
_KEYED = Condition(("k = g", *_IN.conjuncts), ("k", "p"), ("g", "lo", "hi"))
_BELOW = Condition(("p < lo",), ("p",), ("lo",))
_FAR_ABOVE = Condition((f"p > lo + {_SPAN - 1000}",), ("p",), ("lo",))
_BOTH = Condition(("p < lo", "v > w"), ("p", "v"), ("lo", "w"))
# The joins that Spark with thetajoin makes of one whose rows are joined by ranges.
_BY_RANGES: dict[JoinType, int] = {"INNER": 2, "LEFT": 3, "FULL": 5, "SEMI": 2, "ANTI": 2}
_MANY, _SOME = 50 * _MILLION, 20 * _MILLION


def _query(
    name: str,
    condition: Condition,
    left: Parquet,
    right: Parquet,
    join_type: JoinType = "INNER",
    joins: int = 1,
) -> RangeQuery:
    return RangeQuery(
        name=name,
        left=left,
        right=right,
        condition=condition,
        join_type=join_type,
        joins=joins,
        off=False,
    )


def queries(part: int = 1) -> tuple[RangeQuery, ...]:
    """All joins, of a part of the rows."""
    many, some = _MANY // part, _SOME // part
    sides = (_points(many), _intervals(some, 100))
    return (
        *(
            _query(f"point_{kind.lower()}", _IN, *sides, kind, joins)
            for kind, joins in _BY_RANGES.items()
        ),
        _query("overlap", _OVERLAP, _spells(many), _intervals(some, 20), joins=3),
        _query("band", _BAND, sides[0], _events(many), joins=2),
        _query("exists", _BELOW, *sides, "SEMI"),
        _query("exists_both", _BOTH, *sides, "SEMI"),
        _query("far_above", _FAR_ABOVE, *sides),
        _query("far_above_left", _FAR_ABOVE, *sides, "LEFT"),
        _query("keyed", _KEYED, _keyed("points", some), _keyed("intervals", some)),
    )


def _growth(part: int) -> RangeQuery:
    """Up to a quarter of the intervals is broadcast; more are joined by ranges."""
    points, intervals = _points(_MANY // part), _intervals(_SOME // part, 100)
    joins = 1 if part > 2 else 2
    return _query(f"point_{_short(points.rows)}", _IN, points, intervals, joins=joins)


# What as many rows more take as there are, at a half, a quarter and an eighth of the size.
_HALVES = [_growth(part) for part in (8, 4, 2)]
_ALL = queries()
_SIZES = (*_HALVES, _ALL[0])

SUITE = Suite(
    name="scale",
    title="Two large sides",
    data="50M and 20M rows at most, in 2 GB for each engine.",
    answer="the row count and the sums of a column of each side",
    queries=(*_ALL, *_HALVES),
    peers=("DuckDB", "ClickHouse"),
    growth=tuple(
        GrowthStep(query.right.rows, query.left.rows - base.left.rows, query.name, base.name)
        for base, query in pairwise(_SIZES)
    ),
    memory=2,
)
