"""Joins of DataFrames with the k nearest rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Literal

from thetajoin._asof import HOWS, columns_equal, names_of_result, require_columns

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    Distance = Callable[[Mapping[str, Column], Mapping[str, Column]], Column]


def nearest_join(
    left: DataFrame,
    right: DataFrame,
    k: int = 1,
    *,
    on: str | tuple[str, str] | None = None,
    distance: Distance | None = None,
    by: str | Sequence[str] | None = None,
    left_by: str | Sequence[str] | None = None,
    right_by: str | Sequence[str] | None = None,
    how: Literal["inner", "left"] = "inner",
    distance_column: str | None = None,
    suffixes: tuple[str, str] = ("_x", "_y"),
) -> DataFrame:
    """Join each row of ``left`` with the ``k`` rows of ``right`` that are nearest to it.

    It is made of Spark's own operators (a lateral join), so it works over Spark Connect, and
    without the extension too, where Spark looks at all pairs.

    Args:
        left: each of its rows comes out up to ``k`` times.
        right: the rows that are ranked by their distance from a row of ``left``.
        k: how many of them are joined with a row of ``left`` at most, 1 or more.
        on: the column whose values are compared, or those of ``left`` and ``right``: numbers,
            dates or timestamps. The distance is how far the values are apart.
        distance: in place of ``on``, a function of two mappings from column names to columns,
            of ``left`` and of ``right``, that gives the distance as a column of any type with an
            order. It must not be random.
        by: columns of both that must be equal; a null equals nothing.
        left_by: in place of ``by``, columns of ``left``.
        right_by: in place of ``by``, as many columns of ``right``.
        how: "inner" drops rows of ``left`` that have no row near them, "left" keeps them, with
            nulls. Where the distance is null there is none.
        distance_column: the name under which the distance comes out, after all other columns.
        suffixes: what columns of the same name get appended, left and right.

    Returns:
        The columns of ``left``, then those of ``right``, then the distance if it has a name.
        Which of several right rows at the same distance is taken is not defined.

    Raises:
        ValueError: arguments contradict each other, a column is not there, or two columns of the
            result would have the same name.
        pyspark.errors.AnalysisException: values have no difference or the distance no order.

    Examples:
        >>> stops = spark.createDataFrame([("a", 1.0), ("b", 4.0)], "stop string, km double")
        >>> homes = spark.createDataFrame([("h", 2.0)], "home string, km double")
        >>> nearest_join(homes, stops, on="km", distance_column="away").show()  # doctest: +SKIP
    """
    from pyspark.sql.functions import abs as absolute
    from pyspark.sql.functions import col

    if k < 1:
        raise ValueError(f"k must be 1 or more, but is {k}")
    if how not in HOWS:
        raise ValueError(f"how must be one of {', '.join(HOWS)}, but is {how!r}")
    if (on is None) == (distance is None):
        raise ValueError("name the column to compare by `on`, or give the distance by `distance`")
    left_keys, right_keys = columns_equal(by, left_by, right_by)
    compared = (on, on) if isinstance(on, str) else on
    require_columns(left, "left", [*([compared[0]] if compared else []), *left_keys])
    require_columns(right, "right", [*([compared[1]] if compared else []), *right_keys])
    extra = [distance_column] if distance_column is not None else []
    names = names_of_result(left.columns, right.columns, suffixes, extra)

    # Columns get names of their own, since both sides may come from the same table.
    a = left.toDF(*(f"left_{i}" for i in range(len(left.columns))))
    b = right.toDF(*(f"right_{i}" for i in range(len(right.columns))))
    of_left = {n: col(c).outer() for n, c in zip(left.columns, a.columns, strict=True)}
    of_right = {n: col(c) for n, c in zip(right.columns, b.columns, strict=True)}
    if compared is not None:
        away = absolute(of_left[compared[0]] - of_right[compared[1]])
    else:
        assert distance is not None
        away = distance(of_left, of_right)
    equal = [of_left[x] == of_right[y] for x, y in zip(left_keys, right_keys, strict=True)]
    near = b.where(reduce(lambda x, y: x & y, equal)) if equal else b
    near = near.withColumn("distance", away).where(col("distance").isNotNull())
    near = near.orderBy("distance").limit(k)
    joined = a.lateralJoin(near if extra else near.select(*b.columns), how=how)
    columns = [*a.columns, *b.columns, *(["distance"] if extra else [])]
    return joined.select(
        *(col(column).alias(name) for column, name in zip(columns, names, strict=True))
    )
