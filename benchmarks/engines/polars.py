"""Polars on its streaming engine; in the other one, `join_where` would hold every pair in memory.

POLARS_MAX_THREADS, set for the process before Polars is imported, bounds the threads.
"""

from __future__ import annotations

import polars as pl

from benchmarks.engines import Answer, Runner, UnsupportedJoinError, summed
from benchmarks.queries import Query
from benchmarks.suites.aggregate import AggregateQuery
from benchmarks.suites.asof import AsOfQuery
from benchmarks.suites.containment import ElementsQuery
from benchmarks.suites.existence import ExistenceQuery
from benchmarks.suites.nlj import NestedLoopQuery
from benchmarks.suites.range import RangeQuery
from benchmarks.suites.text import AnyTextQuery, TextQuery
from benchmarks.tables import Range, Table


class PolarsRunner(Runner):
    """Runs queries on lazy frames."""

    def __init__(self) -> None:
        self._frames: dict[str, pl.LazyFrame] = {}
        self._written = 0

    def prepare(self, query: Query) -> None:
        """Make the frames."""
        self._frames = {table.name: _frame(table) for table in query.tables}

    def run(self, query: Query) -> Answer:
        """Collect the query's one row."""
        return self._collect(query).row(0)

    def write(self, query: Query) -> None:
        """Collect the rows."""
        self._written = self._collect(query).height

    def written(self) -> int:
        """As counted."""
        return self._written

    def read(self, scan: str) -> None:
        """Collect the scan's row for each table."""
        pl.SQLContext(self._frames).execute(summed(scan)).collect(engine="streaming")

    def _collect(self, query: Query) -> pl.DataFrame:
        """What becomes of the joined rows is said in SQL, the join itself is not."""
        frames = self._frames | {"pairs": self._joined(query)}
        sql = query.shaped(lambda columns: f"SELECT {columns} FROM pairs")
        return pl.SQLContext(frames).execute(sql).collect(engine="streaming")

    def _joined(self, query: Query) -> pl.LazyFrame:
        match query:
            case NestedLoopQuery():
                return self._nested_loop(query)
            case ExistenceQuery():
                return self._existence(query)
            case RangeQuery():
                return self._range(query)
            case AggregateQuery():
                return self._aggregate(query)
            case TextQuery() if query.extracted:
                return self._extracted(query)
            case ElementsQuery():
                return self._elements(query)
            case AsOfQuery():
                return self._as_of(query)
        raise TypeError(f"no Polars query for {query}")

    def _nested_loop(self, query: NestedLoopQuery) -> pl.LazyFrame:
        if query.join_type != "INNER":
            raise UnsupportedJoinError("Polars has no outer join on an inequality")
        left, right = self._sides(query)
        return left.join_where(right, pl.sql_expr(query.condition))

    def _existence(self, query: ExistenceQuery) -> pl.LazyFrame:
        if query.residual:
            raise UnsupportedJoinError("Polars has no existence join with an inequality")
        outer, inner = self._sides(query)
        if query.key:
            outer = outer.with_columns(pl.sql_expr(query.key).alias("k"))
        return outer.join(
            inner, on=query.columns, how="anti" if query.is_anti else "semi", maintain_order="none"
        )

    def _range(self, query: RangeQuery) -> pl.LazyFrame:
        if query.join_type != "INNER":
            raise UnsupportedJoinError("Polars has only inner joins on inequalities")
        left, right = self._sides(query)
        if query.sample:
            left = left.filter(pl.sql_expr(query.sample))
        return left.join_where(right, *map(pl.sql_expr, query.condition.conjuncts))

    def _aggregate(self, query: AggregateQuery) -> pl.LazyFrame:
        if query.join_type != "INNER":
            raise UnsupportedJoinError("Polars has only inner joins on inequalities")
        left, right = self._sides(query)
        pairs = left.join_where(right, *map(pl.sql_expr, query.condition.conjuncts))
        sums = pl.col(query.total).count().alias("n"), pl.col(query.total).sum().alias("total")
        if query.group is None:
            return pairs.select(*sums)
        return pairs.group_by(pl.col(query.group).alias("v")).agg(*sums)

    def _elements(self, query: ElementsQuery) -> pl.LazyFrame:
        if "Polars" in query.rewritten:
            return pl.SQLContext(self._frames).execute(query.rewritten["Polars"])
        left, right = self._sides(query)
        return left.join_where(right, pl.sql_expr(query.condition_of("Polars")))

    def _extracted(self, query: TextQuery) -> pl.LazyFrame:
        """By its Aho-Corasick automaton, which gives a string as often as a text has it."""
        left, right = self._sides(query)
        strings = right.select("pat").unique().collect()["pat"].to_list()
        if isinstance(query, AnyTextQuery):
            return left.filter(pl.col("txt").str.contains_any(strings)).select("v")
        extracted = pl.col("txt").str.extract_many(strings, overlapping=True)
        found = left.select("v", extracted.alias("pat")).explode("pat").unique()
        return found.join(right, on="pat")

    def _as_of(self, query: AsOfQuery) -> pl.LazyFrame:
        if query.nearest not in (None, 1):
            raise UnsupportedJoinError("Polars has no join with several nearest rows")
        left, right = self._sides(query)
        joined = left.sort("t").join_asof(
            right.sort("t2"),
            left_on="t",
            right_on="t2",
            by_left="sym" if query.keyed else None,
            by_right="sym2" if query.keyed else None,
            strategy="backward" if query.nearest is None else "nearest",
            tolerance=query.tolerance,
            check_sortedness=False,
        )
        return joined.filter(pl.col("w").is_not_null())

    def _sides(self, query: Query) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        left, right = query.sides
        return self._frames[left.name], self._frames[right.name]


def _frame(table: Table) -> pl.LazyFrame:
    if isinstance(table, Range):
        return pl.LazyFrame({table.column: pl.int_range(table.rows, eager=True)})
    return pl.scan_parquet(table.path)


def start(threads: int) -> dict[str, Runner]:
    """The engine by name; the environment has bounded its threads already."""
    if pl.thread_pool_size() != threads:
        raise RuntimeError(f"Polars has {pl.thread_pool_size()} threads, not {threads}")
    return {"Polars": PolarsRunner()}
