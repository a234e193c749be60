"""What a plan tells about the types of columns: schemas of scans, and casts in projections."""

from __future__ import annotations

import re
from collections.abc import Mapping

from thetajoin._advisor.condition import ConditionError, read
from thetajoin._advisor.plans import Node, split
from thetajoin._advisor.tree import Apply, Cast, Column, Tree
from thetajoin._advisor.types import RESULTS

_ATTRIBUTE = re.compile(r"([^\s,\[\]()]+)#(\d+)L?\b")
_NUMBER = re.compile(r"#(\d+)")
_SCHEMA = re.compile(r"ReadSchema: (struct<[^.]*>)(?=,|$)")
_ALIAS = re.compile(r"(.*) AS (\S+)#(\d+)L?", re.DOTALL)
_SAME = ("+", "*", "abs", "coalesce", "greatest", "least", "negative")


def numbers(node: Node) -> frozenset[int]:
    """The numbers of all columns that a part of a plan names.

    Below a reused exchange stands the plan of another part, with other numbers, and subqueries for
    partition pruning repeat the plan of the other side.
    """
    found: set[int] = set()
    ahead = [node]
    while ahead:
        part = ahead.pop()
        found.update(map(int, _NUMBER.findall(part.text)))
        if part.name != "ReusedExchange":
            ahead.extend(child for child in part.children if "Subquery" not in child.name)
    return frozenset(found)


def known_types(node: Node) -> dict[int, str]:
    """Types by the numbers of columns, as far as a part of a plan tells them."""
    found: dict[int, str] = {}
    definitions: dict[int, str] = {}
    for part in node.all():
        schema = fields(part.metadata.get("ReadSchema") or _schema_in(part.text))
        for name, number in _ATTRIBUTE.findall(part.text) if schema else ():
            if name in schema:
                found[int(number)] = schema[name]
        if part.text.startswith("Project ["):
            for item in split(part.text[len("Project [") : -1]):
                if alias := _ALIAS.fullmatch(item):
                    definitions[int(alias[3])] = alias[1]
    # A definition may name columns that are defined further down.
    for _ in definitions:
        before = len(found)
        for number, text in definitions.items():
            if number not in found and (told := _defined(text, found)):
                found[number] = told
        if len(found) == before:
            break
    return found


def fields(schema: str) -> dict[str, str]:
    """The types of a ``struct<a:int,b:array<string>>`` by its names; empty if it is none."""
    if not (schema.startswith("struct<") and schema.endswith(">")):
        return {}
    found, depth, start = {}, 0, 0
    inside = schema[len("struct<") : -1] + ","
    for at, char in enumerate(inside):
        depth += (char in "<(") - (char in ">)")
        if char == "," and depth == 0:
            name, _, kind = inside[start:at].partition(":")
            if kind:
                found[name] = kind
            start = at + 1
    return found


def _schema_in(text: str) -> str:
    match = _SCHEMA.search(text)
    return match[1] if match else ""


def _defined(text: str, found: Mapping[int, str]) -> str | None:
    try:
        return _type(read(text), found)
    except ConditionError:
        return None


def _type(tree: Tree, found: Mapping[int, str]) -> str | None:
    match tree:
        case Column():
            return "bigint" if tree.is_bigint else found.get(tree.number)
        case Cast():
            return tree.type
        case Apply() if tree.name in RESULTS:
            return RESULTS[tree.name]
        case Apply() if tree.name in _SAME or tree.name in ("array", "[]"):
            told = [t for child in tree.children if (t := _type(child, found)) is not None]
            if not told:
                return None
            if tree.name == "array":
                return f"array<{told[0]}>"
            if tree.name == "[]":
                return told[0][len("array<") : -1] if told[0].startswith("array<") else None
            return told[0]
        case _:
            return None
