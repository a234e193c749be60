"""Random join queries over the tables `l` and `r`, with what is known of each in advance."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from differential import ANSI, BROADCAST_LIMIT, MATRIX
from hypothesis import strategies as st
from values import INTEGERS, Family, Table, Type

Row = dict[str, Any]
Truth = Callable[[Row, Row], "bool | None"]

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "<>": operator.ne,
    "=": operator.eq,
    "<=>": operator.eq,
}
ORDERS = ("<", "<=", ">", ">=")
JOINS = (
    "JOIN",
    "LEFT JOIN",
    "RIGHT JOIN",
    "FULL JOIN",
    "LEFT SEMI JOIN",
    "LEFT ANTI JOIN",
    "MARK",
    "MARK OR",
    "IN",
    "NOT IN",
)
EXISTENCE = JOINS[4:8]
MEMBERSHIP = JOINS[8:]
# Columns that no condition reads.
COMPUTED = ("id", "x", "string(id)", "n", "y", "transform(array(id, n), e -> e + 1)")
WIDE = ", ".join(f"{e} AS w{i}" for i, e in enumerate(COMPUTED * 2))
SOURCES = (
    "{t}",
    "(SELECT /*+ REPARTITION(3) */ * FROM {t}) AS {t}",
    "(SELECT {t}.* FROM {t} JOIN {t} AS e ON {t}.id = e.id) AS {t}",
    f"(SELECT *, {WIDE} FROM {{t}}) AS {{t}}",
    "(SELECT n, y, id, x FROM {t}_file) AS {t}",
)


@dataclass(frozen=True)
class Condition:
    """A predicate. `holds` decides it in Python in three-valued logic, where that is known to be Spark's.

    `portable` says that DuckDB decides it as Spark does; `indexed`, that it alone makes a join run on a sorted
    index; `equal`, that it alone makes an existence join run on an index of keys; `ranged`, that it makes a join
    run on an index of intervals.
    """

    sql: str
    indexed: bool = False
    equal: bool = False
    ranged: bool = False
    portable: bool = False
    holds: Truth | None = None


def _strict(op: str, left: Callable[[Row], Any], right: Callable[[Row], Any]) -> Truth:
    def holds(l: Row, r: Row) -> bool | None:  # noqa: E741
        a, b = left(l), right(r)
        if op != "<=>" and (a is None or b is None):
            return None
        return bool(COMPARISONS[op](a, b))

    return holds


def _both(a: Truth, b: Truth) -> Truth:
    def holds(l: Row, r: Row) -> bool | None:  # noqa: E741
        found = (a(l, r), b(l, r))
        return False if False in found else None if None in found else True

    return holds


def _either(a: Truth, b: Truth) -> Truth:
    def holds(l: Row, r: Row) -> bool | None:  # noqa: E741
        found = (a(l, r), b(l, r))
        return True if True in found else None if None in found else False

    return holds


@st.composite
def comparisons(draw: st.DrawFn, column: str, family: Family, l: Type, r: Type) -> Condition:  # noqa: E741
    """`l.x < r.x` and the like, in either order."""
    op = draw(st.sampled_from((*ORDERS, *ORDERS, "<>")))
    return _compared(draw, column, op, family, l, r)


@st.composite
def equalities(draw: st.DrawFn, column: str, family: Family, l: Type, r: Type) -> Condition:  # noqa: E741
    """`l.x = r.x`, null-safe or not."""
    return _compared(draw, column, draw(st.sampled_from(("=", "=", "<=>"))), family, l, r)


def _compared(
    draw: st.DrawFn,
    column: str,
    op: str,
    family: Family,
    l: Type,  # noqa: E741
    r: Type,
) -> Condition:
    whole = l in INTEGERS and r in INTEGERS
    flipped = draw(st.booleans())
    first, second = ("r", "l") if flipped else ("l", "r")
    truth = _strict(op, lambda row: row[column], lambda row: row[column])
    return Condition(
        f"{first}.{column} {op} {second}.{column}",
        indexed=op in ORDERS and family.indexed,
        equal=op in ("=", "<=>") and family.indexed,
        portable=op != "<=>"
        and l.duckdb is not None
        and r.duckdb is not None
        and (l == r or whole),
        holds=((lambda a, b: truth(b, a)) if flipped else truth) if whole else None,
    )


# Points in intervals, intervals around points, overlaps, and two comparisons that are neither.
RANGES = (
    ("l.x {a} r.x", "l.x {b} r.y"),
    ("r.x {a} l.x", "r.x {b} l.y"),
    ("r.x {a} l.x", "r.y {b} l.y"),
    ("l.x {a} r.y", "r.x {a} l.y"),
    ("l.x {b} r.x", "l.y {b} r.y"),
)


@st.composite
def ranges(draw: st.DrawFn, family: Family, l: Table, r: Table) -> Condition:  # noqa: E741
    """Two comparisons of columns that hold values of one kind: `l.x >= r.x AND l.x < r.y` and the like."""
    types = {l.x, l.y, r.x, r.y}
    whole = types <= set(INTEGERS)
    above, below = draw(st.sampled_from((">", ">="))), draw(st.sampled_from(("<", "<=")))
    texts = [text.format(a=above, b=below) for text in draw(st.sampled_from(RANGES))]
    truths = []
    for text in texts:
        first, op, second = text.split()
        truths.append(_named(op, first, second))
    return Condition(
        " AND ".join(draw(st.permutations(texts))),
        indexed=family.indexed,
        ranged=whole,
        portable=whole or (len(types) == 1 and l.x.duckdb is not None),
        holds=_both(*truths) if whole else None,
    )


# Sets of the values of a row: some with nulls, some without elements, some that are null.
Elements = list[Any] | None
# Arrays of the columns of a row, as text and in Python.
ARRAYS: tuple[tuple[str, Callable[[Row], Elements]], ...] = (
    ("array({t}.x, {t}.y)", lambda row: [row["x"], row["y"]]),
    (
        "filter(array({t}.x, {t}.y), e -> e IS NOT NULL)",
        lambda row: [v for v in (row["x"], row["y"]) if v is not None],
    ),
    (
        "slice(array({t}.x, {t}.y), 1, abs({t}.n) % 3)",
        lambda row: None if row["n"] is None else [row["x"], row["y"]][: abs(row["n"]) % 3],
    ),
    (
        "if({t}.n = 2, NULL, array({t}.x, {t}.y))",
        lambda row: None if row["n"] == 2 else [row["x"], row["y"]],
    ),
)


def _contains(a: Elements, value: Any) -> bool | None:
    if a is None or value is None:
        return None
    return True if value in a else None if None in a else False


def _exists(a: Elements, value: Any) -> bool | None:
    return None if a is None else _contains(a, value) if a else False


def _overlap(a: Elements, b: Elements) -> bool | None:
    if a is None or b is None:
        return None
    common = {v for v in a if v is not None} & set(b)
    return True if common else None if a and b and None in (*a, *b) else False


def _common(least: int) -> Callable[[Elements, Elements], bool | None]:
    return lambda a, b: None if a is None or b is None else len(set(a) & set(b)) >= least


def _covers(a: Elements, b: Elements) -> bool | None:
    return None if a is None or b is None else set(b) <= set(a)


def _all_in(a: Elements, b: Elements) -> bool | None:
    if b is None:
        return None
    found = [_contains(a, e) for e in b]
    return False if False in found else None if None in found else True


# Conditions of the array `a` of one row `l` and the array `b` of the other row `r`, and whether they hold in Python, where they do
# whatever the settings are.
SETS: tuple[tuple[str, Callable[[Elements, Elements, Row, Row], bool | None] | None], ...] = (
    ("array_contains({a}, {r}.x)", lambda a, b, one, other: _contains(a, other["x"])),
    (
        "{r}.y IN ({l}.x, {l}.y)",
        lambda a, b, one, other: _contains([one["x"], one["y"]], other["y"]),
    ),
    ("exists({a}, e -> e = {r}.y)", lambda a, b, one, other: _exists(a, other["y"])),
    ("arrays_overlap({a}, {b})", lambda a, b, one, other: _overlap(a, b)),
    ("size(array_intersect({a}, {b})) >= 1", lambda a, b, one, other: _common(1)(a, b)),
    ("size(array_intersect({a}, {b})) > 1", lambda a, b, one, other: _common(2)(a, b)),
    ("size(array_except({b}, {a})) = 0", lambda a, b, one, other: _covers(a, b)),
    ("forall({b}, e -> array_contains({a}, e))", lambda a, b, one, other: _all_in(a, b)),
    ("size(array_intersect({a}, {b})) = size({b})", None),
    (
        "size(array_intersect({a}, {b})) >= {r}.n",
        lambda a, b, one, other: None if other["n"] is None else _common(other["n"])(a, b),
    ),
    ("size(array_intersect({a}, {b})) / nullif(size(array_union({a}, {b})), 0) >= {r}.n / 4", None),
    ("2 * size(array_intersect({a}, {b})) >= {l}.n * (size({a}) + size({b})) / 4", None),
)


@st.composite
def sets(draw: st.DrawFn, l: Table, r: Table) -> Condition:  # noqa: E741
    """Elements of arrays of columns that hold values of one kind."""
    whole = {l.x, l.y, r.x, r.y} <= set(INTEGERS)
    flipped = draw(st.booleans())
    one, other = "rl" if flipped else "lr"
    text, decide = draw(st.sampled_from(SETS))
    (a, a_of), (b, b_of) = draw(st.sampled_from(ARRAYS)), draw(st.sampled_from(ARRAYS))

    def holds(left: Row, right: Row) -> bool | None:
        first, second = (right, left) if flipped else (left, right)
        assert decide is not None
        return decide(a_of(first), b_of(second), first, second)

    return Condition(
        text.format(a=a.format(t=one), b=b.format(t=other), l=one, r=other),
        portable=whole and " IN " in text,
        holds=holds if whole and decide else None,
    )


@st.composite
def open_columns(draw: st.DrawFn, column: str, l: Type, r: Type) -> Condition:  # noqa: E741
    """An equality that one side may leave open."""
    whole = l in INTEGERS and r in INTEGERS
    side = draw(st.sampled_from("lr"))
    by_number = draw(st.booleans())
    equal = _named("=", f"l.{column}", f"r.{column}")

    def is_open(a: Row, b: Row) -> bool | None:
        row = a if side == "l" else b
        if not by_number:
            return row[column] is None
        return None if row["n"] is None else bool(row["n"] == 1)

    opening = f"{side}.n = 1" if by_number else f"{side}.{column} IS NULL"
    return Condition(
        f"({opening} OR l.{column} = r.{column})",
        portable=whole,
        holds=_either(is_open, equal) if whole else None,
    )


def _named(op: str, first: str, second: str) -> Truth:
    """A comparison of columns such as `l.x`."""

    def value(name: str, l: Row, r: Row) -> Any:  # noqa: E741
        side, column = name.split(".")
        return (l if side == "l" else r)[column]

    def holds(l: Row, r: Row) -> bool | None:  # noqa: E741
        a, b = value(first, l, r), value(second, l, r)
        return None if a is None or b is None else bool(COMPARISONS[op](a, b))

    return holds


@st.composite
def computed(draw: st.DrawFn, column: str, family: Family) -> Condition:
    number = draw(st.integers(0, len(family.conditions) - 1))
    sides = ["l", "r"] if draw(st.booleans()) else ["r", "l"]
    l, r = (f"{side}.{column}" for side in sides)  # noqa: E741
    sql = family.conditions[number].format(l=l, r=r, op=draw(st.sampled_from(ORDERS)))
    return Condition(sql, portable=number < family.portable)


@st.composite
def residuals(draw: st.DrawFn) -> Condition:
    """Over the small whole numbers of both sides."""
    op = draw(st.sampled_from(("=", "<>", *ORDERS)))
    number = draw(st.integers(0, 6))

    def added(l: Row, r: Row) -> bool | None:  # noqa: E741
        known = l["n"] is not None and r["n"] is not None
        return bool(COMPARISONS[op]((l["n"] + r["n"]) % 4, number)) if known else None

    return Condition(f"(l.n + r.n) % 4 {op} {number}", portable=True, holds=added)


@st.composite
def one_sided(draw: st.DrawFn) -> Condition:
    side = draw(st.sampled_from("lr"))
    op = draw(st.sampled_from((*ORDERS, "<>")))
    number = draw(st.integers(0, 5))

    def compared(l: Row, r: Row) -> bool | None:  # noqa: E741
        n = (l if side == "l" else r)["n"]
        return None if n is None else bool(COMPARISONS[op](n, number))

    def known(l: Row, r: Row) -> bool | None:  # noqa: E741
        return (l if side == "l" else r)["n"] is not None

    if draw(st.booleans()):
        return Condition(f"{side}.n {op} {number}", portable=True, holds=compared)
    return Condition(f"{side}.n IS NOT NULL", portable=True, holds=known)


@st.composite
def alternatives(draw: st.DrawFn, one: st.SearchStrategy[Condition]) -> Condition:
    """OR of two, NOT or CASE of one."""
    a, b = draw(one), draw(one)
    kind = draw(st.sampled_from(("OR", "OR", "NOT", "CASE", "COALESCE", "FALSE", "FLAG", "FLAGS")))
    if kind == "OR":
        both = a.holds and b.holds and _either(a.holds, b.holds)
        return Condition(f"({a.sql} OR {b.sql})", portable=a.portable and b.portable, holds=both)
    if kind == "NOT":
        return Condition(f"NOT ({a.sql} AND {b.sql})", portable=a.portable and b.portable)
    if kind == "CASE":
        return Condition(f"CASE WHEN {a.sql} THEN {b.sql} ELSE l.n = 1 END")
    if kind == "FALSE":
        return Condition(f"coalesce({a.sql}, false)", holds=a.holds)
    if kind == "FLAG":
        return Condition(
            f"CASE WHEN {a.sql} THEN 1 WHEN {b.sql} THEN 2 ELSE 3 END = 1", holds=a.holds
        )
    if kind == "FLAGS":
        flags = " + ".join(f"CASE WHEN {c.sql} THEN 1 ELSE 0 END" for c in (a, b))
        both = a.holds and b.holds and _either(a.holds, b.holds)
        return Condition(f"{flags} >= 1", holds=both)
    return Condition(f"coalesce({a.sql}, {b.sql})")


# Conditions of columns that hold values of one kind, in other forms than the ones that an index serves.
FORMS = (
    "greatest({l}.x, {r}.x) {b} least({l}.y, {r}.y)",
    "({r}.x IS NULL OR {l}.x {a} {r}.x) AND ({r}.y IS NULL OR {l}.x {b} {r}.y)",
    "{l}.x {a} {r}.x AND CASE WHEN {r}.y IS NULL THEN true ELSE {l}.x {b} {r}.y END",
    "{l}.x {a} coalesce({r}.x, {l}.x) AND {l}.x {b} coalesce({r}.y, {l}.y)",
    "({l}.n = 1 OR {l}.x {a} {r}.y)",
    "({l}.x {a} {r}.x OR {l}.x = {r}.x AND {l}.y {b} {r}.y)",
    "({l}.x BETWEEN {r}.x AND {r}.y OR {r}.x BETWEEN {l}.x AND {l}.y)",
    "struct({l}.x, {r}.y) {b} struct({r}.x, {l}.y)",
    "struct({l}.x, {l}.n) {b} struct({r}.y, {r}.n)",
    "{l}.x = coalesce({r}.x, {l}.x)",
    "if({r}.n = 2, {l}.x, {r}.y) = {l}.x",
    "{r}.y IN ({l}.x, {r}.x)",
    "({l}.x = {r}.y OR {l}.x IS NULL AND {r}.y IS NULL)",
    "array_position(array({l}.x, {l}.y), {r}.x) > 0",
    "size(filter(array({l}.x, {l}.y), e -> e = {r}.x)) > 0",
    "exists(array(struct({l}.x AS f, {l}.n AS g)), e -> e.f = {r}.x AND e.g {a} {r}.n)",
    "exists(array(struct({r}.x AS f, {r}.y AS g)), e -> {l}.x {a} e.f AND {l}.x {b} e.g)",
    "{l}.x {b} CASE WHEN {r}.n = 1 THEN {l}.y WHEN {l}.n = 2 THEN {r}.y ELSE {r}.x END",
    "{l}.x = CASE WHEN {l}.n = 1 THEN {r}.x WHEN {l}.n = 2 THEN {r}.y END",
    "CASE WHEN {r}.n > 1 THEN {l}.x {a} {r}.x WHEN {l}.n = 1 THEN true ELSE false END",
    "(({l}.x = {r}.x) <=> true OR {l}.y = {r}.y)",
    "forall(array({l}.x), e -> exists(array({r}.x, {r}.y), f -> f = e))",
    "map(1, {l}.x, 2, {l}.y)[{r}.n] {a} {r}.x",
    "levenshtein(string({l}.x), string({r}.x)) {b} 2",
    "levenshtein(string({l}.x), string({r}.y), 1) >= 0",
    "levenshtein(string({l}.x), string({r}.x)) {b} {r}.n",
    "levenshtein(string({l}.x), string({r}.x)) {b} 0.3 * greatest(length(string({l}.x)), length(string({r}.x)))",
    "size(array_intersect(array({l}.x, {l}.y), array({r}.x, {r}.y))) {a} "
    "0.6 * size(array_union(array({l}.x, {l}.y), array({r}.x, {r}.y)))",
    "size(array_intersect(split(string({l}.x), ''), split(string({r}.x), ''))) {a} "
    "0.5 * least(size(split(string({l}.x), '')), size(split(string({r}.x), '')))",
    "size(array_intersect(split(string({l}.x), ''), split(string({r}.x), ''))) {a} 3",
    "size(array_intersect(split(string({l}.x), ''), split(string({r}.y), ''))) {a} {r}.n",
    "size(array_intersect(split(string({l}.x), ''), split(string({r}.y), ''))) "
    "/ size(array_union(split(string({r}.y), ''), split(string({l}.x), ''))) {a} ({r}.n - 1) / 5D",
    "size(array_intersect(split(string({l}.x), ''), split(string({r}.x), ''))) "
    "/ sqrt(size(split(string({l}.x), '')) * size(split(string({r}.x), ''))) {a} {r}.n / 4",
)


@st.composite
def forms(draw: st.DrawFn) -> Condition:
    """Conditions that are read as others."""
    l, r = draw(st.sampled_from(("lr", "rl")))  # noqa: E741
    above, below = draw(st.sampled_from((">", ">="))), draw(st.sampled_from(("<", "<=")))
    return Condition(draw(st.sampled_from(FORMS)).format(l=l, r=r, a=above, b=below))


def between_sides(
    families: tuple[Family, Family],
    l: Table,  # noqa: E741
    r: Table,
    equal: int,
) -> list[st.SearchStrategy[Condition]]:
    """Predicates over columns of both sides, with equalities as often as is said."""
    parts: list[st.SearchStrategy[Condition]] = []
    for column, family, lt, rt in (("x", families[0], l.x, r.x), ("y", families[1], l.y, r.y)):
        parts += [comparisons(column, family, lt, rt)] * 2
        parts += [equalities(column, family, lt, rt)] * equal
        parts.append(open_columns(column, lt, rt))
        if family.conditions:
            parts += [computed(column, family)] * family.weight
    if families[0] is families[1]:
        parts += [ranges(families[0], l, r)] * 3
        parts += [forms()] * 3
        types = {l.x, l.y, r.x, r.y}
        if len(types) == 1 or types <= set(INTEGERS):
            parts += [sets(l, r)] * 3
    return parts


GROUPED = ("by lr", "by rl")

# The same with functions that are drawn, of the side that is aggregated, and of the groups' side.
FUNCTIONS = (
    "count(*)",
    "count({0}.x)",
    "count_if({0}.n > 0)",
    "sum({0}.n)",
    "sum({0}.id) FILTER (WHERE {0}.n > 0)",
    "avg({0}.n)",
    "min({0}.id)",
    "max({0}.n)",
    "max_by({0}.id, {0}.id)",
    "min_by({0}.n, {0}.id)",
    "bool_and({0}.n > 0)",
    "bool_or({0}.n > 0)",
    "bit_and({0}.id)",
    "bit_or({0}.id)",
    "bit_xor({0}.id)",
    "sum(CAST({0}.n AS DECIMAL(9, 2)))",
    "avg(CAST({0}.id AS DECIMAL(38, 4)))",
    "round(stddev({0}.n), 6)",
    "round(var_pop({0}.id), 6)",
    "round(covar_samp({0}.id, {0}.n), 6)",
    "max(CAST({0}.n AS DOUBLE) / nullif({0}.n, 0))",
    "sum(DOUBLE('NaN') * {0}.n)",
    "sum(IF({0}.n > 1, DOUBLE('Infinity'), 1D))",
    "sum(IF({0}.n = 1, 9223372036854775807, 0))",
    "any_value({1}.n)",
    "max({1}.id)",
    "min({1}.n) FILTER (WHERE {1}.id > 1)",
    "max_by({1}.n, {1}.id)",
    "count(DISTINCT {0}.n)",
    "sum({0}.n + {1}.n)",
    "max(string({0}.n))",
    "any_value({0}.id) IS NULL",
)
HINTS = ("/*+ BROADCAST(l) */ ", "/*+ BROADCAST(r) */ ")
# Spark's limit of a broadcast: as it is, one that no table is below, and one that some tables are below.
BROADCASTS = ("10m", "1b", "300b")
BROADCAST_MAX = "spark.thetajoin.broadcast.maxBytes"
PARTITION_MAX = "spark.thetajoin.shuffle.maxPartitionBytes"


@dataclass(frozen=True)
class Query:
    """One join with what stands around it.

    `functions` are of groups, in place of counts and sums. `members` are the columns of IN, `broadcast` is Spark's limit of a broadcast. No side is below our own if `block` is set, the most bytes that a
    task is given of a side.
    """

    join: str
    conjuncts: tuple[Condition, ...]
    hint: str
    output: str
    functions: tuple[str, ...]
    sources: tuple[str, str]
    config: str
    ansi: bool
    members: str
    broadcast: str
    block: str

    @property
    def reads_files(self) -> bool:
        """Whether a side is read from a table of files, `l_file` or `r_file`."""
        return SOURCES[-1] in self.sources

    @property
    def indexed(self) -> bool:
        """Whether the join must run on a sorted index."""
        return (
            self._apart and self.join not in MEMBERSHIP and any(c.indexed for c in self.conjuncts)
        )

    @property
    def equal(self) -> bool:
        """Whether the join must run on an index of keys."""
        alone = len(self.conjuncts) == 1 or self.broadcast == BROADCASTS[0]
        return (
            self._apart
            and alone
            and self.join in EXISTENCE
            and any(c.equal for c in self.conjuncts)
        )

    @property
    def ranged(self) -> bool:
        """Whether the join must run on an index of intervals."""
        return (
            self._apart
            and self.join not in (*EXISTENCE, *MEMBERSHIP)
            and any(c.ranged for c in self.conjuncts)
        )

    @property
    def decided(self) -> bool:
        """Whether the output is whole numbers, and IN is of one column: of several, systems differ on nulls."""
        if self.join in MEMBERSHIP:
            return self.members == "n"
        return self.output != "payload" and not self.functions

    @property
    def portable(self) -> bool:
        """Whether DuckDB must give the same rows."""
        return self.decided and all(c.portable for c in self.conjuncts)

    @property
    def settings(self) -> dict[str, str]:
        ansi = str(self.ansi).lower()
        settings = {**MATRIX[self.config], ANSI: ansi, BROADCAST_LIMIT: self.broadcast}
        return settings | ({BROADCAST_MAX: "1", PARTITION_MAX: self.block} if self.block else {})

    @property
    def _apart(self) -> bool:
        """Whether no two conjuncts are over the same columns. Spark may merge such, or see that they can't both hold."""
        columns = [name for c in self.conjuncts for name in "xyn" if f"l.{name}" in c.sql]
        return len(columns) == len(set(columns))

    @property
    def grouped(self) -> str:
        """The side whose rows are grouped, and the side that is aggregated; none if rows come out as they are."""
        return self.output.removeprefix("by ") if self.output.startswith("by ") else ""

    @property
    def columns(self) -> str:
        """What is selected: whole numbers, unless it is `payload` or of drawn functions."""
        if self.grouped:
            one, other = self.grouped
            if self.functions:
                return ", ".join((f"{one}.id", *(f.format(other, one) for f in self.functions)))
            return f"{one}.id, count(*), sum({other}.id), count({other}.n), min({other}.n)"
        if self.join in ("LEFT SEMI JOIN", "LEFT ANTI JOIN"):
            return {"ids": "l.id", "sums": "count(*), sum(l.id), count(l.n)", "payload": "l.*"}[
                self.output
            ]
        sums = "count(*), sum(l.id), sum(r.id), count(l.n), count(r.n)"
        return {"ids": "l.id, r.id", "sums": sums, "payload": "l.*, r.*"}[self.output]

    def sql(self, duckdb: bool = False) -> str:
        condition = " AND ".join(c.sql for c in self.conjuncts)
        left, right = ("l", "r") if duckdb else (
            source.format(t=t) for source, t in zip(self.sources, "lr", strict=True)
        )  # fmt: skip
        if self.join == "MARK":
            mark = f"EXISTS (SELECT 1 FROM {right} WHERE {condition})"
            return f"SELECT l.id, CASE WHEN {mark} THEN 1 ELSE 0 END FROM {left}"
        if self.join == "MARK OR":
            return f"SELECT l.id FROM {left} WHERE EXISTS (SELECT 1 FROM {right} WHERE {condition}) OR l.n = 1"
        if self.join in MEMBERSHIP:
            l, r = (", ".join(f"{t}.{c}" for c in self.members) for t in "lr")  # noqa: E741
            asked = f"({l}) {self.join} (SELECT {r} FROM {right} WHERE {condition})"
            return f"SELECT l.id FROM {left} WHERE {asked}"
        if duckdb and self.join in ("LEFT SEMI JOIN", "LEFT ANTI JOIN"):
            # DuckDB 2.0 forgets matches of a semi join on inequalities beside another predicate.
            asked = "IN" if self.join == "LEFT SEMI JOIN" else "NOT IN"
            met = f"SELECT l.id FROM l JOIN r ON {condition}"
            return f"SELECT {self.columns} FROM l WHERE l.id {asked} ({met})"
        groups = f" GROUP BY {self.grouped[0]}.id" if self.grouped else ""
        return f"SELECT {self.hint}{self.columns} FROM {left} {self.join} {right} ON {condition}{groups}"


@st.composite
def joins(draw: st.DrawFn, families: tuple[Family, Family], l: Table, r: Table) -> Query:  # noqa: E741
    """A query over two tables. The shrunk form is a plain inner join on one comparison."""
    join = draw(st.sampled_from(JOINS))
    pairs = between_sides(families, l, r, equal=1 if join in JOINS[:4] else 2)
    pair = st.one_of(*pairs, residuals())
    block = draw(st.sampled_from(("", "", "128m", "100b")))
    by_range = bool(block) and families[0] is families[1] and draw(st.booleans())
    first = ranges(families[0], l, r) if by_range else st.one_of(*pairs, alternatives(pair))
    output = draw(
        st.sampled_from(("ids", "sums", "payload", *(GROUPED if join in JOINS[:4] else ())))
    )
    hint = "" if block else draw(st.sampled_from(("", *HINTS)))
    conjuncts = [draw(first)]
    if output in GROUPED and draw(st.booleans()):
        # What an index answers alone, with the side built that is aggregated.
        conjuncts = [draw(comparisons("x", families[0], l.x, r.x))]
        if families[0] is families[1] and draw(st.booleans()):
            conjuncts = [draw(ranges(families[0], l, r))]
        hint = "" if block else f"/*+ BROADCAST({output[-1]}) */ "
    else:
        conjuncts += draw(st.lists(st.one_of(pair, one_sided(), alternatives(pair)), max_size=3))
    if draw(st.integers(0, 19)) == 19:
        conjuncts.append(
            Condition(
                "l.n = r.n", portable=True, holds=_strict("=", lambda a: a["n"], lambda b: b["n"])
            )
        )
    conjuncts = draw(st.permutations(conjuncts))
    functions = st.lists(st.sampled_from(FUNCTIONS), max_size=6, unique=True)
    return Query(
        join,
        tuple(conjuncts),
        hint,
        output,
        tuple(draw(functions)) if output in GROUPED else (),
        draw(st.tuples(*[st.sampled_from((SOURCES[0],) * 7 + SOURCES[1:])] * 2)),
        draw(st.sampled_from(("codegen-aqe", "interpreted-aqe", "codegen", "interpreted"))),
        draw(st.booleans()),
        draw(st.sampled_from(("n", "nx", "xy", "nxy"))),
        draw(st.sampled_from((*BROADCASTS[:1] * 2, *BROADCASTS))),
        block,
    )
