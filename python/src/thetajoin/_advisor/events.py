"""Reads from the events of a log what is told about queries: plans, stages, and their metrics.

A stage's own event holds the sums over its tasks, so that the events of tasks, nearly all of a
log, are not read.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

SQL_EVENTS = "org.apache.spark.sql.execution.ui."
OF_STAGE = "internal.metrics."
RUN_TIME = f"{OF_STAGE}executorRunTime"
MEMORY_SPILLED = f"{OF_STAGE}memoryBytesSpilled"
DISK_SPILLED = f"{OF_STAGE}diskBytesSpilled"


@dataclass(frozen=True)
class Stage:
    """One attempt of a stage that has ended."""

    stage_id: int
    attempt: int
    submitted: float
    """Seconds since 1970."""
    completed: float
    """Seconds since 1970."""
    task_seconds: float
    """Run time of all its tasks together."""
    memory_spilled_bytes: int
    disk_spilled_bytes: int
    accumulators: frozenset[int]
    """The metrics that its tasks updated."""
    failed: bool


@dataclass
class Execution:
    """One run of a query."""

    execution_id: int
    description: str
    plan: dict[str, Any] | None
    """The tree of nodes, as adaptive execution left it; None if it has no join."""
    started: float
    ended: float | None = None
    failed: bool = False


@dataclass
class Application:
    """What a log tells about one application."""

    app_id: str = ""
    name: str = ""
    spark_version: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    executions: dict[int, Execution] = field(default_factory=dict)
    stages: list[Stage] = field(default_factory=list)
    metrics: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """Values by the ids of accumulators: the sums over all tasks and the driver."""
    events: int = 0
    """Events that were read; none if the file is no event log."""
    unread_lines: int = 0
    """Lines with such an event that are no JSON, or too deeply nested."""


def read(lines: Iterable[bytes]) -> Application:
    """What the lines of a log tell.

    Lines that are no JSON are counted: the last line of a log that was cut off is one.
    """
    application = Application()
    of_tasks: dict[int, int] = {}
    for line in lines:
        handler = _HANDLERS.get(_event(line))
        if handler is None:
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            application.unread_lines += 1
            continue
        application.events += 1
        handler(application, event, of_tasks)
    for accumulator, value in of_tasks.items():
        application.metrics[accumulator] += value
    return application


def _event(line: bytes) -> str:
    """The event's name, which stands first in its line."""
    start = line.find(b'"Event":"', 0, 20)
    if start < 0:
        return ""
    start += len(b'"Event":"')
    return line[start : line.find(b'"', start)].decode(errors="replace").removeprefix(SQL_EVENTS)


def _started(application: Application, event: dict[str, Any], _: dict[int, int]) -> None:
    application.app_id = event.get("App ID") or application.app_id
    application.name = event.get("App Name", "")


def _log_started(application: Application, event: dict[str, Any], _: dict[int, int]) -> None:
    application.spark_version = event.get("Spark Version", "")


def _environment(application: Application, event: dict[str, Any], _: dict[int, int]) -> None:
    application.properties.update(event.get("Spark Properties", {}))


def _query_started(application: Application, event: dict[str, Any], _: dict[int, int]) -> None:
    number = event["executionId"]
    application.executions[number] = Execution(
        execution_id=number,
        description=event.get("description", ""),
        plan=_with_join(event["sparkPlanInfo"]),
        started=event.get("time", 0) / 1000,
    )


def _query_replanned(application: Application, event: dict[str, Any], _: dict[int, int]) -> None:
    execution = application.executions.get(event["executionId"])
    if execution is not None:
        execution.plan = _with_join(event["sparkPlanInfo"])


def _query_ended(application: Application, event: dict[str, Any], _: dict[int, int]) -> None:
    execution = application.executions.get(event["executionId"])
    if execution is not None:
        execution.ended = event.get("time", 0) / 1000
        execution.failed = bool(event.get("errorMessage"))


def _driver_metrics(application: Application, event: dict[str, Any], _: dict[int, int]) -> None:
    for accumulator, value in event["accumUpdates"]:
        application.metrics[accumulator] += value


def _stage_completed(
    application: Application, event: dict[str, Any], of_tasks: dict[int, int]
) -> None:
    info = event["Stage Info"]
    own: dict[str, int] = {}
    updated = set()
    for accumulable in info.get("Accumulables", ()):
        value = _number(accumulable.get("Value"))
        if value is None:
            continue
        name = accumulable.get("Name") or ""
        if name.startswith(OF_STAGE):
            own[name] = value
        else:
            updated.add(accumulable["ID"])
            # The sum over all stages so far, so that the last one holds it all.
            of_tasks[accumulable["ID"]] = max(value, of_tasks.get(accumulable["ID"], value))
    application.stages.append(
        Stage(
            stage_id=info["Stage ID"],
            attempt=info.get("Stage Attempt ID", 0),
            submitted=(info.get("Submission Time") or 0) / 1000,
            completed=(info.get("Completion Time") or info.get("Submission Time") or 0) / 1000,
            task_seconds=own.get(RUN_TIME, 0) / 1000,
            memory_spilled_bytes=own.get(MEMORY_SPILLED, 0),
            disk_spilled_bytes=own.get(DISK_SPILLED, 0),
            accumulators=frozenset(updated),
            failed="Failure Reason" in info,
        )
    )


def _number(value: object) -> int | None:
    try:
        return int(value)  # type: ignore[call-overload, no-any-return]  # a number, or its digits
    except (TypeError, ValueError):
        return None


_JOIN = ("BroadcastNestedLoopJoin", "CartesianProduct", "SortMergeJoin", "HashJoin")


def _with_join(plan: dict[str, Any]) -> dict[str, Any] | None:
    """The plan if it has a join, so that the many others are not kept."""
    ahead = [plan]
    while ahead:
        node = ahead.pop()
        if any(name in node["nodeName"] for name in _JOIN):
            return plan
        ahead.extend(node["children"])
    return None


_HANDLERS = {
    "SparkListenerLogStart": _log_started,
    "SparkListenerApplicationStart": _started,
    "SparkListenerEnvironmentUpdate": _environment,
    "SparkListenerSQLExecutionStart": _query_started,
    "SparkListenerSQLAdaptiveExecutionUpdate": _query_replanned,
    "SparkListenerSQLExecutionEnd": _query_ended,
    "SparkListenerDriverAccumUpdates": _driver_metrics,
    "SparkListenerStageCompleted": _stage_completed,
}
