"""Each row with the row before it in another table, or with the rows nearest to it.

Rows lie in Parquet files. No two rows of the right side are as near, so that all engines give the
same. The answer is the row count and the sums of a column of each side.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.queries import Query, Suite, shapes_of
from benchmarks.tables import Parquet, Table, short


@dataclass(frozen=True, kw_only=True)
class AsOfQuery(Query):
    """A join of `left` with the row of `right` before it, or the `nearest` so many rows.

    Rows have the same symbol if `keyed`, and are no further apart than `tolerance`.
    """

    left: Parquet
    right: Parquet
    keyed: bool = True
    tolerance: int | None = None
    nearest: int | None = None

    @property
    def sides(self) -> tuple[Table, Table]:
        """Both tables."""
        return self.left, self.right

    @property
    def values(self) -> tuple[str, ...]:
        """The row number of each side."""
        return "v", "w"

    def select(self, columns: str, engine: str) -> str:
        """The join; what is too far away is dropped after it, where that gives the same."""
        left, right = self.left.name, self.right.name
        within = "" if self.tolerance is None else f" WHERE t - t2 <= {self.tolerance}"
        if self.nearest is not None:
            return f"SELECT {columns} FROM {left} {self._nearest(engine)}"
        if engine == "DuckDB":
            keys = "sym = sym2 AND " if self.keyed else ""
            return f"SELECT {columns} FROM {left} ASOF JOIN {right} ON {keys}t >= t2{within}"
        if engine == "ClickHouse":
            keys = "sym = sym2" if self.keyed else "l.one = r.one"
            return (
                f"SELECT {columns} FROM (SELECT *, 1 AS one FROM {left}) AS l "
                f"ASOF JOIN (SELECT *, 1 AS one FROM {right}) AS r ON {keys} AND t >= t2{within}"
            )
        keys = " ON sym = sym2" if self.keyed else ""
        return (
            f"SELECT {columns} FROM {left} "
            f"ASOF JOIN {right} MATCH_CONDITION (t >= t2){keys}{within}"
        )

    def _nearest(self, engine: str) -> str:
        if engine == "DuckDB":
            return (
                f"JOIN LATERAL (SELECT w FROM {self.right.name} ORDER BY abs(t - t2) "
                f"LIMIT {self.nearest}) AS near ON true"
            )
        return f"INNER JOIN {self.right.name} EXACT NEAREST {self.nearest} BY DISTANCE abs(t - t2)"

    @property
    def join_facts(self) -> dict[str, str]:
        """Kind of join, row counts, and which rows are asked for."""
        conditions = [
            *(["sym = sym2"] if self.keyed else []),
            "t >= t2" if self.nearest is None else "abs(t - t2)",
            *([f"t - t2 <= {self.tolerance}"] if self.tolerance is not None else []),
        ]
        return {
            "join": "ASOF" if self.nearest is None else f"NEAREST {self.nearest}",
            "rows": f"{short(self.left.rows)} x {short(self.right.rows)}",
            "condition": f"`{' AND '.join(conditions)}`",
        }

    @property
    def join_scan(self) -> str:
        """All rows of both tables with the columns that the query reads."""
        symbols = ("max(sym)", "max(sym2)") if self.keyed else ("0", "0")
        return (
            f"SELECT sum(v) + sum(t) + {symbols[0]} FROM {self.left.name} "
            f"UNION ALL SELECT sum(w) + sum(t2) + {symbols[1]} FROM {self.right.name}"
        )


def _symbol(word: str, symbols: int, *, hot: bool) -> str:
    """A random symbol; the first has half of the rows if it is hot."""
    symbol = f"hash(i, '{word}') % {symbols}"
    return f"if(hash(i, '{word} hot') % 2 = 0, 0, {symbol})" if hot else symbol


def _trades(
    rows: int, quotes: int, symbols: int, suffix: str = "", *, hot: bool = False
) -> Parquet:
    """Trades at random times, none a multiple of four; in the order of time if `sorted`."""
    at = f"i * 4 * {quotes} // {rows}" if suffix == "_sorted" else f"hash(i, 't') % {4 * quotes}"
    return Parquet(
        f"trades_{short(rows).lower()}_{symbols}{suffix}",
        rows,
        f"i AS v, CAST({_symbol('s', symbols, hot=hot)} AS INT) AS sym, "
        f"CAST(({at}) // 4 * 4 + 1 AS BIGINT) AS t",
    )


def _quotes(rows: int, symbols: int, suffix: str = "", *, hot: bool = False) -> Parquet:
    """Quotes at times that are multiples of four, each once, in the order of time if `sorted`."""
    place = "i" if suffix == "_sorted" else f"(i * 1299709) % {rows}"
    return Parquet(
        f"quotes_{short(rows).lower()}_{symbols}{suffix}",
        rows,
        f"i AS w, CAST({_symbol('q', symbols, hot=hot)} AS INT) AS sym2, "
        f"CAST({place} * 4 AS BIGINT) AS t2",
    )


def _asof(
    name: str,
    trades: int,
    quotes: int,
    symbols: int,
    suffix: str = "",
    *,
    hot: bool = False,
    **more: object,
) -> AsOfQuery:
    return AsOfQuery(
        name=name,
        left=_trades(trades, quotes, symbols, suffix, hot=hot),
        right=_quotes(quotes, symbols, suffix, hot=hot),
        **more,  # type: ignore[arg-type]
    )


_MILLION = 1_000_000
_SYMBOLS = _asof("symbols", 10 * _MILLION, 2 * _MILLION, 1_000)
_NO_KEYS = _asof("no_keys", _MILLION, _MILLION, 1_000, keyed=False, target=1.0)
_NEAREST = _asof("nearest_3", _MILLION, 100_000, 1_000, keyed=False, nearest=3)

SUITE = Suite(
    name="asof",
    title="ASOF joins, and joins with the nearest rows",
    data=(
        "Trades and quotes have a symbol and a time, both at random: `sorted` files are in the "
        "order of time, and a `hot` symbol has half of all rows. The same text goes to Spark with "
        "the extension on and off."
    ),
    answer="the row count and the sums of a column of each side",
    queries=(
        _asof("small", 10_000, 10_000, 100),
        _SYMBOLS,
        _asof("symbols_sorted", 10 * _MILLION, 2 * _MILLION, 1_000, "_sorted"),
        _asof("symbols_tolerance", 10 * _MILLION, 2 * _MILLION, 1_000, tolerance=4_000),
        _asof("symbols_hot", 10 * _MILLION, 2 * _MILLION, 1_000, "_hot", hot=True),
        _asof("symbols_100k", _MILLION, _MILLION, 100_000),
        _NO_KEYS,
        _asof("few_left", 1_000, 10 * _MILLION, 1_000, joins=2),
        _asof("few_left_no_keys", 1_000, 10 * _MILLION, 1_000, keyed=False, joins=2),
        _asof("nearest", _MILLION, 100_000, 1_000, keyed=False, nearest=1),
        _NEAREST,
        *(shaped for query in (_SYMBOLS, _NO_KEYS, _NEAREST) for shaped in shapes_of(query)),
    ),
    peers=("DuckDB", "ClickHouse", "Polars", "pandas"),
)
