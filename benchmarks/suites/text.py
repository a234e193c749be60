"""Texts that match patterns of a table.

The texts are of English words. The answer is the row count and the sums of the row numbers of each
side.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.queries import Suite, shapes_of
from benchmarks.suites.containment import ElementsQuery
from benchmarks.tables import Parquet
from benchmarks.texts import Texts


@dataclass(frozen=True, kw_only=True)
class TextQuery(ElementsQuery):
    """A join of texts with patterns.

    With `extracted`, the patterns are strings that Polars extracts from the texts by an automaton,
    to join what it has extracted with them.
    """

    extracted: bool = False

    @property
    def join_scan(self) -> str:
        """All rows of both tables; the length of a text can't be told without reading it."""
        text, pattern = self.columns
        return (
            f"SELECT sum(v) + sum(octet_length({text})) FROM {self.left.name} "
            f"UNION ALL SELECT sum(w) + sum(octet_length({pattern})) FROM {self.right.name}"
        )


@dataclass(frozen=True, kw_only=True)
class AnyTextQuery(TextQuery):
    """The texts that match any of the patterns."""

    @property
    def values(self) -> tuple[str, ...]:
        """The row number of the texts."""
        return ("v",)

    def select(self, columns: str, engine: str) -> str:
        """The existence join, or what the engine is asked in its place."""
        if engine in self.rewritten:
            return f"SELECT {columns} FROM ({self.rewritten[engine]}) AS texts"
        return (
            f"SELECT {columns} FROM {self.left.name} WHERE EXISTS "
            f"(SELECT 1 FROM {self.right.name} WHERE {self.condition_of(engine)})"
        )


def _documents(rows: int) -> Texts:
    return Texts(f"text_documents_{rows // 1000}k", rows, words=(6, 20), skew=3.0)


_DOCUMENTS_2K = _documents(2_000)
_DOCUMENTS = _documents(200_000)
_DOCUMENTS_4M = _documents(4_000_000)
_NAMES_2K = Texts("text_names_2k", 2_000, columns="pat, w")
_TITLES = Texts("text_titles_2m", 2_000_000, words=(3, 9), skew=2.0)
_PHRASES_1M = Texts("text_phrases_1m", 1_000_000, columns="pat, w", words=(1, 4), skew=1.5)
_PHRASES = Texts("text_phrases_100k", 100_000, columns="pat, w", words=(1, 4), skew=1.5)
_LINES = Texts(
    "text_lines_500k",
    500_000,
    words=(8, 8),
    skew=2.0,
    forms=("{}: {} {} {n} {} {}", "ERROR {} {} in {}.{}", "{} {} {} id={n} {} {} {}"),
)
_REGEXES = Texts(
    "text_regexes_500",
    500,
    columns="pat, w",
    words=(3, 3),
    skew=1.5,
    forms=(
        r"{} \d+",
        r"{}.*{}",
        r"({}|{}) [a-z]+ {}",
        r"^ERROR {}",
        r"\b{}s?\b",
        r"id=\d{{3}} {}",
    ),
)
_PREFIXES = Texts("text_prefixes_100k", 100_000, columns="pat, w", words=(1, 2), skew=1.5)
_STARTS = Texts("text_starts_1m", 1_000_000, words=(2, 6), skew=1.5)


def _all_indices(left: Parquet, right: Parquet) -> str:
    """Pairs by ClickHouse's automaton, which takes all patterns as one constant."""
    return (
        f"SELECT v, arrayJoin(multiMatchAllIndices(txt, (SELECT groupArray(pat) "
        f"FROM (SELECT pat FROM {right.name} ORDER BY w)))) - 1 AS w FROM {left.name}"
    )


def _query(name: str, left: Parquet, right: Parquet, condition: str, **more: object) -> TextQuery:
    return TextQuery(
        name=name,
        left=left,
        right=right,
        condition=condition,
        columns=("txt", "pat"),
        **more,  # type: ignore[arg-type]
    )


_LIKE = "txt LIKE concat('%', pat, '%')"
_CONTAINS = "contains(txt, pat)"
_CONTAINS_WORDS = {"ClickHouse": "position(txt, pat) > 0", "Polars": "strpos(txt, pat) > 0"}
_STARTS_WORDS = {
    "ClickHouse": "startsWith(txt, pat)",
    "DuckDB": "starts_with(txt, pat)",
    "Polars": "starts_with(txt, pat)",
}
_REGEX_WORDS = {
    "DuckDB": "regexp_matches(txt, pat)",
    "ClickHouse": "match(txt, pat)",
    "Polars": "regexp_like(txt, pat)",
}


def _strings(name: str, left: Parquet, right: Parquet, **more: object) -> tuple[TextQuery, ...]:
    """As plain SQL, and by automata of others."""
    return (
        _query(name, left, right, _LIKE, words={"Polars": "strpos(txt, pat) > 0"}, **more),
        _query(
            f"{name}_automaton",
            left,
            right,
            _CONTAINS,
            rewritten={"ClickHouse": _all_indices(left, right)},
            words=_CONTAINS_WORDS,
            extracted=True,
            off=False,
            peers=("ClickHouse", "Polars"),
        ),
    )


_ANY = (
    f"SELECT v FROM {_DOCUMENTS.name} "
    f"WHERE multiMatchAny(txt, (SELECT groupArray(pat) FROM {_NAMES_2K.name}))"
)

_LIKE_QUERIES = _strings("like", _DOCUMENTS, _NAMES_2K)
_QUERIES = (
    *_LIKE_QUERIES,
    *_strings("like_large", _DOCUMENTS_4M, _NAMES_2K, off=False),
    *_strings("titles", _TITLES, _PHRASES, off=False),
    AnyTextQuery(
        name="any_name",
        left=_DOCUMENTS,
        right=_NAMES_2K,
        condition=_CONTAINS,
        columns=("txt", "pat"),
        words=_CONTAINS_WORDS,
        rewritten={"ClickHouse": _ANY},
        extracted=True,
    ),
    _query(
        "few_texts",
        _DOCUMENTS_2K,
        _PHRASES_1M,
        _CONTAINS,
        words=_CONTAINS_WORDS,
        off=False,
    ),
    _query(
        "regexes",
        _LINES,
        _REGEXES,
        "txt RLIKE pat",
        words=_REGEX_WORDS,
    ),
    _query(
        "regexes_automaton",
        _LINES,
        _REGEXES,
        "txt RLIKE pat",
        rewritten={"ClickHouse": _all_indices(_LINES, _REGEXES)},
        words=_REGEX_WORDS,
        off=False,
        peers=("ClickHouse",),
    ),
    _query("prefix", _STARTS, _PREFIXES, "startswith(txt, pat)", words=_STARTS_WORDS, off=False),
    *shapes_of(_LIKE_QUERIES[0]),
)

SUITE = Suite(
    name="text",
    title="Texts that match patterns",
    data="All engines read the same Parquet files, none of which is sorted.",
    answer="the row count and the sums of the row number of each side",
    queries=_QUERIES,
    peers=("DuckDB", "ClickHouse", "Polars"),
)
