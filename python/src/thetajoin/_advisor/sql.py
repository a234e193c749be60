"""Writes an expression that was read from a plan as SQL, and asks it of two made-up tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from thetajoin._advisor.tree import (
    BINARY,
    Apply,
    Cast,
    Column,
    Constant,
    Interval,
    Tree,
    columns,
)
from thetajoin._advisor.types import Key, key

JOIN_WORDS = {
    "Inner": "JOIN",
    "Cross": "JOIN",
    "LeftOuter": "LEFT JOIN",
    "RightOuter": "RIGHT JOIN",
    "FullOuter": "FULL JOIN",
    "LeftSemi": "LEFT SEMI JOIN",
    "LeftAnti": "LEFT ANTI JOIN",
}
MARK = "ExistenceJoin"


@dataclass(frozen=True)
class Side:
    """A side of a join: the numbers of its columns in the condition, and its rows in the log."""

    numbers: frozenset[int]
    rows: int


def names(tree: Tree) -> dict[int, str]:
    """A name for each column that no other has: its own, or with its number appended."""
    found = {column.number: column.name for column in columns(tree)}
    lower = [name.lower() for name in found.values()]
    return {
        number: name if lower.count(name.lower()) == 1 else f"{name}_{number}"
        for number, name in found.items()
    }


def expression(tree: Tree, named: Mapping[int, str], types: Mapping[Key, str]) -> str:
    """The expression as SQL.

    Parameters
    ----------
    named
        The SQL of each column by its number, such as ``l.`at```.
    types
        Types by `thetajoin._advisor.types.key`, which decide how constants are written.
    """

    def written(part: Tree) -> str:
        return expression(part, named, types)

    match tree:
        case Column():
            return named[tree.number]
        case Interval():
            return tree.text
        case Constant():
            return _constant(tree.text, types.get(key(tree), ""))
        case Cast():
            return f"{tree.function}({written(tree.child)} AS {tree.type})"
        case Apply():
            return _applied(tree.name, [written(child) for child in tree.children])


def query(join_type: str, condition: str, tables: tuple[str, str]) -> str:
    """A query with one join of the type; None of the columns matters but those of the condition."""
    left, right = tables
    if join_type.startswith(MARK):
        return f"SELECT EXISTS (SELECT 1 FROM {right} AS r WHERE {condition}) AS e FROM {left} AS l"
    return f"SELECT * FROM {left} AS l {JOIN_WORDS[join_type]} {right} AS r ON {condition}"


def table(side: Side, named: Mapping[int, str], types: Mapping[Key, str]) -> str:
    """A subquery with the side's columns and its number of rows, whose values nothing tells."""
    made = [
        f"get(CAST(array() AS ARRAY<{types[number]}>), CAST(id AS INT)) AS `{named[number]}`"
        for number in sorted(side.numbers)
    ]
    return f"(SELECT {', '.join(made) or 'id'} FROM range({max(side.rows, 1)}))"


def _applied(name: str, parts: list[str]) -> str:
    if name in BINARY and len(parts) == 2:
        return f"({parts[0]} {name} {parts[1]})"
    match name:
        case "NOT":
            return f"(NOT {parts[0]})"
        case "LIKE" | "RLIKE" | "ILIKE":
            return f"({parts[0]} {name} {parts[1]})"
        case "ESCAPE":
            return f"{parts[0][:-1]} ESCAPE {parts[1]})"
        case "IN":
            return f"({parts[0]} IN ({', '.join(parts[1:])}))"
        case "[]":
            return f"{parts[0]}[{parts[1]}]"
        case "CASE":
            pairs = zip(parts[::2], parts[1::2], strict=False)
            whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
            last = f" ELSE {parts[-1]}" if len(parts) % 2 else ""
            return f"CASE {whens}{last} END"
        case _ if name.startswith("."):
            return f"{parts[0]}.`{name[1:]}`"
        case _:
            return f"{name}({', '.join(parts)})"


_SUFFIXES = {"bigint": "L", "smallint": "S", "tinyint": "Y", "double": "D", "float": "F"}


def _constant(text: str, kind: str) -> str:
    if text == "null":
        return f"CAST(NULL AS {kind})" if kind else "NULL"
    if kind in ("int", "boolean", ""):
        return text
    if kind in ("date", "timestamp", "timestamp_ntz"):
        return f"{kind.upper()}'{text}'"
    if kind in _SUFFIXES:
        return f"{text}{_SUFFIXES[kind]}"
    if kind.startswith("decimal"):
        return f"{text}BD"
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
