"""Finds the joins in a plan of a log, with their sides, their metrics and their parts as text.

BroadcastNestedLoopJoin BuildRight, LeftOuter, ((at#1 >= started#2) AND (at#1 < ended#3))
CartesianProduct (x#1 > y#2)
SortMergeJoin(skew=true) [k#1], [k#2], Inner, (t#3 < u#4)
BroadcastHashJoin [k#1], [k#2], Inner, BuildLeft, (t#3 < u#4), false
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LOOPS = ("BroadcastNestedLoopJoin", "CartesianProduct")
HASHED = ("BroadcastHashJoin", "ShuffledHashJoin", "SortMergeJoin")
ROWS = "number of output rows"
_ROW_METRICS = (ROWS, "shuffle records written", "number of rows")
# Below these nodes another stage runs, or rows are read that were stored before.
_BOUNDARY = re.compile(r"Exchange|QueryStage|Subquery|InMemoryTableScan|CommandResult")
_JOIN = re.compile(rf"({'|'.join(LOOPS + HASHED)})\b(?:\(skew=true\))? ?(.*)", re.DOTALL)
_SIDES = ("BuildLeft", "BuildRight")
_TYPE = re.compile(r"\w+(\(\w+#\d+\))?")


@dataclass(frozen=True)
class Node:
    """A node of a plan as the log tells it."""

    name: str
    text: str
    metadata: dict[str, str]
    metrics: dict[str, int]
    """Ids of accumulators by the names of the metrics."""
    children: tuple[Node, ...]

    def all(self) -> Iterator[Node]:
        """This node and all below it."""
        ahead = [self]
        while ahead:
            node = ahead.pop()
            yield node
            ahead.extend(node.children)

    def rows(self, metrics: dict[int, int]) -> int | None:
        """Rows that came out of the node; None if no metric tells."""
        for name in _ROW_METRICS:
            if name in self.metrics:
                return metrics.get(self.metrics[name], 0)
        if self.name == "Union":
            counts = [child.rows(metrics) for child in self.children]
            return None if None in counts else sum(n for n in counts if n is not None)
        return self.children[0].rows(metrics) if len(self.children) == 1 else None


@dataclass(frozen=True)
class Join:
    """A join of a plan."""

    operator: str
    """The node, such as ``CartesianProduct``."""
    join_type: str
    """As Spark names it, such as ``LeftOuter``."""
    keys: tuple[tuple[str, str], ...]
    """The equality keys: an expression of the left and of the right side."""
    condition: str | None
    """The condition apart from the keys, in Catalyst's text; None if there is none."""
    node: Node
    left: Node
    right: Node
    pipeline: frozenset[int]
    """Accumulators of the nodes that run in the same stage."""

    @property
    def whole_condition(self) -> str | None:
        """Keys and condition in one text; None if all pairs match."""
        return self.whole(self.keys, self.condition)

    @staticmethod
    def whole(keys: tuple[tuple[str, str], ...], condition: str | None) -> str | None:
        """Keys and condition in one text; None if there are neither."""
        parts = [f"({left} = {right})" for left, right in keys]
        parts += [] if condition is None else [condition]
        while len(parts) > 1:
            last = parts.pop()
            parts[-1] = f"({parts[-1]} AND {last})"
        return parts[0] if parts else None


def node_of(info: dict[str, Any]) -> Node:
    """The tree of a ``sparkPlanInfo``."""
    return Node(
        name=info["nodeName"],
        text=info["simpleString"],
        metadata=info.get("metadata") or {},
        metrics={metric["name"]: metric["accumulatorId"] for metric in info["metrics"]},
        children=tuple(map(node_of, info["children"])),
    )


def joins(plan: Node) -> list[Join]:
    """All joins of a plan that have two sides, from the top down."""
    parents = {id(child): node for node in plan.all() for child in node.children}
    found = []
    for node in plan.all():
        parts = parse_join(node.text)
        if parts is not None and len(node.children) >= 2:
            left, right = node.children[:2]
            pipeline = frozenset(_pipeline(node, parents))
            found.append(Join(*parts, node, left, right, pipeline))
    return found


def parse_join(text: str) -> tuple[str, str, tuple[tuple[str, str], ...], str | None] | None:
    """Operator, join type, keys and condition; None if the text is of another node."""
    match = _JOIN.fullmatch(text.strip())
    if match is None:
        return None
    operator, parts = match[1], split(match[2])
    if operator == "CartesianProduct":
        return operator, "Inner", (), match[2] or None
    keys: tuple[tuple[str, str], ...] = ()
    if operator in HASHED:
        if len(parts) < 3 or not all(part.startswith("[") for part in parts[:2]):
            return None
        left, right = (split(part[1:-1]) for part in parts[:2])
        keys = tuple(zip(left, right, strict=False))
        parts = parts[2:]
        # Flags of the node stand last: one up to Spark 4.2, two from 4.3 on.
        while operator == "BroadcastHashJoin" and parts[-1] in ("true", "false"):
            parts.pop()
    rest = [part for n, part in enumerate(parts) if n > 1 or part not in _SIDES]
    if not rest or _TYPE.fullmatch(rest[0]) is None:
        return None
    return operator, rest[0], keys, ", ".join(rest[1:]) or None


def split(text: str) -> list[str]:
    """The parts between commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if depth == 0 and text.startswith(", ", at):
            parts.append(text[start:at])
            start = at + 2
    return [*parts, text[start:]] if text else []


def _pipeline(node: Node, parents: dict[int, Node]) -> Iterator[int]:
    top = node
    while (above := parents.get(id(top))) is not None and not _BOUNDARY.search(above.name):
        top = above
    ahead = [top]
    while ahead:
        current = ahead.pop()
        if not _BOUNDARY.search(current.name):
            yield from current.metrics.values()
            ahead.extend(current.children)
