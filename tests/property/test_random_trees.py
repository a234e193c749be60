"""Random queries of many joins give the same bag of rows with the extension on and off, and as DuckDB does."""

from __future__ import annotations

from comparison import Budget, Case, Comparison, nested_loop
from differential import Outcome
from hypothesis import strategies as st
from oracles import Rows
from pyspark.sql import SparkSession
from trees import MOST_ROWS, TreeQuery, tree_queries
from values import FAMILIES, FOLDED, INTEGERS, Family, tables


@st.composite
def cases(draw: st.DrawFn, version: tuple[int, ...]) -> Case[TreeQuery]:
    # Of texts that are equal and not the same, an aggregate keeps one or the other.
    known = [
        f for f in FAMILIES if FOLDED not in f.types and all(t.since <= version for t in f.types)
    ]
    # Half of the cases are of whole numbers and plain comparisons, most of which DuckDB decides alike.
    one = draw(st.sampled_from((*[Family(INTEGERS)] * len(known), *known)))
    families = (one, draw(st.sampled_from((*[one] * len(known), *known))))
    leaves = draw(st.sampled_from((2, 2, 3, 3, 4, 5)))
    made = []
    for number in range(draw(st.integers(2, leaves))):
        x, y = (draw(st.sampled_from(family.types)) for family in families)
        made.append(draw(tables(f"t{number}", x, y, MOST_ROWS[leaves])))
    files = draw(st.integers(0, 3)) == 3
    queries = st.lists(tree_queries(made, families, files, leaves), min_size=1, max_size=6)
    return Case(made, draw(queries), files)


class ManyJoins(Comparison[TreeQuery]):
    def plan(self, query: TreeQuery, off: Outcome, on: Outcome) -> str | None:
        """Where Spark alone has a nested loop, there must be a join of ours, unless an inner join is too large."""
        self.covered["accelerated"] += bool(on.nodes)
        self.covered["several of ours"] += len(on.nodes) > 1
        of = (
            ""
            if query.any_size
            else r" \w+, (LeftOuter|RightOuter|FullOuter|LeftSemi|LeftAnti|Exist)"
        )
        # A rule may find an equality that Spark did not see.
        if nested_loop(off.plan, of) and not on.nodes and nested_loop(on.plan):
            return f"not accelerated as it must be:\n{on.plan}"
        return None

    def peers(self, query: TreeQuery, case: Case[TreeQuery]) -> dict[str, Rows | None]:
        return {"DuckDB": self.duckdb.rows(query.sql(True), query.portable)}


def test_random_trees(spark: SparkSession, budget: Budget) -> None:
    ManyJoins(spark, budget).search(cases)
    assert budget.covered["accelerated"], "no example had a join of ours"
