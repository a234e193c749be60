"""Random joins with the first matches of each row, in all the ways in which they are written, give the same as Spark.

Which of several matches of equal rank is taken is nobody's promise, so that what comes out of a match is its rank.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from comparison import Budget, Case, Comparison
from differential import ANSI, Outcome
from hypothesis import strategies as st
from oracles import Rows
from pyspark.sql import SparkSession
from queries import ORDERS, SOURCES, Query, joins
from values import (
    ARRAY,
    DATE,
    DECIMALS,
    FAMILIES,
    FLOATS,
    INTEGERS,
    KEYS,
    NTZ,
    STRUCT,
    TIMESTAMP,
    VECTOR,
    VECTOR_OF_ANY_LENGTH,
    VECTOR_OF_DOUBLES,
    Type,
    tables,
)

VECTORS = (VECTOR, VECTOR_OF_ANY_LENGTH, VECTOR_OF_DOUBLES)
NUMBERS = (*INTEGERS, *FLOATS)
NESTED = (STRUCT, ARRAY, *VECTORS)
DISTANCES = (*INTEGERS, *DECIMALS, *FLOATS, DATE, NTZ, TIMESTAMP, *VECTORS)
IN_SPACE = (
    "vector_l2_distance(l.x, r.x)",
    "-vector_inner_product(r.x, l.x)",
    "1 - vector_cosine_similarity(l.x, r.x)",
)
BY_SUMS = (
    "-aggregate(zip_with(l.x, r.x, (x, y) -> x * y), 0D, (s, z) -> s + z)",
    "sqrt(aggregate(zip_with(r.x, l.x, (x, y) -> (x - y) * (x - y)), 0D, (s, z) -> s + z))",
)
EQUALITIES = (
    "l.y = r.y",
    "l.y <=> r.y",
    "l.n = r.n AND r.y = l.y",
    "l.n <=> r.n",
    "struct(l.y, l.n) = struct(r.y, r.n)",
)
IN_LINE = ("abs(l.x - r.x)",)
IN_PLANE = (
    *IN_LINE,
    "hypot(l.x - r.x, l.n - r.n)",
    "pow(r.x - l.x, 2) + pow(l.n - r.n, 2)",
    "(l.x - r.x) * (l.x - r.x) + (r.n - l.n) * (r.n - l.n)",
    "sqrt((l.n - r.n) * (l.n - r.n) + pow(r.x - l.x, 2))",
    "try_st_distance(st_point(l.x, l.n), st_point(r.x, r.n))",
    "try_st_distancespheroid(st_point(l.x, l.n), st_point(r.x, r.n))",
    "try_st_distancesphere(st_point(r.x, r.n), st_point(l.x, l.n))",
)
IN_EDITS = (
    "levenshtein(string(l.x), string(r.x))",
    "levenshtein(concat(string(r.n), 'ab'), repeat(string(l.x), 3))",
)
# Whether the size of a null is -1 without ANSI mode.
SIZE_OF_NULL = "spark.sql.legacy.sizeOfNull"
# Sets of a row: with nulls and elements twice, without elements, and null.
SETS = (
    "split(string({t}.x), '')",
    "slice(split(concat(string({t}.x), 'ab'), ''), 1, abs({t}.n) % 4)",
    "slice(array('a', string({t}.n), NULL, string({t}.x), string({t}.n)), 1, abs({t}.n) % 6)",
)
SHARED = "size(array_intersect({a}, {b}))"
ALIKE = (
    f"{SHARED} / {{divisor}}(size(array_union({{a}}, {{b}})){{zero}})",
    f"2 * {SHARED} / {{divisor}}(size({{a}}) + size({{b}}){{zero}})",
    f"{SHARED} / {{divisor}}(sqrt(size({{b}}) * size({{a}})){{zero}})",
    f"{SHARED} / {{divisor}}(least(size({{a}}), size({{b}})){{zero}})",
    f"{SHARED} / {{divisor}}(size({{b}}){{zero}})",
)


@dataclass(frozen=True)
class Ranked:
    """`first` of the matches of a row, in the order of `rank`: that of a right row, or of a pair.

    `base` says what else the rows of a pair must pass, and what the query runs under. `key` is an equality of both sides, if there is one.
    """

    form: str
    bound: str
    key: str
    rank: str
    ascending: bool
    outer: bool
    may_be_zero: bool
    first: int
    base: Query
    is_taken: bool = True

    @property
    def reads_files(self) -> bool:
        return self.base.reads_files

    @property
    def settings(self) -> dict[str, str]:
        """Without ANSI mode, Spark's ASOF joins take the row whose difference wraps around."""
        settings = self.base.settings | {SIZE_OF_NULL: "false"}
        return settings | ({ANSI: "true"} if self.form == "asof" else {})

    @property
    def order(self) -> str:
        return "ASC" if self.ascending else "DESC"

    def sql(self, duckdb: bool = False) -> str:
        # Rows whose ranks are 0.0 and -0.0 are equally good.
        rows = self.rows()
        return f"SELECT id, v + 0 AS v FROM ({rows})" if self.may_be_zero else rows

    def rows(self) -> str:
        left, right = (
            source.format(t=t) for source, t in zip(self.base.sources, "lr", strict=True)
        )
        conditions = [c.sql for c in self.base.conjuncts]
        condition = " AND ".join([c for c in (self.bound, self.key) if c] + conditions)
        join = "LEFT JOIN" if self.outer else "INNER JOIN"
        match self.form:
            case "row_number" | "rank":
                number = f"{self.form}() OVER (PARTITION BY l.id ORDER BY {self.rank} {self.order})"
                pairs = f"SELECT l.id, {self.rank} AS v, {number} AS rn FROM {left} {join} {right}"
                return f"SELECT id, v FROM ({pairs} ON {condition}) WHERE rn <= {self.first}"
            case "group by":
                function = "min" if self.ascending else "max"
                pairs = f"SELECT l.id, {function}({self.rank}) AS v FROM {left} {join} {right}"
                return f"{pairs} ON {condition} GROUP BY l.id"
            case "scalar":
                function = "min" if self.ascending else "max"
                rows = f"SELECT {function}({self.rank}) FROM {right} WHERE {condition}"
                return f"SELECT l.id, ({rows}) AS v FROM {left}"
            case "lateral":
                rows = (
                    f"SELECT {self.rank} AS v FROM {right} WHERE {condition} "
                    f"ORDER BY v {self.order} LIMIT {self.first}"
                )
                return f"SELECT l.id, q.v FROM {left} {join} LATERAL ({rows}) AS q"
            case "nearest by":
                by = "DISTANCE" if self.ascending else "SIMILARITY"
                by = f"EXACT NEAREST {self.first} BY {by} {self.rank}"
                return f"SELECT l.id, {self.rank} AS v FROM {left} {join} {right} {by}"
        kind = "LEFT ASOF JOIN" if self.outer else "ASOF JOIN"
        return (
            f"SELECT l.id, {self.rank} AS v FROM {left} {kind} {right} "
            f"MATCH_CONDITION ({self.bound}) ON {self.key or 'l.n = r.n'}"
        )


@st.composite
def alike(draw: st.DrawFn, base: Query) -> str:
    """How alike a set of the left row and one of the right row are. Of sets without elements, null or an error."""
    a, b = (draw(st.sampled_from(SETS)).format(t=t) for t in draw(st.permutations("lr")))
    divisor, zero = ("nullif", ", 0") if base.ansi else ("", "")
    return draw(st.sampled_from(ALIKE)).format(a=a, b=b, divisor=divisor, zero=zero)


@st.composite
def ranked(
    draw: st.DrawFn, version: tuple[int, ...], base: Query, types: tuple[Type, ...]
) -> Ranked:
    x = types[0]
    of = "values" if x in NESTED else draw(st.sampled_from(("values", "values", "sets", "texts")))
    of_sets = of == "sets"
    distance = of != "values" or (x in DISTANCES and draw(st.booleans()))
    forms = ["row_number", "lateral", "rank", "group by"]
    if not distance:
        forms += ["scalar", *(["asof"] * 2 if version >= (4, 3) else [])]
    elif version >= (4, 2):
        forms += ["nearest by"]
    form = draw(st.sampled_from(forms))
    # From -Infinity on, Spark 4.3.0 may give a later row than the next one.
    backward = form == "asof" and x in FLOATS
    op = draw(st.sampled_from((">", ">=") if backward else ORDERS))
    is_bound = not distance or draw(st.booleans())
    is_vector = x in VECTORS
    of_vectors = BY_SUMS if VECTOR_OF_DOUBLES in types else IN_SPACE
    ranks = of_vectors if is_vector else IN_PLANE if x in NUMBERS else IN_LINE
    if of == "texts":
        ranks = IN_EDITS
    rank = draw(st.sampled_from(ranks)) if distance else "r.x"
    part = draw(alike(base)) if of_sets else ""
    is_part = of_sets and draw(st.booleans())
    bound = f"l.x {op} r.x" if is_bound else ""
    if of_sets and draw(st.booleans()):
        # Few other conditions, so that no index of theirs is cheaper.
        base, bound = replace(base, conjuncts=()), "l.id <> r.id"
    before = op in (">", ">=")
    return Ranked(
        form=form,
        bound=bound,
        key=draw(st.sampled_from(("", *EQUALITIES))),
        rank=part if is_part else f"1 - {part}" if of_sets else rank,
        ascending=not is_part if distance else (draw(st.integers(0, 5)) == 5) == before,
        outer=draw(st.booleans()),
        may_be_zero=of == "values" and (x in FLOATS or (is_vector and distance)),
        first=1
        if form in ("scalar", "asof", "rank", "group by")
        else draw(st.sampled_from((1, 1, 2, 5))),
        base=base,
        is_taken=form != "asof" or x not in NESTED,
    )


@st.composite
def cases(draw: st.DrawFn, version: tuple[int, ...]) -> Case[Ranked]:
    known = [
        f
        for f in FAMILIES
        if (f.indexed or f.types[0] in VECTORS) and all(t.since <= version for t in f.types)
    ]
    family = draw(st.sampled_from(known))
    keys = [f for f in KEYS if all(t.since <= version for t in f.types)]
    other = draw(st.one_of(st.just(family), st.sampled_from(keys)))
    # Values of two types are not compared as they are.
    x = draw(st.sampled_from(family.types))
    y = draw(st.sampled_from(other.types))
    left, right = draw(tables("l", x, y)), draw(tables("r", x, y))
    bases = draw(st.lists(joins((family, other), left, right), min_size=2, max_size=8))
    drawn = [draw(ranked(version, base, (x, y))) for base in bases]
    return Case((left, right), drawn, any(query.reads_files for query in drawn))


class FirstMatches(Comparison[Ranked]):
    def plan(self, query: Ranked, off: Outcome, on: Outcome) -> str | None:
        """Spark's own joins with the first matches are taken, but ASOF joins of structs and arrays."""
        for node in on.nodes:
            self.covered["limited"] += "limit: " in node.description
            is_ranked = "rank: " in node.description
            self.covered["of sets"] += is_ranked and node.accelerator == "containment"
            self.covered["of texts"] += is_ranked and node.accelerator == "similar"
        is_plain = query.base.sources == (SOURCES[0],) * 2
        if query.form in ("nearest by", "asof") and query.is_taken and is_plain and not on.nodes:
            return f"not accelerated as it must be:\n{on.plan}"
        return None

    def peers(self, query: Ranked, case: Case[Ranked]) -> dict[str, Rows | None]:
        return {}


def test_random_ranks(spark: SparkSession, budget: Budget) -> None:
    FirstMatches(spark, budget).search(cases)
    assert budget.covered["limited"] > 0
