"""The tables of a grid of joins: many columns, by which both sides meet as a shape of data says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.tables import Parquet, short

WIDE = ("id", "t", "x", "y", *(f"w{number}" for number in range(17)))

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


def left(rows: int, shapes: Sequence[Data]) -> Parquet:
    """The left table of so many rows, with the keys of all shapes of data that have it."""
    keys = {data.key: data for data in shapes if data.left == rows and data.keys is not None}
    words = (f"'{word}', c{count}, '; '" for count, (_, word) in _CLASSES.items())
    numbers = (f"{start} + c{count}" for count, (start, _) in _CLASSES.items())
    columns = (
        "i AS id",
        f"{_random('t', _TIMES)} // 4 * 4 + 1 AS t",
        *(f"{_random(name, _VALUES)} AS {name}" for name in "xy"),
        *(f"{_random(name, _VALUES)} / 1e3 AS {name}" for name in ("px", "py")),
        *(f"{_random(f'c{count}', count)} AS c{count}" for count in _CLASSES),
        f"[{', '.join(numbers)}] AS tags, concat({', '.join(words)}) AS txt",
        *(f"{_filler(name)} AS {name}" for name in WIDE if name.startswith("w")),
        *(f"{_key(keys[key])} AS {key}" for key in sorted(keys)),
    )
    return Parquet(f"grid_left_{short(rows).lower()}", rows, ", ".join(columns))


def right(data: Data) -> Parquet:
    """The right table. Times are in no order, and each is there once."""
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
