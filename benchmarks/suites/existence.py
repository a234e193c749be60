"""EXISTS, NOT EXISTS and NOT IN on equal keys: rows of one Parquet file asked for in another.

The answer is the count and the sum of a column of the rows that come out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from benchmarks.queries import Query, Suite, shapes_of
from benchmarks.tables import Parquet, Table, short


@dataclass(frozen=True, kw_only=True)
class ExistenceQuery(Query):
    """Rows of `outer`, as `o`, that have an equal in `inner`, as `i`, or those that have none.

    `key` is the outer table's key where it is computed, `residual` what else a pair must fulfil,
    `scanned` an aggregate that needs a key's value and little else.
    """

    outer: Parquet
    inner: Parquet
    negated: bool = False
    columns: tuple[str, ...] = ("k",)
    key: str | None = None
    residual: str | None = None
    scanned: str = "max({})"

    @property
    def sides(self) -> tuple[Table, Table]:
        """The outer and the inner table."""
        return self.outer, self.inner

    @property
    def values(self) -> tuple[str, ...]:
        """A number of the outer row."""
        return ("v",)

    def select(self, columns: str, engine: str) -> str:
        """The outer rows that come out, in the words that all engines share."""
        return f"SELECT {columns} FROM {self._source} AS o WHERE {self._where}"

    @property
    def join_facts(self) -> dict[str, str]:
        """Join type, row counts and condition."""
        return {
            "join": "ANTI" if self.is_anti else "SEMI",
            "rows": f"{short(self.outer.rows)} in {short(self.inner.rows)}",
            "condition": f"`{self._where}`",
        }

    @property
    def join_scan(self) -> str:
        """All rows of both tables with the columns that the query reads."""
        keys = ", ".join(self.scanned.format(column) for column in self.columns)
        value = ", max(w)" if self.residual else ""
        return (
            f"SELECT count(*), sum(v), {keys}{value and ', 0'} FROM {self._source} "
            f"UNION ALL SELECT count(*), 0, {keys}{value} FROM {self.inner.name}"
        )

    @property
    def is_anti(self) -> bool:
        """Whether rows without an equal come out."""
        return self.negated or len(self.columns) > 1

    @property
    def _source(self) -> str:
        name = self.outer.name
        return f"(SELECT {self.key} AS k, v FROM {name})" if self.key else name

    @property
    def _where(self) -> str:
        inner, names = self.inner.name, ", ".join(self.columns)
        if len(self.columns) > 1:
            return f"({names}) NOT IN (SELECT {names} FROM {inner})"
        residual = f" AND {self.residual}" if self.residual else ""
        exists = f"EXISTS (SELECT 1 FROM {inner} AS i WHERE i.k = o.k{residual})"
        return f"NOT {exists}" if self.negated else exists


# Row i of a table takes a key out of the middle of the others: neighbours have keys far apart.
_SPREAD = "(i * 7919)"
_TEXT_SCANNED = "sum(octet_length({}))"
_TEXT = "'key-' || lpad(CAST({} AS VARCHAR), 8, '0')"


def _outer(name: str, rows: int, key: str, value: str = "i") -> Parquet:
    return Parquet(name, rows, f"{key} AS k, {value} AS v")


def _inner(name: str, rows: int, key: str) -> Parquet:
    return Parquet(name, rows, f"{key} AS k, i AS w")


def _int(expression: str) -> str:
    return f"CAST({expression} AS INTEGER)"


_BIG = _outer("big", 20_000_000, _int("(i * 2654435761) % 1000000"))
_SMALL = Parquet("small", 100_000, f"{_int('i * 10')} AS k, i AS v, i AS w")
_BIG_TEXT = _outer("big_text", 4_000_000, _TEXT.format("(i * 2654435761) % 400000"))
_SMALL_TEXT = Parquet("small_text", 100_000, f"{_TEXT.format('i * 4')} AS k, i AS v")
_FAN = Parquet("fan", 100_000, f"{_int('i % 1000')} AS k, (i * 2654435761) % 4000000 AS w")
_FAN_OUTER = _outer("fan_outer", 4_000_000, _int(f"{_SPREAD} % 2000"))
# Of 200 pairs with equal keys one has the larger w: most of a key's rows are looked at in vain.
_FAN_RARE = Parquet(
    "fan_rare", 1_000_000, f"{_int(f'{_SPREAD} % 1000')} AS k, 3960000 + i % 40000 AS v"
)
_LARGE_FAN = _inner("large_fan", 10_000_000, _int(f"{_SPREAD} % 100000 * 10"))
_PAIRS = Parquet("pairs", 1_000_000, "i % 1000 AS a, i // 1000 AS b, i AS v")
_FEW_PAIRS = Parquet("few_pairs", 1_000, "i AS a, i AS b")


def _both(prefix: str, **case: object) -> tuple[ExistenceQuery, ...]:
    """A case as EXISTS and as NOT EXISTS."""
    return tuple(
        ExistenceQuery(name=f"{prefix}_{kind}", negated=negated, **case)  # type: ignore[arg-type]
        for kind, negated in (("semi", False), ("anti", True))
    )


_LARGE = (
    *_both("int", outer=_BIG, inner=_SMALL),
    ExistenceQuery(name="small_semi", outer=_SMALL, inner=_BIG, target=0.65),
    ExistenceQuery(name="small_anti", outer=_SMALL, inner=_BIG, negated=True, target=0.65),
    *_both("residual", outer=_FAN_OUTER, inner=_FAN, residual="i.w > o.v"),
    *_both("rare", outer=_FAN_RARE, inner=_FAN, residual="i.w > o.v"),
    *_both("text", outer=_BIG_TEXT, inner=_SMALL_TEXT, scanned=_TEXT_SCANNED),
    *_both("small_text", outer=_SMALL_TEXT, inner=_BIG_TEXT, scanned=_TEXT_SCANNED),
    *_both("large_fan", outer=_BIG, inner=_LARGE_FAN),
    ExistenceQuery(name="not_in", outer=_PAIRS, inner=_FEW_PAIRS, columns=("a", "b")),
)

# A tenth, most, a quarter and nearly all of the outer rows come out.
_SHAPED = tuple(
    shaped
    for query in _LARGE
    if query.name in ("int_semi", "large_fan_anti", "text_semi", "not_in")
    for shaped in shapes_of(query)
)

_MATRIX_KEYS = 100_000
_MATRIX_ROWS = 20_000_000


def _matrix_outer(case: str, key: str) -> Parquet:
    return _outer(f"outer_{case}", _MATRIX_ROWS, key, value="i % 1000")


def _matrix(density: int, hits: int) -> tuple[ExistenceQuery, ...]:
    """`density` per cent of the keys' range are keys, `hits` per cent of the outer rows match."""
    step, keys = 100 // density, _MATRIX_KEYS * 100 // hits
    return _both(
        f"d{density}_h{hits}",
        outer=_matrix_outer(f"d{density}_h{hits}", _int(f"{_SPREAD} % {keys} * {step}")),
        inner=_inner(f"inner_d{density}", _MATRIX_KEYS, _int(f"i * {step}")),
    )


def _fan_out(
    name: str, fan_out: int, hits: int, key: str, scanned: str = "max({})"
) -> tuple[ExistenceQuery, ...]:
    """Each key stands on `fan_out` rows of the inner table."""
    keys = _MATRIX_KEYS // fan_out
    return _both(
        f"{name}_h{hits}",
        outer=_matrix_outer(name, key.format(f"({_SPREAD} % {keys * 100 // hits})")),
        inner=_inner(f"inner_{name}", _MATRIX_KEYS, key.format(f"(i % {keys})")),
        scanned=scanned,
    )


# datafusion/physical-plan/benches/hash_join_semi_anti.rs of Apache DataFusion, with twenty times
# the probe rows: there a loop over batches in memory is timed, here whole queries with their fixed
# cost.
_CASES = (
    *(query for d, h in product((100, 50, 10), (100, 50, 10)) for query in _matrix(d, h)),
    *_fan_out("fan100", 100, 1, "CAST({} AS INTEGER)"),
    *_fan_out("fan10", 10, 50, "CAST({} AS INTEGER)"),
    *_fan_out("fan10_sparse", 10, 50, "CAST({} * 1000 AS INTEGER)"),
    *_both(
        "skewed_h50",
        outer=_matrix_outer(
            "skewed",
            # Of the rows that match, four fifths have one of a thousand hot keys.
            "CAST(CASE WHEN i % 2 = 1 THEN (i // 2) % 100000 * 10 + 1 "
            "WHEN (i // 2) % 10 < 8 THEN (i // 2) % 1000 * 10 "
            "ELSE (1000 + (i // 2) % 99000) * 10 END AS INTEGER)",
        ),
        inner=_inner("inner_d10", _MATRIX_KEYS, _int("i * 10")),
    ),
    *_fan_out("text_fan10", 10, 50, _TEXT, _TEXT_SCANNED),
)

_NATION = _inner("nation", 25, "i")
_CUSTOMER = _outer("customer", 1_500_000, "(i * 2654435761) % 25")
_SUPPLIER = _inner("supplier", 100_000, "i + 1")
_LINEITEM = _outer("lineitem", 60_000_000, "(i * 2654435761) % 100000 + 1", "i % 50 + 1")
_TENTH = "CASE WHEN k % 10 = 0 THEN k ELSE k + 1000000 END"

# The shapes of Q16 to Q21 of Apache DataFusion's benchmarks/src/hj.rs (pull request 21821).
_TPCH = (
    ExistenceQuery(name="Q16", outer=_CUSTOMER, inner=_NATION),
    ExistenceQuery(name="Q17", outer=_LINEITEM, inner=_SUPPLIER),
    ExistenceQuery(name="Q18", outer=_LINEITEM, inner=_SUPPLIER, key=_TENTH),
    ExistenceQuery(name="Q19", outer=_CUSTOMER, inner=_NATION, negated=True),
    ExistenceQuery(name="Q20", outer=_LINEITEM, inner=_SUPPLIER, negated=True),
    ExistenceQuery(name="Q21", outer=_LINEITEM, inner=_SUPPLIER, negated=True, key=_TENTH),
)

SUITE = Suite(
    name="existence",
    title="Existence joins on equal keys",
    data="All engines read the same Parquet files, which DuckDB wrote.",
    answer="the count and a sum of the rows that come out",
    queries=_LARGE + _SHAPED + _TPCH + _CASES,
    peers=("DuckDB", "DataFusion", "Polars"),
    above_scan=1 / 3,
)
