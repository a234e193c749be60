"""Whether two runs of a query gave the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import inf, isclose
from typing import Any

Row = tuple[Any, ...]


def same(some: Sequence[Row], others: Sequence[Row], tolerance: float) -> bool:
    """Whether these are the same rows in any order; only floats may differ, and by so much."""
    numbers = {i for row in (*some, *others) for i, v in enumerate(row) if _has_fraction(v)}

    def order(row: Row) -> tuple[list[str], list[float]]:
        fractions = [-inf if row[i] is None else float(row[i]) for i in numbers]
        return [str(value) for i, value in enumerate(row) if i not in numbers], fractions

    pairs = zip(sorted(some, key=order), sorted(others, key=order), strict=False)
    return len(some) == len(others) and all(
        len(a) == len(b) and all(_equal(v, w, tolerance) for v, w in zip(a, b, strict=True))
        for a, b in pairs
    )


def _has_fraction(value: Any) -> bool:
    return isinstance(value, float | Decimal)


def _equal(some: Any, other: Any, tolerance: float) -> bool:
    if some is None or other is None or float not in (type(some), type(other)):
        return bool(some == other)
    return isclose(some, other, rel_tol=tolerance, abs_tol=tolerance)
