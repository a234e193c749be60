"""What a query must give, found without Spark: by loops in Python, and by DuckDB."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
from queries import Query, Row
from values import Table, Type

Rows = Counter[tuple["int | None", ...]]


def whole_numbers(rows: Counter[str]) -> Rows:
    """Rows of whole numbers from the bytes of Spark's rows: words in hex, the first of them the null bits."""

    def decode(row: str) -> tuple[int | None, ...]:
        nulls, *words = (int(word, 16) for word in row.split(","))
        signed = [word - (word >> 63 << 64) for word in words]
        return tuple(None if nulls >> i & 1 else word for i, word in enumerate(signed))

    return Counter({decode(row): count for row, count in rows.items()})


def brute_force(query: Query, left: Table, right: Table) -> Rows | None:
    """Every row meets every row. None if the query holds something that Python does not decide."""
    truths = [c.holds for c in query.conjuncts]
    if not query.decided or None in truths:
        return None
    ls, rs = left.python(), right.python()
    matches = [
        (i, j)
        for i, l in enumerate(ls)  # noqa: E741
        for j, r in enumerate(rs)
        if all(holds(l, r) is True for holds in truths if holds)
    ]
    lefts, rights = {i for i, _ in matches}, {j for _, j in matches}
    pairs: list[tuple[Row | None, Row | None]] = [(ls[i], rs[j]) for i, j in matches]
    if query.join in ("LEFT JOIN", "FULL JOIN"):
        pairs += [(l, None) for i, l in enumerate(ls) if i not in lefts]  # noqa: E741
    if query.join in ("RIGHT JOIN", "FULL JOIN"):
        pairs += [(None, r) for j, r in enumerate(rs) if j not in rights]
    if query.join == "IN":
        equal = {i for i, j in matches if ls[i]["n"] is not None and ls[i]["n"] == rs[j]["n"]}
        return Counter((l["id"],) for i, l in enumerate(ls) if i in equal)  # noqa: E741
    if query.join == "NOT IN":
        maybe = {
            i for i, j in matches if None in (ls[i]["n"], rs[j]["n"]) or ls[i]["n"] == rs[j]["n"]
        }
        return Counter((l["id"],) for i, l in enumerate(ls) if i not in maybe)  # noqa: E741
    if query.join == "MARK":
        return Counter((l["id"], int(i in lefts)) for i, l in enumerate(ls))  # noqa: E741
    if query.join == "MARK OR":
        return Counter((l["id"],) for i, l in enumerate(ls) if i in lefts or l["n"] == 1)  # noqa: E741
    if query.join in ("LEFT SEMI JOIN", "LEFT ANTI JOIN"):
        wanted = query.join == "LEFT SEMI JOIN"
        kept = [l for i, l in enumerate(ls) if (i in lefts) == wanted]  # noqa: E741
        if query.output == "ids":
            return Counter((l["id"],) for l in kept)  # noqa: E741
        return Counter([(len(kept), _sum(kept, "id"), _count(kept, "n"))])
    if query.output == "ids":
        return Counter((l and l["id"], r and r["id"]) for l, r in pairs)  # noqa: E741
    if query.grouped:
        of = ("l", "r").index(query.grouped[0])
        groups: dict[Any, list[Row]] = {}
        for pair in pairs:
            groups.setdefault((pair[of] or {}).get("id"), []).append(pair[1 - of] or {})
        return Counter(
            (key, len(rows), _sum(rows, "id"), _count(rows, "n"), _least(rows, "n"))
            for key, rows in groups.items()
        )
    ls_out, rs_out = [l or {} for l, _ in pairs], [r or {} for _, r in pairs]  # noqa: E741
    sums = (_sum(ls_out, "id"), _sum(rs_out, "id"), _count(ls_out, "n"), _count(rs_out, "n"))
    return Counter([(len(pairs), *sums)])


def _sum(rows: list[Row], column: str) -> int | None:
    values = [row[column] for row in rows if row.get(column) is not None]
    return sum(values) if values else None


def _least(rows: list[Row], column: str) -> int | None:
    return min((row[column] for row in rows if row.get(column) is not None), default=None)


def _count(rows: list[Row], column: str) -> int:
    return sum(row.get(column) is not None for row in rows)


class DuckDB:
    """The same tables and query in DuckDB."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 1})

    def load(self, *tables: Table) -> None:
        for table in tables:
            plain = Table(table.name, _known(table.x), _known(table.y), table.rows)
            self.connection.execute(
                f"CREATE OR REPLACE TABLE {table.name} AS {plain.sql(duckdb=True)}"
            )

    def rows(self, sql: str, portable: bool) -> Rows | None:
        """The whole numbers that a query gives; None if the two systems decide something in it differently."""
        if not portable:
            return None
        found: list[tuple[Any, ...]] = self.connection.execute(sql).fetchall()
        return Counter(tuple(None if v is None else int(v) for v in row) for row in found)


def _known(t: Type) -> Type:
    """The type, or text in its place if DuckDB has none like it."""
    return t if t.duckdb else Type("STRING", t.values, duckdb="VARCHAR")
