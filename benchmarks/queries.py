"""The queries: two tables of consecutive integers, t1(a) and t2(b), and a join on an inequality.

One condition text serves every engine, because the two columns have different names. Each query
returns the row count and the sums of both columns, so that no engine can skip the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

JoinType = Literal["INNER", "LEFT", "RIGHT", "FULL"]


@dataclass(frozen=True)
class Query:
    """One join, and the seconds that Spark with thetajoin may take for it (None: no limit)."""

    name: str
    join_type: JoinType
    left_rows: int
    right_rows: int
    condition: str
    target: float | None = None

    @property
    def sql(self) -> str:
        """The query over tables t1(a) and t2(b)."""
        return (
            f"SELECT count(*), sum(a), sum(b) FROM t1 {self.join_type} JOIN t2 ON {self.condition}"
        )

    @property
    def sizes(self) -> str:
        """Both row counts, for example 10K x 1M."""
        return f"{_short(self.left_rows)} x {_short(self.right_rows)}"


def _short(rows: int) -> str:
    return f"{rows // 1_000_000}M" if rows >= 1_000_000 else f"{rows // 1_000}K"


# benchmarks/src/nlj.rs of Apache DataFusion.
DATAFUSION = (
    Query("Q1", "INNER", 10_000, 10_000, "(a + b) % 1000 = 0"),
    Query("Q2", "INNER", 10_000, 10_000, "(a + b) % 5 = 0"),
    Query("Q3", "INNER", 10_000, 10_000, "(a + b) % 10 <> 0"),
    Query("Q4", "INNER", 30_000, 30_000, "(a + b) % 5 = 0"),
    Query("Q5", "INNER", 10_000, 200_000, "(a + b) % 1000 = 0"),
    Query("Q6", "INNER", 200_000, 10_000, "(a + b) % 1000 = 0"),
    Query("Q7", "RIGHT", 10_000, 200_000, "(a + b) % 1000 = 0", target=1.4),
    Query("Q8", "LEFT", 200_000, 10_000, "(a + b) % 1000 = 0", target=1.4),
    Query("Q9", "FULL", 30_000, 30_000, "(a + b) % 1000 = 0", target=0.95),
    Query("Q10", "FULL", 30_000, 30_000, "(a + b) % 10 <> 0"),
    Query("Q11", "INNER", 30_000, 30_000, "a > b", target=0.45),
    Query("Q12", "FULL", 30_000, 30_000, "a > b", target=0.5),
)

# The piecewise merge query of Apache DataFusion's issue 21921, and twenty times as much of it.
PIECEWISE = (
    Query("P1", "INNER", 1_000, 1_000_000, "a > b AND (a + b) % 2 = 0"),
    Query("P2", "INNER", 20_000, 1_000_000, "a > b AND (a + b) % 2 = 0"),
)

# Few matches: S1 needs every pair looked at, S2 and S3 do not. S3 stands last: Spark's own full
# outer join cannot be cancelled, so the time limit costs a new Spark session there.
SELECTIVE = (
    Query("S1", "INNER", 30_000, 30_000, "(a + b) % 1000 = 0", target=0.7),
    Query("S2", "INNER", 200_000, 1_000_000, "a > b + 199000", target=0.4),
    Query("S3", "FULL", 200_000, 200_000, "a - b > 199900", target=0.5),
)

QUERIES = DATAFUSION + PIECEWISE + SELECTIVE
