"""The join of a query that has run: its plan line, its metrics and the rows that reached it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

THETA_JOIN = (
    "BroadcastThetaJoin",
    "ReplicatedThetaJoin",
    "ShuffledThetaJoin",
    "KeyShuffledThetaJoin",
)


@dataclass(frozen=True)
class ExecutedJoin:
    """A join node of an executed plan."""

    line: str
    metrics: dict[str, int]
    pairs: int
    broadcast_bytes: int

    @property
    def accelerated(self) -> bool:
        """Whether thetajoin ran this join."""
        return self.accelerator is not None

    @property
    def accelerator(self) -> str | None:
        """The id of the accelerator that ran this join; none if Spark ran it."""
        words = self.line.replace(",", " ").split()
        return words[1] if words[0] in THETA_JOIN else None


def executed_join(frame: DataFrame) -> ExecutedJoin:
    """The one join of a query; call it on the very DataFrame that was collected."""
    plan = _query_execution(frame).executedPlan()
    joins = [node for node in _nodes(plan) if _is_join(node)]
    if len(joins) != 1:
        raise ValueError(f"expected one join, found {len(joins)} in:\n{plan.toString()}")
    join = joins[0]
    left, right = (_rows_from(side) for side in _children(join))
    broadcast = sum(
        _metrics(node)["dataSize"] for node in _nodes(join) if "Broadcast" in _exchange(node)
    )
    return ExecutedJoin(join.simpleString(100).strip(), _metrics(join), left * right, broadcast)


def _query_execution(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution()


def _is_join(node: Any) -> bool:
    return any(word in node.nodeName() for word in ("Join", "CartesianProduct"))


def _exchange(node: Any) -> str:
    name = str(node.nodeName())
    return name if name.endswith("Exchange") else ""


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    for child in _children(plan):
        yield from _nodes(child)


def _children(plan: Any) -> list[Any]:
    """A node's inputs, seen through adaptive execution's wrappers, which hide them as leaves."""
    kind = plan.getClass().getSimpleName()
    if kind == "AdaptiveSparkPlanExec":
        return [plan.executedPlan()]
    if kind.endswith("QueryStageExec"):
        return [plan.plan()]
    if kind == "ReusedExchangeExec":
        return [plan.child()]
    children = plan.children()
    return [children.apply(position) for position in range(children.size())]


def _metrics(node: Any) -> dict[str, int]:
    entries = node.metrics().iterator()
    metrics = {}
    while entries.hasNext():
        entry = entries.next()
        metrics[str(entry._1())] = int(entry._2().value())
    return metrics


def _rows_from(plan: Any) -> int:
    """The rows that a node hands up: counted by the first node at or below it that counts rows."""
    counts = (_metrics(node).get("numOutputRows") for node in _nodes(plan))
    return next(count for count in counts if count is not None)
