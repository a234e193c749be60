"""A grid of joins, conditions by shapes of data: what each accelerator costs beside Spark alone.

The answer is the row count and the sums of the row number of each side, or the row count alone
where rows are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.grid_tables import WIDE, Data, left, right
from benchmarks.polygons import Polygons
from benchmarks.queries import Query, Shape, Suite
from benchmarks.tables import Table, short
from benchmarks.vectors import Vectors

_PAIRS = "SELECT {columns} FROM {left} AS a %s {right} AS b ON {condition}"
_EXISTS = (
    "SELECT {columns} FROM {left} AS a WHERE %s (SELECT 1 FROM {right} AS b WHERE {condition})"
)
_FORMS = {
    "inner": _PAIRS % "JOIN",
    "left": _PAIRS % "LEFT JOIN",
    "semi": _EXISTS % "EXISTS",
    "anti": _EXISTS % "NOT EXISTS",
    "asof": "SELECT {columns} FROM {left} AS a ASOF JOIN {right} AS b "
    "MATCH_CONDITION (a.t >= b.t){on_key}",
    "nearest": "SELECT {columns} FROM {left} AS a INNER JOIN {right} AS b "
    "EXACT NEAREST 3 BY DISTANCE {condition}",
    "window": "SELECT {columns} FROM (SELECT a.id, b.id AS other, row_number() OVER "
    "(PARTITION BY a.id ORDER BY b.t DESC) AS place FROM {left} AS a JOIN {right} AS b "
    "ON {condition}) WHERE place = 1",
    "lateral": "SELECT {columns} FROM {left} AS a, LATERAL (SELECT b.id FROM {right} AS b "
    "WHERE {condition} ORDER BY b.t DESC LIMIT 1) AS b",
}
_LEFT_ONLY = ("semi", "anti")


@dataclass(frozen=True, kw_only=True)
class GridQuery(Query):
    """A join by `condition`, which stands in for the words of its data."""

    data: Data
    condition: str
    left: Table
    right: Table
    key: str | None

    @property
    def sides(self) -> tuple[Table, Table]:
        """Both tables."""
        return self.left, self.right

    @property
    def values(self) -> tuple[str, ...]:
        """The row number of each side; many columns of the left one where rows are written."""
        if self.data.form == "window":
            return "id", "other"
        columns = [f"a.{name}" for name in WIDE] if self.data.written else ["a.id"]
        return tuple(columns if self.data.form in _LEFT_ONLY else [*columns, "b.id"])

    def select(self, columns: str, engine: str) -> str:
        """The join, the same for both."""
        return _FORMS[self.data.form].format(
            columns=columns,
            left=self.left.name,
            right=self.right.name,
            condition=self._conjuncts,
            on_key=f" ON {self.key}" if self.key else "",
        )

    @property
    def join_facts(self) -> dict[str, str]:
        """Kind of join, row counts and condition."""
        return {
            "join": self.data.form.upper(),
            "rows": f"{short(self.left.rows)} x {short(self.right.rows)}",
            "condition": f"`{self._conjuncts}`" if self._conjuncts else "",
        }

    @property
    def _conjuncts(self) -> str:
        return " AND ".join(part for part in (self.key, self.condition) if part)


_BETWEEN = "a.x BETWEEN b.x_lo AND b.x_hi"
_CONDITIONS = {
    "piecewise": "a.x >= b.least",
    "interval": _BETWEEN,
    "interval_open": "a.x >= b.x_lo AND (a.x < b.until OR b.until IS NULL)",
    "boxes": "a.x BETWEEN b.bx_lo AND b.bx_hi AND a.y BETWEEN b.by_lo AND b.by_hi",
    "spatial_near": "hypot(a.px - b.px, a.py - b.py) <= {radius}",
    "containment": "array_contains(a.tags, b.tag)",
    "anyof": f"({_BETWEEN} OR a.y = b.y)",
    "wildcard": "(b.rule IS NULL OR a.{class} = b.rule)",
    "patterns": "a.txt LIKE concat('%', b.pat, '%')",
    "similar": "levenshtein(a.txt, b.pat) <= 2",
    "nestedloop": "(a.x + b.id) % {modulus} = {rest}",
}

# What is asked beside equal keys, and what without.
_KEYED = {
    "small": Data(left=20_000, right=1_000, keys=100),
    "unique": Data(left=2_000_000, right=100_000, keys=100_000),
    "unique_few": Data(left=1_000_000, right=100_000, keys=100_000, spread=20),
    "unique_large": Data(left=2_000_000, right=500_000, keys=500_000),
    "three": Data(left=2_000_000, right=100_000, keys=33_000),
    "three_left": Data(left=1_000_000, right=100_000, keys=33_000, form="left"),
    "many": Data(left=500_000, right=20_000, keys=1_000, match=100),
    "skewed": Data(left=500_000, right=20_000, keys=1_000, match=100, hot=True),
    "all": Data(left=200_000, right=20_000, keys=1_000, match=1),
    "none": Data(left=1_000_000, right=100_000, keys=33_000, match=0),
    "wide": Data(left=2_000_000, right=100_000, keys=33_000, spread=40, written=True),
    "wide_few": Data(left=2_000_000, right=100_000, keys=33_000, spread=2_000, written=True),
}
_UNKEYED = {
    "small": Data(left=2_000, right=1_000, match=100),
    "few": Data(left=400_000, right=100, match=100),
    "few_left": Data(left=400_000, right=100, match=5_000, form="left"),
    "flipped": Data(left=100, right=400_000, match=5_000),
    "all": Data(left=50_000, right=100, match=1),
    "none": Data(left=400_000, right=100, match=0),
    "wide": Data(left=2_000_000, right=120, match=5_000, written=True),
    "wide_few": Data(left=2_000_000, right=12, match=5_000, written=True),
}
# Conditions that take long for Spark to test on all pairs of the largest data.
_COSTLY = ("spatial_near", "containment", "anyof", "patterns", "similar")
_MET = {
    "small": Data(left=20_000, right=1_000, keys=1_000),
    "unique": Data(left=1_000_000, right=100_000, keys=100_000),
    "few": Data(left=1_000_000, right=100_000, keys=100_000, spread=20),
    "many": Data(left=1_000_000, right=100_000, keys=1_000, spread=2),
    "skewed": Data(left=500_000, right=20_000, keys=1_000, hot=True),
    "none": Data(left=1_000_000, right=100_000, keys=33_000, spread=10_000),
    "large": Data(left=2_000_000, right=500_000, keys=500_000),
    "flipped": Data(left=20_000, right=2_000_000, keys=20_000),
    "wide": Data(left=2_000_000, right=100_000, keys=33_000, spread=40, written=True),
}
_ORDERED = {
    "small": Data(left=2_000, right=1_000, keys=100),
    "unique": Data(left=400_000, right=100_000, keys=100_000),
    "many": Data(left=50_000, right=20_000, keys=200),
    "few_rows": Data(left=100, right=2_000_000, keys=1_000),
    "no_key_small": Data(left=2_000, right=1_000),
    "no_key_few": Data(left=50_000, right=100),
    "no_key_few_rows": Data(left=100, right=400_000),
}

# Vectors and polygons are in files of their own, of which the row number tells the key.
_OWN = {
    "small": Data(left=500, right=500),
    "few": Data(left=20_000, right=100),
    "few_left": Data(left=20_000, right=100, form="left"),
    "flipped": Data(left=100, right=20_000),
    "key_many": Data(left=20_000, right=20_000, keys=200),
    "key_unique": Data(left=100_000, right=20_000, keys=20_000),
}
_ALL = (*_KEYED.values(), *_MET.values(), *_UNKEYED.values(), *_ORDERED.values())


def _query(name: str, data: Data, condition: str) -> GridQuery:
    return GridQuery(
        name=name,
        joins=None,
        shape=Shape.WRITTEN if data.written else Shape.COUNTED,
        data=data,
        condition=condition.format(**data.words),
        left=left(data.left, _ALL),
        right=right(data),
        key=f"a.{data.key} = b.k" if data.keys else None,
    )


def _by_condition() -> Iterator[GridQuery]:
    for name, condition in _CONDITIONS.items():
        if name != "nestedloop":
            for shape, data in _KEYED.items():
                yield _query(f"{name}_key_{shape}", data, condition)
        if name != "interval_open":
            for shape, data in _UNKEYED.items():
                if shape == "wide" and name in _COSTLY:
                    continue
                yield _query(f"{name}_{shape}", data, condition)


def _existence() -> Iterator[GridQuery]:
    for shape, data in _MET.items():
        for form in _LEFT_ONLY:
            yield _query(f"existence_{form}_{shape}", replace(data, form=form), "")
        asked = replace(data, form="semi")
        yield _query(f"existence_residual_{shape}", asked, _CONDITIONS["piecewise"])


def _nearest() -> Iterator[GridQuery]:
    conditions = {
        "asof": "",
        "nearest": "abs(a.t - b.t)",
        "window": "a.t >= b.t",
        "lateral": "a.t >= b.t",
    }
    for shape, data in _ORDERED.items():
        for form, condition in conditions.items():
            # NEAREST BY has no equality, and a window without one would sort all pairs.
            if (data.keys is None) if form == "nearest" else (data.keys or form != "window"):
                yield _query(f"nearest_{form}_{shape}", replace(data, form=form), condition)


def _of_own_files() -> Iterator[GridQuery]:
    for shape, data in _OWN.items():
        vectors = [
            Vectors(f"grid_{side}_{short(rows).lower()}", rows, columns=columns, dimensions=32)
            for side, rows, columns in (("x", data.left, "x, id"), ("y", data.right, "y, id"))
        ]
        yield _own(f"vector_{shape}", data, "vector_cosine_similarity(a.x, b.y) > 0.8", *vectors)
        areas = Polygons(
            f"grid_areas_{short(data.right).lower()}",
            data.right,
            columns="shape, id",
            radius=20.0,
            corners=(5, 50),
        )
        condition = "st_contains(b.shape, st_point(a.px, a.py))"
        yield _own(f"spatial_within_{shape}", data, condition, left(data.left, _ALL), areas)


def _own(name: str, data: Data, condition: str, left: Table, right: Table) -> GridQuery:
    return GridQuery(
        name=name,
        joins=None,
        data=data,
        condition=condition,
        left=left,
        right=right,
        key=f"a.id % {data.keys} = b.id % {data.keys}" if data.keys else None,
    )


SUITE = Suite(
    name="grid",
    title="What an index costs where Spark has no need of it",
    data=(
        "The same text goes to Spark with the extension on and off. Tables lie in Parquet files, "
        "none of which is sorted."
    ),
    answer="the row count and the sums of the row number of each side",
    queries=(*_by_condition(), *_existence(), *_nearest(), *_of_own_files()),
    peers=(),
    memory=2,
    costs=True,
)
