"""Random joins of two random tables give the same bag of rows with the extension on and off.

Three oracles: Spark with the extension off, for every query; DuckDB, for what both systems define
alike; loops in Python, for whole numbers.
"""

from __future__ import annotations

import re

from comparison import Budget, Case, Comparison, nested_loop
from differential import Outcome
from hypothesis import strategies as st
from oracles import Rows, brute_force
from pyspark.sql import SparkSession
from queries import Query, joins
from values import FAMILIES, tables

BOUNDED = {"interval", "boxes"}


@st.composite
def cases(draw: st.DrawFn, version: tuple[int, ...]) -> Case[Query]:
    known = [f for f in FAMILIES if all(t.since <= version for t in f.types)]
    one = draw(st.sampled_from(known))
    families = (one, draw(st.one_of(st.just(one), st.sampled_from(known))))
    xs, ys = (draw(st.tuples(*[st.sampled_from(f.types)] * 2)) for f in families)
    left = draw(tables("l", xs[0], ys[0]))
    right = draw(tables("r", xs[1], ys[1]))
    at_least = draw(st.sampled_from((1, 4, 8)))
    drawn = draw(st.lists(joins(families, left, right), min_size=at_least, max_size=14))
    return Case((left, right), drawn, any(query.reads_files for query in drawn))


HASH_JOIN = re.compile(r"BroadcastHashJoin|ShuffledHashJoin|SortMergeJoin")

EQUAL_KEYS = re.compile(
    r"(?:HashJoin|SortMergeJoin) (\[.*\]), (?:Inner|Cross|Left|Right|Full|Exist)"
)


def equal_keys(plan: str) -> str | None:
    """The keys of the hash or sort-merge join, without the numbers of the columns."""
    found = EQUAL_KEYS.search(plan)
    return found and re.sub(r"#\d+L?", "", found[1])


class TwoTables(Comparison[Query]):
    def plan(self, query: Query, off: Outcome, on: Outcome) -> str | None:
        """Where Spark alone has a nested loop, there must be an accelerator; an index where one serves."""
        ids = {node.accelerator for node in on.nodes}
        self.covered["aggregated"] += "aggregated: [" in on.plan
        if query.block:
            self.covered["by ranges"] += "range_of(" in on.plan
            self.covered["in blocks"] += "BlockThetaJoin" in on.plan
            self.covered["by few"] += "Sieve [" in on.plan
            # A rule may find an equality that Spark did not see.
            is_ours = ids or HASH_JOIN.search(on.plan)
            lacks = nested_loop(off.plan) and (not is_ours or nested_loop(on.plan))
            return f"a large join is not ours:\n{on.plan}" if lacks else None
        # A rule may find an equality that Spark did not see.
        key = None if nested_loop(on.plan) else equal_keys(on.plan)
        if not ids and key and key != equal_keys(off.plan):
            return None
        loop = nested_loop(off.plan)
        others = {"containment", "wildcard", "patterns", "vector", "similar", "anyof"}
        if loop and (not ids or (query.indexed and not ids <= ({"piecewise"} | BOUNDED | others))):
            return f"not accelerated as it must be:\n{on.plan}"
        hash_join = HASH_JOIN.search(off.plan)
        if hash_join and query.equal and not ids & ({"existence"} | BOUNDED | others):
            return f"not accelerated as it must be:\n{on.plan}"
        if query.ranged and (loop or hash_join) and not ids & (BOUNDED | others):
            return f"not accelerated as it must be:\n{on.plan}"
        return None

    def peers(self, query: Query, case: Case[Query]) -> dict[str, Rows | None]:
        loops = brute_force(query, *case.tables)
        return {"loops": loops, "DuckDB": self.duckdb.rows(query.sql(True), query.portable)}


def test_random_joins(spark: SparkSession, budget: Budget) -> None:
    TwoTables(spark, budget).search(cases)
