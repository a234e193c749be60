"""Two tables of consecutive integers, t1(a) and t2(b), and a join on an inequality.

One condition text serves every engine, because the two columns have different names. Each query
returns the row count and the sums of both columns, so that no engine can skip the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchmarks.queries import Query, Shape, Suite, shapes_of
from benchmarks.tables import Range, Table, short

JoinType = Literal["INNER", "LEFT", "RIGHT", "FULL"]


@dataclass(frozen=True, kw_only=True)
class NestedLoopQuery(Query):
    """One join of t1 and t2."""

    join_type: JoinType
    left: int
    right: int
    condition: str

    @property
    def sides(self) -> tuple[Table, Table]:
        """The tables t1(a) and t2(b)."""
        return Range("t1", "a", self.left), Range("t2", "b", self.right)

    @property
    def values(self) -> tuple[str, ...]:
        """All there is."""
        return "a", "b"

    def select(self, columns: str, engine: str) -> str:
        """The join, in the words that all engines share."""
        return f"SELECT {columns} FROM t1 {self.join_type} JOIN t2 ON {self.condition}"

    @property
    def join_facts(self) -> dict[str, str]:
        """Join type, row counts and condition."""
        sizes = f"{short(self.left)} x {short(self.right)}"
        return {"join": self.join_type, "rows": sizes, "condition": f"`{self.condition}`"}


def _query(
    name: str,
    join_type: JoinType,
    left: int,
    right: int,
    condition: str,
    target: float | None = None,
) -> NestedLoopQuery:
    return NestedLoopQuery(
        name=name,
        join_type=join_type,
        left=left,
        right=right,
        condition=condition,
        target=target,
    )


# benchmarks/src/nlj.rs of Apache DataFusion.
_DATAFUSION = (
    _query("Q1", "INNER", 10_000, 10_000, "(a + b) % 1000 = 0"),
    _query("Q2", "INNER", 10_000, 10_000, "(a + b) % 5 = 0"),
    _query("Q3", "INNER", 10_000, 10_000, "(a + b) % 10 <> 0"),
    _query("Q4", "INNER", 30_000, 30_000, "(a + b) % 5 = 0"),
    _query("Q5", "INNER", 10_000, 200_000, "(a + b) % 1000 = 0"),
    _query("Q6", "INNER", 200_000, 10_000, "(a + b) % 1000 = 0"),
    _query("Q7", "RIGHT", 10_000, 200_000, "(a + b) % 1000 = 0", target=1.4),
    _query("Q8", "LEFT", 200_000, 10_000, "(a + b) % 1000 = 0", target=1.4),
    _query("Q9", "FULL", 30_000, 30_000, "(a + b) % 1000 = 0", target=0.95),
    _query("Q10", "FULL", 30_000, 30_000, "(a + b) % 10 <> 0"),
    _query("Q11", "INNER", 30_000, 30_000, "a > b", target=0.45),
    _query("Q12", "FULL", 30_000, 30_000, "a > b", target=0.5),
)

# The piecewise merge query of Apache DataFusion's issue 21921, and twenty times as much of it.
_PIECEWISE = (
    _query("P1", "INNER", 1_000, 1_000_000, "a > b AND (a + b) % 2 = 0"),
    _query("P2", "INNER", 20_000, 1_000_000, "a > b AND (a + b) % 2 = 0"),
)

# Few matches: S1 needs every pair looked at, S2 and S3 do not. S3 stands last: Spark's own full
# outer join cannot be cancelled, so the time limit costs a new Spark session there.
_SELECTIVE = (
    _query("S1", "INNER", 30_000, 30_000, "(a + b) % 1000 = 0", target=0.7),
    _query("S2", "INNER", 200_000, 1_000_000, "a > b + 199000", target=0.4),
    _query("S3", "FULL", 200_000, 200_000, "a - b > 199900", target=0.5),
)

_BY_NAME = {query.name: query for query in _DATAFUSION + _SELECTIVE}

# 20 million pairs, ten for each left row, one for each left and each right row, and half a million.
_SHAPED = (
    *shapes_of(_BY_NAME["Q2"]),
    *shapes_of(_BY_NAME["Q8"]),
    *shapes_of(_BY_NAME["Q9"], Shape.GROUPED, Shape.WRITTEN),
    *shapes_of(_BY_NAME["S2"]),
)

SUITE = Suite(
    name="nlj",
    title="Joins without an equality",
    data=(
        "The tables are consecutive integers, t1(a) and t2(b): Spark and DataFusion read their own "
        "`range`, DuckDB and Polars an in-memory table (each the faster form for that engine)."
    ),
    answer="the row count and the sums of both sides' columns",
    queries=_DATAFUSION + _PIECEWISE + _SHAPED + _SELECTIVE,
    peers=("DuckDB", "DataFusion", "Polars"),
)
