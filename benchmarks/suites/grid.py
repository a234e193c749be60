"""A grid of joins, conditions by shapes of data: what each accelerator costs beside Spark alone.

The answer is the row count and the sums of the row number of each side, or the row count alone
where rows are written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.polygons import Polygons
from benchmarks.queries import Query, Shape, Suite
from benchmarks.tables import Parquet, Table, short
from benchmarks.vectors import Vectors

_PAIRS = "SELECT {columns} FROM {left} AS a %s {right} AS b ON {condition}"
_EXISTS = (
    "SELECT {columns} FROM {left} AS a WHERE %s (SELECT 1 FROM {right} AS b WHERE {condition})"
)
_WINDOW = (
    "SELECT {columns} FROM (SELECT a.id, b.id AS other, row_number() OVER "
    "(PARTITION BY a.id ORDER BY b.t DESC) AS place FROM {left} AS a JOIN {right} AS b "
    "ON {condition}) WHERE place = 1"
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
    "window": _WINDOW,
    "lateral": "SELECT {columns} FROM {left} AS a, LATERAL (SELECT b.id FROM {right} AS b "
    "WHERE {condition} ORDER BY b.t DESC LIMIT 1) AS b",
}
_LEFT_ONLY = ("semi", "anti")
_WIDE = ("id", "t", "x", "y", *(f"w{number}" for number in range(17)))

_VALUES = 1_000_000
_TIMES = 8_000_000

# One of so many pairs has equal values of a class. In an array its values start at the number, and
# in a text after the letter.
_CLASSES = {
    1: (0, "e"),
    2: (10, "f"),
    100: (1_000, "g"),
    5_000: (10_000, "h"),
    250_000: (_VALUES, "i"),
}


@dataclass(frozen=True, kw_only=True)
class Data:
    """Rows of both sides, how many of them meet, and what becomes of them.

    `keys` is how many equal keys the right side has (None: there is no equality). One of `spread`
    left rows has such a key, and half of the left rows have the same one if it is `hot`. One of
    `match` pairs fulfils what stands beside the keys (0: none does).
    """

    left: int
    right: int
    keys: int | None = None
    spread: int = 1
    hot: bool = False
    match: int = 2
    form: str = "inner"
    written: bool = False

    @property
    def key(self) -> str:
        """The left column of keys."""
        return f"k{(self.keys or 1) * self.spread}{'_hot' * self.hot}"

    @property
    def words(self) -> dict[str, object]:
        """What conditions name by what suits the data."""
        return {
            "class": f"c{self.match or 1}",
            "modulus": self.match or 7,
            "rest": 0 if self.match else 7,
            "radius": 1_500 if self.match == 1 else round(560 / math.sqrt(self.match or 1e6), 3),
        }


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
        left = [f"a.{name}" for name in _WIDE] if self.data.written else ["a.id"]
        return tuple(left if self.data.form in _LEFT_ONLY else [*left, "b.id"])

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
            "join": self.data.form.upper().replace("_", " "),
            "rows": f"{short(self.left.rows)} x {short(self.right.rows)}",
            "condition": f"`{self._conjuncts}`" if self._conjuncts else "",
        }

    @property
    def _conjuncts(self) -> str:
        return " AND ".join(part for part in (self.key, self.condition) if part)


def _random(word: str, below: int) -> str:
    """Hashed twice: the bits of one hash have the same difference between words in each row."""
    return f"CAST(hash(hash(i, '{word}')) % {below} AS BIGINT)"


def _uniform(word: str, low: float, span: float) -> str:
    return f"CAST({low} + {_random(word, _VALUES)} * {span / _VALUES} AS BIGINT)"


def _least(share: float) -> str:
    """A value that this share of the left ones reaches."""
    if share in (0, 1):
        return _uniform("least", _VALUES * (1 - 2 * share), _VALUES)
    return _uniform("least", _VALUES * (1 - 2 * share), _VALUES * 2 * share)


def _interval(name: str, share: float) -> str:
    """An interval that has this share of the left values."""
    if share in (0, 1):
        low, length = _uniform(name, _VALUES * (1 - 2 * share), _VALUES), 3 * _VALUES * share
    else:
        low, length = _uniform(name, 0, _VALUES * (1 - share)), _VALUES * share
    return f"{low} AS {name}_lo, {name}_lo + {round(length)} AS {name}_hi"


def _filler(name: str) -> str:
    """Whole numbers, doubles and texts in turn."""
    kinds = ("{}", "{} / 7.0", "concat('text-', {})")
    return kinds[int(name[1:]) % 3].format(_random(name, 100_000))


def _key(data: Data) -> str:
    key = _random("key", (data.keys or 1) * data.spread)
    return f"if(i % 2 = 0, 0, {key})" if data.hot else key


def _left(rows: int) -> Parquet:
    keys = {data.key: data for data in _ALL if data.left == rows and data.keys is not None}
    words = (f"'{word}', c{count}, '; '" for count, (_, word) in _CLASSES.items())
    numbers = (f"{start} + c{count}" for count, (start, _) in _CLASSES.items())
    columns = (
        "i AS id",
        f"{_random('t', _TIMES)} // 4 * 4 + 1 AS t",
        *(f"{_random(name, _VALUES)} AS {name}" for name in "xy"),
        *(f"{_random(name, _VALUES)} / 1e3 AS {name}" for name in ("px", "py")),
        *(f"{_random(f'c{count}', count)} AS c{count}" for count in _CLASSES),
        f"[{', '.join(numbers)}] AS tags, concat({', '.join(words)}) AS txt",
        *(f"{_filler(name)} AS {name}" for name in _WIDE if name.startswith("w")),
        *(f"{_key(keys[key])} AS {key}" for key in sorted(keys)),
    )
    return Parquet(f"grid_left_{short(rows).lower()}", rows, ", ".join(columns))


def _right(data: Data) -> Parquet:
    """Times are in no order, and each is there once."""
    share = 1 / data.match if data.match else 0.0
    start, word = _CLASSES[data.match or 1]
    key = f"i % {data.keys or 1}"
    rule = f"if(hash(i, 'open') % {2 * data.match} = 0, NULL, c)" if data.match else "c"
    columns = (
        "i AS id",
        f"{f'if(i < 50, 0, {key})' if data.hot else key} AS k",
        f"(i * 1299709) % {data.right} * {_TIMES // data.right} AS t",
        f"{_least(share)} AS least",
        _interval("x", share),
        "if(hash(i, 'until') % 5 = 0, NULL, x_hi) AS until",
        _interval("bx", math.sqrt(share)),
        _interval("by", math.sqrt(share)),
        f"{_random('by', _VALUES)} AS y",
        f"{_random('bpx', _VALUES)} / 1e3 {'' if data.match else '+ 1e4'} AS px",
        f"{_random('bpy', _VALUES)} / 1e3 AS py",
        f"{_random('bc', data.match) if data.match else '-1'} AS c",
        f"{rule} AS rule",
        f"{start} + c AS tag",
        f"concat('{word}', c, ';') AS pat",
    )
    hot = "_hot" * data.hot
    name = f"grid_right_{short(data.right).lower()}_{data.keys or 'no'}_{data.match}{hot}"
    return Parquet(name, data.right, ", ".join(columns), nulls=True)


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
_COSTLY = ("spatial_near", "containment", "anyof", "patterns")
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
        left=_left(data.left),
        right=_right(data),
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
        yield _own(f"spatial_within_{shape}", data, condition, _left(data.left), areas)


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
