"""ASOF joins of DataFrames, with the names and rules of pandas' and Polars' own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Direction = Literal["backward", "forward", "nearest"]
_DIRECTIONS = ("backward", "forward", "nearest")
HOWS = ("left", "inner")


def asof_join(
    left: DataFrame,
    right: DataFrame,
    *,
    on: str | None = None,
    left_on: str | None = None,
    right_on: str | None = None,
    by: str | Sequence[str] | None = None,
    left_by: str | Sequence[str] | None = None,
    right_by: str | Sequence[str] | None = None,
    direction: Direction = "backward",
    tolerance: int | float | Decimal | timedelta | Column | None = None,
    allow_exact_matches: bool = True,
    how: Literal["left", "inner"] = "left",
    suffixes: tuple[str, str] = ("_x", "_y"),
) -> DataFrame:
    """Join each row of ``left`` with the row of ``right`` whose value is next to its own.

    It is made of Spark's own operators, so it works over Spark Connect, and without the extension
    too, where Spark runs it slowly. Neither side has to be sorted.

    Args:
        left: each of its rows comes out once, or at most once if ``how`` is "inner".
        right: at most one of its rows is joined with a row of ``left``.
        on: the column that both are compared by: numbers, dates or timestamps, which are
            compared as instants. It comes out once, with the values of ``left``.
        left_on: in place of ``on``, the column of ``left``.
        right_on: in place of ``on``, the column of ``right``.
        by: columns of both that must be equal; a null equals nothing. They come out once.
        left_by: in place of ``by``, columns of ``left``.
        right_by: in place of ``by``, as many columns of ``right``.
        direction: "backward" takes the greatest value up to the left one, "forward" the least
            value from it on, "nearest" the closer of these.
        tolerance: how far the values may be apart, in the unit of the column; a ``timedelta`` for
            dates and timestamps. A column has to be a constant.
        allow_exact_matches: whether equal values match. If not, values that are just as far apart
            as ``tolerance`` don't match either, as in Spark. In pandas and Polars they do.
        how: "left" keeps rows of ``left`` without a match, with nulls; "inner" drops them.
        suffixes: what other columns of the same name get appended, left and right.

    Returns:
        The columns of ``left``, then those of ``right`` which are not in both by ``on`` or ``by``.
        Which of several right rows with the same value is taken is not defined.

    Raises:
        ValueError: arguments contradict each other, a column is not there, or two columns of the
            result would have the same name.
        pyspark.errors.AnalysisException: columns can't be compared, or the tolerance is negative.

    Examples:
        >>> trades = spark.createDataFrame([("A", 5), ("A", 9), ("B", 9)], "symbol string, at int")
        >>> quotes = spark.createDataFrame([("A", 4, 1.5)], "symbol string, at int, bid double")
        >>> asof_join(trades, quotes, on="at", by="symbol").show()  # doctest: +SKIP
    """
    from pyspark.sql.functions import col, lit, timestamp_micros, unix_micros

    left_time, right_time = _one(on, left_on, right_on)
    left_keys, right_keys = columns_equal(by, left_by, right_by)
    if direction not in _DIRECTIONS:
        raise ValueError(f"direction must be one of {', '.join(_DIRECTIONS)}, but is {direction!r}")
    if how not in HOWS:
        raise ValueError(f"how must be one of {', '.join(HOWS)}, but is {how!r}")
    require_columns(left, "left", [left_time, *left_keys])
    require_columns(right, "right", [right_time, *right_keys])

    shared = ([on] if on is not None else []) + (left_keys if by is not None else [])
    kept = [name for name in right.columns if name not in shared]
    names = names_of_result(left.columns, kept, suffixes)
    # Columns get names of their own, since both sides may come from the same table.
    a = left.toDF(*(f"left_{i}" for i in range(len(left.columns))))
    b = right.toDF(*(f"right_{i}" for i in range(len(right.columns))))

    def of(frame: DataFrame, columns: Sequence[str], name: str) -> Column:
        return frame[frame.columns[list(columns).index(name)]]

    equal = [
        of(a, left.columns, x) == of(b, right.columns, y)
        for x, y in zip(left_keys, right_keys, strict=True)
    ]
    if isinstance(tolerance, str):
        raise ValueError(f"tolerance must be a number, timedelta or column, but is {tolerance!r}")
    if isinstance(tolerance, int | float | Decimal | timedelta):
        tolerance = lit(tolerance)
    times = of(a, left.columns, left_time), of(b, right.columns, right_time)
    if all(_is_instant(frame, time) for frame, time in ((left, left_time), (right, right_time))):
        # Spark's difference is that of local times, which a change of the clocks puts out of order.
        times = unix_micros(times[0]), unix_micros(times[1])
        if tolerance is not None:
            # Spark asks for the type of a tolerance before it looks functions up.
            tolerance = unix_micros(timestamp_micros(lit(0)) + tolerance).cast("bigint")
    joined = a._joinAsOf(
        b,
        *times,
        on=reduce(lambda x, y: x & y, equal) if equal else None,
        how=how,
        tolerance=tolerance,
        allowExactMatches=allow_exact_matches,
        direction=direction,
    )
    columns = [*a.columns, *(b.columns[right.columns.index(name)] for name in kept)]
    return joined.select(
        *(col(column).alias(name) for column, name in zip(columns, names, strict=True))
    )


def _is_instant(frame: DataFrame, column: str) -> bool:
    return frame.schema[column].dataType.typeName() == "timestamp"


def _one(on: str | None, left_on: str | None, right_on: str | None) -> tuple[str, str]:
    if on is not None and left_on is None and right_on is None:
        return on, on
    if on is None and left_on is not None and right_on is not None:
        return left_on, right_on
    raise ValueError("name the column to compare by `on`, or by both `left_on` and `right_on`")


def columns_equal(
    by: str | Sequence[str] | None,
    left_by: str | Sequence[str] | None,
    right_by: str | Sequence[str] | None,
) -> tuple[list[str], list[str]]:
    """The columns of both sides that must be equal, in the same order."""

    def listed(names: str | Sequence[str] | None) -> list[str]:
        return [names] if isinstance(names, str) else list(names or [])

    if by is not None and (left_by is not None or right_by is not None):
        raise ValueError("name equal columns by `by`, or by both `left_by` and `right_by`")
    if by is not None:
        return listed(by), listed(by)
    left, right = listed(left_by), listed(right_by)
    if len(left) != len(right):
        counts = f"{len(left)} and {len(right)}"
        raise ValueError(f"`left_by` and `right_by` must name as many columns, but name {counts}")
    return left, right


def require_columns(frame: DataFrame, side: str, names: list[str]) -> None:
    """Each of these columns must be there, once."""
    for name in names:
        if frame.columns.count(name) != 1:
            there = "has several columns" if name in frame.columns else "has no column"
            raise ValueError(f"{side} {there} {name!r}: it has {', '.join(frame.columns)}")


def names_of_result(
    left: list[str], right: list[str], suffixes: tuple[str, str], others: Sequence[str] = ()
) -> list[str]:
    """Of the columns that come out: a name that both sides have gets a suffix."""
    both = set(left) & set(right)
    names = [
        *(name + suffixes[0] if name in both else name for name in left),
        *(name + suffixes[1] if name in both else name for name in right),
        *others,
    ]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the result would have several columns {', '.join(twice)}: rename them")
    return names
