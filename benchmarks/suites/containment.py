"""Joins by array elements and ORs: as plain SQL, and as engines without an index are best asked.

Rows lie in Parquet files. The answer is the row count and the sums of a column of each side.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.queries import OFF, Query, Suite, shapes_of
from benchmarks.tables import Parquet, Table, short


@dataclass(frozen=True, kw_only=True)
class ElementsQuery(Query):
    """A join of `left` and `right` on a condition in Spark's words.

    `words` has the condition as other engines say it. With `rewritten`, engines other than Spark
    with thetajoin run that text in place of a join on the condition: pairs of `v` and `w`.
    """

    left: Parquet
    right: Parquet
    condition: str
    columns: tuple[str, str]
    words: dict[str, str] = field(default_factory=dict, hash=False)
    rewritten: dict[str, str] = field(default_factory=dict, hash=False)
    hint: str = ""

    @property
    def sides(self) -> tuple[Table, Table]:
        """Both tables."""
        return self.left, self.right

    @property
    def values(self) -> tuple[str, ...]:
        """The row number of each side."""
        return "v", "w"

    def condition_of(self, engine: str) -> str:
        """The condition in an engine's own words."""
        return self.words.get(engine, self.condition)

    def select(self, columns: str, engine: str) -> str:
        """The join, or what the engine is asked in its place."""
        if engine in self.rewritten:
            return f"SELECT {columns} FROM ({self.rewritten[engine]}) AS pairs"
        return (
            f"SELECT {self.hint}{columns} FROM {self.left.name} "
            f"JOIN {self.right.name} ON {self.condition_of(engine)}"
        )

    @property
    def join_facts(self) -> dict[str, str]:
        """Join type, row counts, condition, and what engines without an index are asked."""
        return {
            "join": "INNER",
            "rows": f"{short(self.left.rows)} x {short(self.right.rows)}",
            "condition": f"`{self.condition}`",
            "others are asked": "by a rewrite" if self.rewritten else "the same",
        }

    @property
    def join_scan(self) -> str:
        """All rows of both tables with the columns that the query reads."""
        left, right = self.columns
        return (
            f"SELECT sum(v) + count({left}) FROM {self.left.name} "
            f"UNION ALL SELECT sum(w) + count({right}) FROM {self.right.name}"
        )


def _words(row: str, place: str, kind: str, distinct: int) -> str:
    """One of so many words for a row and a place in its array."""
    return f"'tag-' || (hash({row}, {place}, '{kind}') % {distinct})"


_TAGS = 20_000
_DOCUMENTS = Parquet(
    "documents_200k",
    200_000,
    f"i AS v, list_transform(range(5), lambda j: {_words('i', 'j', 'tag', _TAGS)}) AS tags",
)


def _patterns(rows: int) -> Parquet:
    return Parquet(
        f"patterns_{short(rows).lower()}",
        rows,
        f"i AS w, {_words('i', '0', 'pattern', _TAGS)} AS pattern, "
        f"list_transform(range(2), lambda j: {_words('i', 'j', 'need', _TAGS // 10)}) AS needs",
    )


_PATTERNS = _patterns(2_000)
_READERS = Parquet(
    "readers_20k",
    20_000,
    f"i AS w, list_transform(range(10), lambda j: {_words('i', 'j', 'tag', _TAGS)}) AS likes",
)

_CONTAINS = "array_contains(tags, pattern)"
_CONTAINS_WORDS = {"ClickHouse": "has(tags, pattern)"}
_COVERS = "size(array_except(needs, tags)) = 0"
# A pattern has two needs. Polars has no SQL for the difference of arrays.
_COVERS_WORDS = {
    "DuckDB": "list_has_all(tags, needs)",
    "ClickHouse": "hasAll(tags, needs)",
    "Polars": "array_contains(tags, array_get(needs, 1)) "
    "AND array_contains(tags, array_get(needs, 2))",
}

_EXPLODED = "SELECT DISTINCT v, {exploded}(tags) AS tag FROM documents_200k"
_BY_TAG = "SELECT v, w FROM ({left}) AS d JOIN {right} ON tag = pattern"
_BY_NEEDS = (
    "SELECT v, w FROM ({left}) AS d JOIN (SELECT DISTINCT w, size, {exploded}(needs) AS need FROM "
    "(SELECT w, needs, {size} AS size FROM {right}) AS p) AS n ON tag = need "
    "GROUP BY v, w, size HAVING count(*) = size"
)
# What makes a row of each element, and what counts those that differ.
_ELEMENTS = {
    OFF: ("explode", "size(array_distinct(needs))"),
    "DuckDB": ("unnest", "len(list_distinct(needs))"),
    "ClickHouse": ("arrayJoin", "length(arrayDistinct(needs))"),
    "Polars": ("unnest", "array_length(array_unique(needs))"),
}


_BY_COMMON = (
    "SELECT v, w FROM ({left}) AS d JOIN "
    "(SELECT DISTINCT w, {exploded}(likes) AS liked FROM {right}) AS r ON tag = liked "
    "GROUP BY v, w HAVING count(*) >= 2"
)


def _by_element(rewrite: str, right: Parquet) -> dict[str, str]:
    return {
        engine: rewrite.format(
            left=_EXPLODED.format(exploded=exploded),
            right=right.name,
            exploded=exploded,
            size=size,
        )
        for engine, (exploded, size) in _ELEMENTS.items()
    }


def _elements(
    name: str, condition: str, right: Parquet = _PATTERNS, **more: object
) -> ElementsQuery:
    return ElementsQuery(
        name=name,
        left=_DOCUMENTS,
        right=right,
        condition=condition,
        columns=("tags", "pattern"),
        **more,  # type: ignore[arg-type]
    )


_LEFT_BUILT = "/*+ BROADCAST(documents_200k) */ "
_CONTAINS_REWRITTEN = _by_element(_BY_TAG, _PATTERNS)
_COVERS_REWRITTEN = _by_element(_BY_NEEDS, _PATTERNS)
_PATTERNS_100K = _patterns(100_000)

_BY_ELEMENTS = (
    _elements("contains", _CONTAINS, words=_CONTAINS_WORDS, target=0.6),
    _elements("contains_rewritten", _CONTAINS, rewritten=_CONTAINS_REWRITTEN, target=0.6),
    _elements(
        "contains_left_built",
        _CONTAINS,
        rewritten=_CONTAINS_REWRITTEN,
        hint=_LEFT_BUILT,
        target=0.6,
    ),
    _elements("covers", _COVERS, words=_COVERS_WORDS, target=0.6),
    _elements("covers_rewritten", _COVERS, rewritten=_COVERS_REWRITTEN, target=0.6),
    _elements(
        "covers_left_built", _COVERS, rewritten=_COVERS_REWRITTEN, hint=_LEFT_BUILT, target=0.6
    ),
)
_CONTAINS_MANY = _elements(
    "contains_many", _CONTAINS, _PATTERNS_100K, rewritten=_by_element(_BY_TAG, _PATTERNS_100K)
)


_IN_COMMON = ElementsQuery(
    name="in_common",
    left=_DOCUMENTS,
    right=_READERS,
    condition="size(array_intersect(tags, likes)) >= 2",
    columns=("tags", "likes"),
    rewritten=_by_element(_BY_COMMON, _READERS),
)


def _numbers(name: str, rows: int, value: str, columns: tuple[str, str], distinct: int) -> Parquet:
    """Rows with two random numbers."""
    numbers = (f"CAST(hash(i, '{c}') % {distinct} AS BIGINT) AS {c}" for c in columns)
    return Parquet(name, rows, ", ".join((f"i AS {value}", *numbers)))


def _either(
    name: str, suffix: str, distinct: int, *, rewritten: bool, **more: object
) -> ElementsQuery:
    left = _numbers(f"events_1m{suffix}", 1_000_000, "v", ("t", "id"), distinct)
    right = _numbers(f"alerts_100k{suffix}", 100_000, "w", ("t2", "id2"), distinct)
    conditions = ("t = t2", "id = id2 + 5")
    arms = [f"SELECT v, w FROM {left.name} JOIN {right.name} ON {arm}" for arm in conditions]
    unions = {"DuckDB": "UNION", "ClickHouse": "UNION DISTINCT", "Polars": "UNION"}
    return ElementsQuery(
        name=name,
        left=left,
        right=right,
        condition=" OR ".join(conditions),
        columns=("t", "t2"),
        rewritten={engine: f" {union} ".join(arms) for engine, union in unions.items()}
        if rewritten
        else {},
        off=not rewritten,
        **more,  # type: ignore[arg-type]
    )


_ORS = (
    _either("or", "", 1_000_000, rewritten=False, target=0.8),
    _either("or_rewritten", "", 1_000_000, rewritten=True, target=0.8),
)
_OR_MANY = _either("or_many", "_dense", 50_000, rewritten=True)

_COLUMNS = "abcd"


def _one_of(count: int, word: str) -> str:
    """Hashed twice: the low bits of one hash have the same difference between words in each row."""
    return f"hash(hash(i, '{word}')) % {count}"


_FACTS = Parquet(
    "facts_1m",
    1_000_000,
    ", ".join(("i AS v", *(f"CAST({_one_of(100, c)} AS INT) AS {c}" for c in _COLUMNS))),
)
_RULES_1K = Parquet(
    "rules_1k",
    1_000,
    ", ".join(
        (
            "i AS w",
            *(
                f"CASE WHEN {_one_of(4, f'{c} open')} > 0 "
                f"THEN CAST({_one_of(100, f'r{c}')} AS INT) END AS r{c}"
                for c in _COLUMNS
            ),
        )
    ),
    nulls=True,
)
_RULES = ElementsQuery(
    name="rules",
    target=0.6,
    left=_FACTS,
    right=_RULES_1K,
    condition=" AND ".join(f"(r{c} IS NULL OR {c} = r{c})" for c in _COLUMNS),
    columns=("a", "ra"),
)

SUITE = Suite(
    name="containment",
    title="Joins by array elements, and ORs",
    data=(
        "Documents have five tags each, of 20,000; patterns have one tag, and two of 2,000 that "
        "they need; readers like ten of the 20,000. "
        "Events and alerts have two random numbers below a million each, of `or_many` below "
        "50,000. "
        "Rules have four columns, each open in a quarter of them, else one of a hundred values."
    ),
    answer="the row count and the sums of a column of each side",
    queries=(
        *_BY_ELEMENTS,
        _CONTAINS_MANY,
        _IN_COMMON,
        _RULES,
        *_ORS,
        _OR_MANY,
        *(shaped for query in (_CONTAINS_MANY, _RULES, _OR_MANY) for shaped in shapes_of(query)),
    ),
    peers=("DuckDB", "ClickHouse", "Polars"),
)
