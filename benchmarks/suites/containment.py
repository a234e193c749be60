"""Joins by array elements and ORs: as plain SQL, and as engines without an index are best asked.

Rows lie in Parquet files. The answer is the row count and the sums of a column of each side.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.queries import OFF, Query, Suite
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
_PATTERNS = Parquet(
    "patterns_2k",
    2_000,
    f"i AS w, {_words('i', '0', 'pattern', _TAGS)} AS pattern, "
    f"list_transform(range(2), lambda j: {_words('i', 'j', 'need', _TAGS // 10)}) AS needs",
)


def _number(kind: str) -> str:
    return f"CAST(hash(i, '{kind}') % 1000000 AS BIGINT)"


_EVENTS = Parquet("events_1m", 1_000_000, f"i AS v, {_number('t')} AS t, {_number('id')} AS id")
_ALERTS = Parquet("alerts_100k", 100_000, f"i AS w, {_number('t2')} AS t2, {_number('id2')} AS id2")

_CONTAINS = "array_contains(tags, pattern)"
_CONTAINS_WORDS = {"ClickHouse": "has(tags, pattern)"}
_EXPLODED = "SELECT DISTINCT v, {unnest} AS tag FROM documents_200k"
_BY_TAG = f"SELECT v, w FROM ({_EXPLODED}) AS d JOIN patterns_2k ON tag = pattern"
_CONTAINS_REWRITTEN = {
    OFF: _BY_TAG.format(unnest="explode(tags)"),
    "DuckDB": _BY_TAG.format(unnest="unnest(tags)"),
    "ClickHouse": _BY_TAG.format(unnest="arrayJoin(tags)"),
}

_COVERS = "size(array_except(needs, tags)) = 0"
_COVERS_WORDS = {
    "DuckDB": "list_has_all(tags, needs)",
    "ClickHouse": "hasAll(tags, needs)",
}
_BY_NEEDS = (
    f"SELECT v, w FROM ({_EXPLODED}) AS d JOIN (SELECT DISTINCT w, size, {{unnest2}} AS need FROM "
    "(SELECT w, needs, {size} AS size FROM patterns_2k) AS p) AS n ON tag = need "
    "GROUP BY v, w, size HAVING count(*) = size"
)
_COVERS_REWRITTEN = {
    OFF: _BY_NEEDS.format(
        unnest="explode(tags)", unnest2="explode(needs)", size="size(array_distinct(needs))"
    ),
    "DuckDB": _BY_NEEDS.format(
        unnest="unnest(tags)", unnest2="unnest(needs)", size="len(list_distinct(needs))"
    ),
    "ClickHouse": _BY_NEEDS.format(
        unnest="arrayJoin(tags)", unnest2="arrayJoin(needs)", size="length(arrayDistinct(needs))"
    ),
}

_OR = "t = t2 OR id = id2 + 5"
_UNION = (
    "SELECT v, w FROM events_1m JOIN alerts_100k ON t = t2 "
    "UNION {distinct}SELECT v, w FROM events_1m JOIN alerts_100k ON id = id2 + 5"
)
_OR_REWRITTEN = {
    engine: _UNION.format(distinct="DISTINCT " if engine == "ClickHouse" else "")
    for engine in ("DuckDB", "ClickHouse")
}


def _elements(name: str, target: float | None, condition: str, **more: object) -> ElementsQuery:
    return ElementsQuery(
        name=name,
        target=target,
        left=_DOCUMENTS,
        right=_PATTERNS,
        condition=condition,
        columns=("tags", "pattern"),
        **more,  # type: ignore[arg-type]
    )


def _either(name: str, target: float | None, **more: object) -> ElementsQuery:
    return ElementsQuery(
        name=name,
        target=target,
        left=_EVENTS,
        right=_ALERTS,
        condition=_OR,
        columns=("t", "t2"),
        **more,  # type: ignore[arg-type]
    )


_COLUMNS = "abcd"
_FACTS = Parquet(
    "facts_1m",
    1_000_000,
    "i AS v, " + ", ".join(f"CAST(hash(i, '{c}') % 100 AS INT) AS {c}" for c in _COLUMNS),
)
_RULES = Parquet(
    "rules_1k",
    1_000,
    "i AS w, "
    + ", ".join(
        f"CASE WHEN hash(i, '{c} open') % 2 = 1 THEN CAST(hash(i, 'r{c}') % 100 AS INT) END AS r{c}"
        for c in _COLUMNS
    ),
)

_LEFT_BUILT = "/*+ BROADCAST(documents_200k) */ "

SUITE = Suite(
    name="containment",
    title="Joins by array elements, and ORs",
    data=(
        "Documents have five tags each, of 20,000; patterns have one tag, and two of 2,000 that "
        "they need. Events and alerts have two random numbers below a million each. "
        "Rules have four columns, each open in half of them, else one of a hundred values."
    ),
    answer="the row count and the sums of a column of each side",
    queries=(
        _elements("contains", 0.6, _CONTAINS, words=_CONTAINS_WORDS),
        _elements("contains_rewritten", 0.6, _CONTAINS, rewritten=_CONTAINS_REWRITTEN),
        _elements(
            "contains_left_built", 0.6, _CONTAINS, rewritten=_CONTAINS_REWRITTEN, hint=_LEFT_BUILT
        ),
        _elements("covers", 0.6, _COVERS, words=_COVERS_WORDS),
        _elements("covers_rewritten", 0.6, _COVERS, rewritten=_COVERS_REWRITTEN),
        _elements("covers_left_built", 0.6, _COVERS, rewritten=_COVERS_REWRITTEN, hint=_LEFT_BUILT),
        ElementsQuery(
            name="rules",
            target=0.6,
            left=_FACTS,
            right=_RULES,
            condition=" AND ".join(f"(r{c} IS NULL OR {c} = r{c})" for c in _COLUMNS),
            columns=("a", "ra"),
        ),
        _either("or", 0.8),
        _either("or_rewritten", 0.8, rewritten=_OR_REWRITTEN, off=False),
    ),
    peers=("DuckDB", "ClickHouse"),
)
