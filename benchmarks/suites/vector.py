"""Vectors that are similar, and the nearest ones.

Drawn vectors have length 1. The answer is the row count and the sums of the row numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.queries import ON, Query, Shape, Suite, shapes_of
from benchmarks.tables import Table, short
from benchmarks.vectors import Patches, Vectors

# Of the nearest rows of all vectors, so many may be others.
_ALIKE = 5


@dataclass(frozen=True, kw_only=True)
class VectorQuery(Query):
    """A join of `left` with the `nearest` so many rows of `right`, or those above `least`.

    Vectors are compared by cosine.
    """

    left: Vectors | Patches
    right: Vectors | Patches
    nearest: int | None = None
    least: float | None = None

    @property
    def sides(self) -> tuple[Table, Table]:
        """Both tables."""
        return self.left, self.right

    @property
    def values(self) -> tuple[str, ...]:
        """The row number of each side; of photographs, whose parts are alike, that of the left."""
        return ("v",) if isinstance(self.left, Patches) else ("v", "w")

    def agree(self, one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        """Whether but few of the nearest rows are others.

        Engines that compute in 32 bits can't tell rows that are about as near.
        """
        if self.nearest is None or self.shape is not Shape.COUNTED:
            return super().agree(one, other)
        most = _ALIKE * self.right.rows
        return one[:2] == other[:2] and all(
            abs(a - b) <= most for a, b in zip(one[2:], other[2:], strict=True)
        )

    def select(self, columns: str, engine: str) -> str:
        """The join; where there is none with the nearest rows, they are chosen among all pairs."""
        similarity = self._similarity(engine)
        pairs = f"{self.left.name} CROSS JOIN {self.right.name}"
        if self.least is not None:
            return f"SELECT {columns} FROM {pairs} WHERE {similarity} > {self.least}"
        if engine == "DuckDB":
            chosen = f"unnest(arg_max(w, {similarity}, {self.nearest}))"
        elif engine == "ClickHouse":
            best = f"groupArraySorted({self.nearest})((-({similarity}), w))"
            chosen = f"arrayJoin(arrayMap(pair -> pair.2, {best}))"
        else:
            return (
                f"SELECT {columns} FROM {self.left.name} JOIN {self.right.name} "
                f"EXACT NEAREST {self.nearest} BY SIMILARITY {similarity}"
            )
        return f"SELECT {columns} FROM (SELECT v, {chosen} AS w FROM {pairs} GROUP BY v) AS best"

    def _similarity(self, engine: str) -> str:
        if engine == "DuckDB":
            kind = f"FLOAT[{self.left.dimensions}]"
            return f"array_cosine_similarity(x::{kind}, y::{kind})"
        if engine == "ClickHouse":
            return "1 - cosineDistance(x, y)"
        return "vector_cosine_similarity(x, y)"

    @property
    def join_facts(self) -> dict[str, str]:
        """Which pairs are asked for, of how many rows and dimensions."""
        similarity = self._similarity(ON)
        return {
            "join": "INNER" if self.nearest is None else f"NEAREST {self.nearest}",
            "rows": f"{short(self.left.rows)} x {short(self.right.rows)}",
            "condition": f"`{similarity}{'' if self.least is None else f' > {self.least}'}`",
            "dimensions": str(self.left.dimensions),
        }

    @property
    def join_scan(self) -> str:
        """All rows of both tables; an element can't be told without reading its array."""
        return (
            f"SELECT sum(v + x[1]) FROM {self.left.name} "
            f"UNION ALL SELECT sum(w + y[1]) FROM {self.right.name}"
        )


def _tables(left: int, right: int, dimensions: int) -> tuple[Vectors, Vectors]:
    def table(side: str, rows: int, columns: str) -> Vectors:
        name = f"vector_{side}_{short(rows).lower()}_{dimensions}"
        return Vectors(name, rows, columns=columns, dimensions=dimensions)

    return table("left", left, "x, v"), table("right", right, "y, w")


def _query(name: str, left: int, right: int, dimensions: int, **case: object) -> VectorQuery:
    sides = _tables(left, right, dimensions)
    return VectorQuery(name=name, left=sides[0], right=sides[1], **case)  # type: ignore[arg-type]


_NEAREST_5 = _query("nearest_5", 500, 20_000, 64, nearest=5, target=0.5)
_PATCHES = VectorQuery(
    name="photographs",
    left=Patches("patches_left", 2_000, columns="x, v", photograph="flower.jpg"),
    right=Patches("patches_right", 100_000, columns="y, w", photograph="china.jpg"),
    nearest=10,
    off=False,
)
_QUERIES = (
    _NEAREST_5,
    _query("nearest_10", 10_000, 100_000, 128, nearest=10, off=False),
    _query("nearest_10_wide", 10_000, 100_000, 768, nearest=10, off=False),
    _query("nearest_10_large", 1_000, 1_000_000, 128, nearest=10, off=False),
    _query("similar", 10_000, 100_000, 128, least=0.8, off=False),
    _PATCHES,
    *shapes_of(_NEAREST_5),
)

SUITE = Suite(
    name="vector",
    title="Joins of vectors",
    data="All engines read the same Parquet files, none of which is sorted.",
    answer="the row count and the sums of the row number of each side",
    queries=_QUERIES,
    peers=("DuckDB", "ClickHouse", "NumPy", "faiss"),
)
