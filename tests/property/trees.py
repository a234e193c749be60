"""Random queries over several tables: joins in trees of any shape, and what may stand between and above them.

A relation is a query whose columns have names of their own: `a1_id, a1_x, a1_y, a1_n` for a first
reading of a table, `a2_id` and so on for the next. So relations nest as derived tables, and a
condition names its columns wherever it stands. Rows come in no order anywhere; values that are equal
and not the same (-0.0 and 0.0) are never chosen from by an aggregate.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from differential import ANSI, BROADCAST_LIMIT, MATRIX
from hypothesis import strategies as st
from queries import (
    BROADCAST_MAX,
    PARTITION_MAX,
    Condition,
    alternatives,
    between_sides,
    one_sided,
    residuals,
)
from values import FLOATS, Family, Table

COLUMNS = ("id", "x", "y", "n")
OUTER = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
SEMI = ("LEFT SEMI JOIN", "LEFT ANTI JOIN")
MEMBERSHIP = ("IN", "NOT IN")
EXISTENCE = (*SEMI, *MEMBERSHIP, "EXISTS", "NOT EXISTS", "MARK", "MARK OR")
SET_OPERATIONS = ("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
BETWEEN = ("filter", "distinct", "group", "total", "set", "set", "window", "scalar")
OUTPUTS = ("numbers", "all", "sums", "groups", "distinct", "limit")
WINDOWS = (
    "rank() OVER (PARTITION BY {a}_n ORDER BY {b}_id NULLS FIRST)",
    "dense_rank() OVER (ORDER BY {b}_n NULLS FIRST)",
    "count(*) OVER (PARTITION BY {a}_n)",
    "sum({b}_id) OVER (PARTITION BY {a}_n ORDER BY {b}_n NULLS FIRST)",
    "min({a}_n) OVER ()",
)
MOST_ROWS = {2: 40, 3: 18, 4: 9, 5: 6}  # of a table, by the number of tables that may meet

ANY_SIZE = "1024t"
# The first value of each is the default, or what the test of two tables has.
SETTINGS = {
    ANSI: ("true", "false"),
    BROADCAST_LIMIT: ("10m", "-1", "300b"),
    BROADCAST_MAX: (ANY_SIZE, ANY_SIZE, "256m", "200b"),
    PARTITION_MAX: ("128m", "100b", "0"),
    "spark.sql.exchange.reuse": ("true", "false"),
    "spark.sql.shuffle.partitions": ("2", "1", "3", "4", "5"),
    "spark.sql.adaptive.coalescePartitions.enabled": ("true", "false"),
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": ("64m", "100b"),
    "spark.sql.adaptive.skewJoin.enabled": ("true", "true", "false"),
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": ("256m", "1b"),
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": ("5.0", "1.0"),
    "spark.sql.adaptive.forceOptimizeSkewedJoin": ("false", "true"),
}


@dataclass(frozen=True)
class Relation:
    """A query as Spark and as DuckDB write it.

    `sides` are tables by the prefix of their columns, `numbers` further columns of whole numbers. `portable` says
    that DuckDB gives the same rows.
    """

    spark: str
    duckdb: str
    sides: tuple[Table, ...]
    numbers: tuple[str, ...] = ()
    portable: bool = True

    @property
    def columns(self) -> list[str]:
        sides = [f"{side.name}_{column}" for side in self.sides for column in COLUMNS]
        return [*sides, *self.numbers]

    @property
    def whole(self) -> list[str]:
        """The columns of whole numbers."""
        return [f"{side.name}_{column}" for side in self.sides for column in ("id", "n")] + [
            *self.numbers
        ]

    @property
    def told_apart_alike(self) -> bool:
        """Whether DuckDB tells its rows apart as Spark does."""
        return all(t.duckdb and t not in FLOATS for s in self.sides for t in (s.x, s.y))

    def within(self, text: str, **changes: object) -> Relation:
        """A query around this one, which stands where the text says {}."""
        around = replace(self, spark=text.replace("{}", self.spark), duckdb=text.replace("{}", self.duckdb))  # fmt: skip
        return replace(around, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class TreeQuery:
    """A query with the settings to run it under. DuckDB is asked if `portable`."""

    relation: Relation
    settings: dict[str, str]
    portable: bool

    def sql(self, duckdb: bool = False) -> str:
        return self.relation.duckdb if duckdb else self.relation.spark

    @property
    def any_size(self) -> bool:
        """Whether inner joins are ours whatever their estimated size is."""
        return self.settings[BROADCAST_MAX] == ANY_SIZE or self.settings[PARTITION_MAX] != "0"


class Trees:
    """Draws relations over some tables."""

    def __init__(
        self, draw: st.DrawFn, tables: Sequence[Table], families: tuple[Family, Family], files: bool
    ) -> None:
        self.draw, self.tables, self.families, self.files = draw, tables, families, files
        self.prefixes = map("a{}".format, itertools.count(1))

    def one_of(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def tree(self, leaves: int) -> Relation:
        """A relation in which as many tables meet."""
        if leaves == 1:
            relation = self.leaf()
        elif leaves % 2 == 0 and self.draw(st.integers(0, 4)) == 4:
            relation = self.joined_to_itself(self.tree(leaves // 2))
        else:
            left = self.draw(st.integers(1, leaves - 1))
            relation = self.join(self.tree(left), self.tree(leaves - left))
        if self.draw(st.integers(0, 3)) == 3:
            relation = self.between(relation, self.one_of(*BETWEEN))
        return relation

    def leaf(self) -> Relation:
        table = self.draw(st.sampled_from(self.tables))
        side = replace(table, name=next(self.prefixes))
        names = ", ".join(f"{column} AS {side.name}_{column}" for column in COLUMNS)
        hint = self.one_of("", "", "", "/*+ REPARTITION(3) */ ")
        file = "_file" if self.files and self.draw(st.booleans()) else ""
        return Relation(
            f"SELECT {hint}{names} FROM {table.name}{file}",
            f"SELECT {names} FROM {table.name}",
            (side,),
        )

    def joined_to_itself(self, relation: Relation) -> Relation:
        """Two references to one common table expression."""
        table = next(self.prefixes)
        sides = tuple(replace(side, name=next(self.prefixes)) for side in relation.sides)
        numbers = tuple(next(self.prefixes) for _ in relation.numbers)
        again = replace(relation, sides=sides, numbers=numbers)
        renamed = map("{} AS {}".format, relation.columns, again.columns)
        joined = self.join(
            relation.within(f"SELECT * FROM {table}"),
            again.within(f"SELECT {', '.join(renamed)} FROM {table}"),
        )
        return replace(
            joined,
            spark=f"WITH {table} AS ({relation.spark}) {joined.spark}",
            duckdb=f"WITH {table} AS ({relation.duckdb}) {joined.duckdb}",
        )

    def join(self, left: Relation, right: Relation) -> Relation:
        kind = self.one_of(*OUTER, *EXISTENCE)
        at_least = 0 if kind in MEMBERSHIP else 1
        conjuncts = self.draw(st.lists(self.conditions(left, right), min_size=at_least, max_size=3))
        condition = " AND ".join(c.sql for c in conjuncts) or "true"
        portable = left.portable and right.portable and all(c.portable for c in conjuncts)
        form = self.outer if kind in OUTER else self.existence
        return replace(form(kind, left, right, condition), portable=portable)

    def outer(self, kind: str, left: Relation, right: Relation, condition: str) -> Relation:
        l, r = next(self.prefixes), next(self.prefixes)  # noqa: E741
        hint = self.one_of("", "", f"/*+ BROADCAST({l}) */ ", f"/*+ BROADCAST({r}) */ ")
        sides, numbers = left.sides + right.sides, left.numbers + right.numbers
        form = "SELECT {}* FROM ({}) AS {} {} ({}) AS {} ON {}".format
        spark = form(hint, left.spark, l, kind, right.spark, r, condition)
        duckdb = form("", left.duckdb, l, kind, right.duckdb, r, condition)
        return Relation(spark, duckdb, sides, numbers)

    def existence(self, kind: str, left: Relation, right: Relation, condition: str) -> Relation:
        """Rows of the left by whether, or with a column that says whether, they have a match."""
        l, r, mark = (next(self.prefixes) for _ in range(3))  # noqa: E741
        member, members = f"{self.side(left).name}_n", f"{self.side(right).name}_n"
        matches = f"FROM ({right.spark}) AS {r} WHERE {condition}"
        if kind in MEMBERSHIP:
            asked = f"{member} {kind} (SELECT {members} {matches})"
        else:
            asked = f"{'NOT ' * (kind == 'NOT EXISTS')}EXISTS (SELECT 1 {matches})"
        # DuckDB 2.0 forgets matches of a semi join on inequalities beside another predicate: it is to count them.
        equal = {
            "IN": f" AND {member} = {members}",
            "NOT IN": f" AND coalesce({member} = {members}, true)",
        }
        counted = f"FROM ({right.duckdb}) AS {r} WHERE {condition}{equal.get(kind, '')}"
        wanted = "= 0" if kind in ("LEFT ANTI JOIN", "NOT EXISTS", "NOT IN") else "> 0"
        counted = f"(SELECT count(*) {counted}) {wanted}"
        form, numbers = f"SELECT * FROM ({{}}) AS {l} WHERE {{}}", left.numbers
        if kind == "MARK":
            form = f"SELECT *, CASE WHEN {{1}} THEN 1 ELSE 0 END AS {mark} FROM ({{0}}) AS {l}"
            numbers += (mark,)
        elif kind == "MARK OR":
            form += f" OR {member} = 1"
        spark = form.format(left.spark, asked)
        if kind in SEMI:
            spark = (
                f"SELECT * FROM ({left.spark}) AS {l} {kind} ({right.spark}) AS {r} ON {condition}"
            )
        return Relation(spark, form.format(left.duckdb, counted), left.sides, numbers)

    def side(self, relation: Relation) -> Table:
        return self.draw(st.sampled_from(relation.sides))

    def conditions(self, left: Relation, right: Relation) -> st.SearchStrategy[Condition]:
        """Predicates over a table of the left and a table of the right; some over one of them."""

        @st.composite
        def drawn(draw: st.DrawFn) -> Condition:
            l, r = (draw(st.sampled_from(relation.sides)) for relation in (left, right))  # noqa: E741
            pairs = between_sides(self.families, l, r, equal=1)
            pair = st.one_of(*pairs, residuals())
            parts = (*[pair] * 5, one_sided(), alternatives(pair))
            return _renamed(draw(st.one_of(*parts)), l.name, r.name)

        return drawn()

    def filter(self, relation: Relation) -> str:
        name = self.side(relation).name
        return _renamed(self.draw(one_sided()), name, name).sql

    def between(self, relation: Relation, kind: str) -> Relation:
        """An operator above a relation."""
        a, b, new = self.side(relation), self.side(relation), next(self.prefixes)
        alike = relation.portable and relation.told_apart_alike

        def aggregated(id: str, x: str, y: str, by: str = "") -> Relation:
            """A side like one of the relation's, of these expressions."""
            columns = (
                f"{id} AS {new}_id, {x} AS {new}_x, {y} AS {new}_y, max({b.name}_n) AS {new}_n"
            )
            return relation.within(
                f"SELECT {columns} FROM ({{}}) AS {new}{by}",
                sides=(replace(a, name=new),),
                numbers=(),
                portable=alike,
            )

        if kind == "filter":
            return relation.within(f"SELECT * FROM ({{}}) AS {new} WHERE {self.filter(relation)}")
        if kind == "distinct":
            return relation.within(f"SELECT DISTINCT * FROM ({{}}) AS {new}", portable=alike)
        if kind == "group":
            x, y = f"{a.name}_x", f"{a.name}_y"
            return aggregated(f"min({a.name}_id)", x, y, f" GROUP BY {x}, {y}")
        if kind == "total" and not {a.x, a.y} & set(FLOATS):
            return aggregated("count(*)", f"max({a.name}_x)", f"max({a.name}_y)")
        if kind == "set":
            operation = self.one_of(*SET_OPERATIONS)
            parts = [f"SELECT * FROM {{}} AS {new} WHERE {self.filter(relation)}" for _ in range(2)]
            both = f" {operation} ".join(parts)
            if self.draw(st.booleans()):
                name = next(self.prefixes)
                both = f"WITH {name} AS ({{}}) " + both.replace("{}", name)
            else:
                both = both.replace("{}", "({})")
            return relation.within(both, portable=alike or (relation.portable and operation == "UNION ALL"))  # fmt: skip
        if kind == "window":
            window = self.one_of(*WINDOWS).format(a=a.name, b=b.name)
            return relation.within(
                f"SELECT *, {window} AS {new} FROM ({{}}) AS {next(self.prefixes)}",
                numbers=(*relation.numbers, new),
            )
        if kind == "scalar":
            other = self.join(self.leaf(), self.leaf())
            most = f"(SELECT max({self.side(other).name}_n) FROM ({{}}) AS {new})"
            form = f"SELECT * FROM ({{left}}) AS {next(self.prefixes)} WHERE {a.name}_n <= {{most}}"
            return replace(
                relation,
                spark=form.format(left=relation.spark, most=most.format(other.spark)),
                duckdb=form.format(left=relation.duckdb, most=most.format(other.duckdb)),
                portable=relation.portable and other.portable,
            )
        return relation

    def output(self, relation: Relation, kind: str) -> Relation:
        """What is selected in the end. All but `all` are whole numbers."""
        around = f"FROM ({{}}) AS {next(self.prefixes)}"
        whole, names = ", ".join(relation.whole), [side.name for side in relation.sides]
        sums = ", ".join(f"sum({name}_id), count({name}_x)" for name in names)
        if kind == "all":
            return relation.within(f"SELECT * {around}", portable=False)
        if kind == "sums":
            return relation.within(f"SELECT count(*), {sums} {around}")
        if kind == "groups":
            key = f"{self.side(relation).name}_n"
            return relation.within(f"SELECT {key}, count(*), {sums} {around} GROUP BY {key}")
        if kind == "distinct":
            return relation.within(f"SELECT DISTINCT {whole} {around}")
        if kind == "limit":
            order = ", ".join(f"{column} NULLS FIRST" for column in relation.whole)
            limit = self.draw(st.integers(1, 9))
            return relation.within(f"SELECT {whole} {around} ORDER BY {order} LIMIT {limit}")
        return relation.within(f"SELECT {whole} {around}")


def _renamed(condition: Condition, l: str, r: str) -> Condition:  # noqa: E741
    """The condition with the columns of two sides in place of those of `l` and `r`."""
    names = {"l": l, "r": r}
    sql = re.sub(r"\b([lr])\.(id|x|y|n)\b", lambda m: f"{names[m[1]]}_{m[2]}", condition.sql)
    return replace(condition, sql=sql)


@st.composite
def tree_queries(
    draw: st.DrawFn,
    tables: Sequence[Table],
    families: tuple[Family, Family],
    files: bool,
    leaves: int,
) -> TreeQuery:
    """A query in which as many of the tables meet; with `files`, some are read from files."""
    trees = Trees(draw, tables, families, files)
    relation = trees.output(trees.tree(leaves), draw(st.sampled_from(OUTPUTS)))
    drawn = {key: draw(st.sampled_from(values)) for key, values in SETTINGS.items()}
    config = draw(st.sampled_from(("codegen-aqe", *MATRIX)))
    return TreeQuery(relation, {**MATRIX[config], **drawn}, relation.portable)
