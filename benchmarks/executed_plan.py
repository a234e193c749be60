"""The join of a query that has run: its plan line, its metrics and the rows that reached it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession

THETA_JOIN = (
    "BroadcastThetaJoin",
    "ShuffledThetaJoin",
    "BlockThetaJoin",
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


class Executions:
    """Listens to a session, whose writes hand out neither their executed plan nor their rows."""

    def __init__(self, spark: SparkSession) -> None:
        self._bus = spark.sparkContext._jsc.sc().listenerBus()
        self._last: Any = None
        ensure_callback_server_started(spark.sparkContext._gateway)  # type: ignore[no-untyped-call]
        spark._jsparkSession.listenerManager().register(self)

    def last_plan(self) -> Any:
        """The executed plan of what ran last and did not fail."""
        self._bus.waitUntilEmpty()
        return self._last.executedPlan()

    def onSuccess(self, action: str, execution: Any, nanoseconds: int) -> None:  # noqa: N802
        """Called by Spark, some time after a query has run."""
        self._last = execution

    def onFailure(self, action: str, execution: Any, error: Any) -> None:  # noqa: N802
        """Called by Spark; whoever asked for the query has got the error."""

    class Java:
        """What py4j is to make of an object of this class."""

        implements = ("org.apache.spark.sql.util.QueryExecutionListener",)


def plan_of(frame: DataFrame) -> Any:
    """The executed plan of the very DataFrame that was collected."""
    return frame._jdf.queryExecution().executedPlan()


def rows_written(plan: Any) -> int:
    """The rows that an executed write has written."""
    return int(plan.commitProgress().get().numOutputRows())


def executed_join(plan: Any, joins: int = 1) -> ExecutedJoin:
    """The lowest of so many joins of an executed plan, each on the left side of the next."""
    found = [node for node in _nodes(plan) if _is_join(node)]
    if len(found) != joins:
        raise ValueError(f"expected {joins} joins, found {len(found)} in:\n{plan.toString()}")
    join = found[-1]
    left, right = (_rows_from(side) for side in _children(join))
    broadcast = sum(
        _metrics(node)["dataSize"] for node in _nodes(join) if "Broadcast" in _exchange(node)
    )
    return ExecutedJoin(join.simpleString(100).strip(), _metrics(join), left * right, broadcast)


def theta_joins(plan: Any) -> Iterator[str]:
    """Node and accelerator of each join of ours in a whole plan; a reused part counts once."""
    if plan.getClass().getSimpleName() in ("ReusedExchangeExec", "ReusedSubqueryExec"):
        return
    name, accelerator = f"{plan.simpleString(1)} -".replace(",", " ").split()[:2]
    if name in THETA_JOIN:
        yield f"{name} {accelerator}"
    subqueries = plan.subqueries()
    inner = [subqueries.apply(position) for position in range(subqueries.size())]
    for node in (*_children(plan), *inner):
        yield from theta_joins(node)


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
