"""Joins of values that are nearly the same: names with typing errors, sets of tokens.

A value is a common one, changed here and there. The answer is the row count and the sums of the
row number of each side.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.names import Names
from benchmarks.queries import Suite, shapes_of
from benchmarks.suites.containment import ElementsQuery
from benchmarks.tables import Parquet, short


@dataclass(frozen=True, kw_only=True)
class SimilarQuery(ElementsQuery):
    """A join of texts that are `edits` apart at most, or of sets with a Jaccard similarity.

    With `order`, each left row is joined with `nearest` right ones in that order. Which of several
    equally good rows they are is open, so the answer has the `measure` of a pair in place of the
    right row's number.
    """

    edits: int | None = None
    jaccard: float | None = None
    nearest: int = 0
    order: str = ""
    measure: str = "w"

    @property
    def values(self) -> tuple[str, ...]:
        """The row number of the left side, and of the right side or what is measured."""
        return "v", self.measure

    def select(self, columns: str, engine: str) -> str:
        """The join."""
        if not self.order:
            return super().select(columns, engine)
        return (
            f"SELECT {columns} FROM {self.left.name} JOIN {self.right.name} "
            f"EXACT NEAREST {self.nearest} BY {self.order}"
        )


def _names(rows: int, side: str) -> Names:
    return Names(f"names_{short(rows).lower()}_{side}", rows, f"{side}_name, {side}", of=50_000)


def _codes(side: str) -> Names:
    """Twenty letters at random."""
    name = f"codes_1m_{side}"
    return Names(name, 1_000_000, f"{side}_name, {side}", of=500_000, letters=20, edits=1)


def _by_edits(name: str, left: Names, right: Names, edits: int, **more: object) -> SimilarQuery:
    condition = f"levenshtein(v_name, w_name) <= {edits}"
    return SimilarQuery(
        name=name,
        left=left,
        right=right,
        condition=condition,
        columns=("v_name", "w_name"),
        edits=edits,
        words={"ClickHouse": condition.replace("levenshtein", "editDistanceUTF8")},
        peers=("DuckDB", "ClickHouse", "RapidFuzz"),
        **more,  # type: ignore[arg-type]
    )


def _nearest(
    name: str, left: Parquet, right: Parquet, nearest: int, order: str, **more: object
) -> SimilarQuery:
    return SimilarQuery(
        name=name,
        left=left,
        right=right,
        nearest=nearest,
        order=order,
        condition=f"the {nearest} nearest by {order}",
        peers=(),
        **more,  # type: ignore[arg-type]
    )


def _sets(rows: int, side: str, changed: int) -> Parquet:
    """Ten tokens of a hundred thousand, some of them frequent; one of so many is another one."""
    own = f"hash(i, j, '{side}')"
    common = f"hash(hash(i, '{side}') % {rows // 2}, j)"
    is_changed = f"hash(i, j, 'changed {side}') % {changed} = 0"
    drawn = f"(CASE WHEN {is_changed} THEN {own} ELSE {common} END) % 1000000"
    return Parquet(
        f"sets_{short(rows).lower()}_{changed}_{side}",
        rows,
        f"list_distinct(list_transform(range(10), "
        f"lambda j: CAST(pow({drawn} / 1e6, 2) * 100000 AS INT))) AS {side}_tags, i AS {side}",
    )


_SHARED = "size(array_intersect(v_tags, w_tags))"
_UNION = "size(array_union(v_tags, w_tags))"


def _by_jaccard(name: str, rows: int, changed: int, least: float, **more: object) -> SimilarQuery:
    return SimilarQuery(
        name=name,
        left=_sets(rows, "v", changed),
        right=_sets(rows, "w", changed),
        condition=f"{_SHARED} / {_UNION} >= {least}",
        columns=("v_tags", "w_tags"),
        jaccard=least,
        words={
            "DuckDB": "len(list_intersect(v_tags, w_tags)) / "
            f"len(list_distinct(list_concat(v_tags, w_tags))) >= {least}",
            "ClickHouse": "length(arrayIntersect(v_tags, w_tags)) / "
            f"length(arrayDistinct(arrayConcat(v_tags, w_tags))) >= {least}",
        },
        peers=("DuckDB", "ClickHouse", "SetSimilaritySearch"),
        **more,  # type: ignore[arg-type]
    )


_ALIKE = f"{_SHARED} / {_UNION}"
_IN_COMMON = 5

_NAMES = _by_edits("names", _names(100_000, "v"), _names(100_000, "w"), 2, target=4.0)

SUITE = Suite(
    name="similar",
    title="Joins of values that are nearly the same",
    data="All engines read the same Parquet files, none of which is sorted.",
    answer="the row count and the sums of the row number of each side",
    queries=(
        _by_edits("few_names", _names(10_000, "v"), _names(10_000, "w"), 2),
        _NAMES,
        _by_edits("names_1", _names(100_000, "v"), _names(100_000, "w"), 1),
        _by_edits("names_3", _names(100_000, "v"), _names(10_000, "w"), 3),
        _by_edits("codes", _codes("v"), _codes("w"), 1, target=20.0, off=False),
        _by_jaccard("few_sets", 10_000, 12, 0.8),
        _by_jaccard("sets", 100_000, 6, 0.5, target=5.0),
        _by_jaccard("sets_1m", 1_000_000, 12, 0.8, target=10.0, off=False),
        SimilarQuery(
            name="in_common",
            left=_sets(100_000, "v", 6),
            right=_sets(100_000, "w", 6),
            condition=f"{_SHARED} >= {_IN_COMMON}",
            columns=("v_tags", "w_tags"),
            words={
                "DuckDB": f"len(list_intersect(v_tags, w_tags)) >= {_IN_COMMON}",
                "ClickHouse": f"length(arrayIntersect(v_tags, w_tags)) >= {_IN_COMMON}",
            },
            peers=("DuckDB", "ClickHouse"),
        ),
        _nearest(
            "nearest_name",
            _names(10_000, "v"),
            _names(100_000, "w"),
            1,
            "DISTANCE levenshtein(v_name, w_name)",
            columns=("v_name", "w_name"),
            measure="levenshtein(v_name, w_name)",
        ),
        _nearest(
            "nearest_sets",
            _sets(10_000, "v", 12),
            _sets(100_000, "w", 6),
            3,
            f"SIMILARITY {_ALIKE}",
            columns=("v_tags", "w_tags"),
            measure=f"CAST(1e6 * {_ALIKE} AS BIGINT)",
        ),
        *shapes_of(_NAMES),
    ),
    peers=("DuckDB", "ClickHouse", "RapidFuzz", "SetSimilaritySearch"),
)
