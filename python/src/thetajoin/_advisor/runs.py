"""Which joins of an application to look at, and what they took.

- Every nested loop and every Cartesian product.
- A hash or sort-merge join with a condition next to its keys, if its stage took a second of task
  time or more, and `LEAST_ROW_SECONDS` for each row of its sides. A join with few pairs of a key is
  quicker than that by an order of magnitude.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from thetajoin._advisor.events import Application, Execution, Stage
from thetajoin._advisor.plans import LOOPS, ROWS, Join, joins, node_of

LEAST_SECONDS = 1.0
LEAST_ROW_SECONDS = 1e-5


@dataclass(frozen=True)
class Run:
    """A join that ran, with the figures of the log.

    Times are of the stages that ran the join. If several joins of this list share a stage, its
    times are divided among them.
    """

    execution_id: int
    description: str
    join: Join
    left_rows: int | None
    right_rows: int | None
    output_rows: int
    stages: tuple[int, ...]
    seconds: float
    """From the stages' submission to their completion."""
    task_seconds: float
    """Run time of their tasks, summed over all cores."""
    memory_spilled_bytes: int
    disk_spilled_bytes: int
    finished: bool
    """Whether the query ended well. If not, rows and times are of the tasks that did."""

    @property
    def pairs(self) -> int | None:
        """Left rows times right rows for a loop; None where the log does not tell them."""
        if self.join.operator not in LOOPS or self.left_rows is None or self.right_rows is None:
            return None
        return self.left_rows * self.right_rows


def find(application: Application) -> list[Run]:
    """The joins to look at. A join that several queries share, as of a cached table, is once."""
    by_accumulator: dict[int, list[Stage]] = defaultdict(list)
    for stage in application.stages:
        for accumulator in stage.accumulators:
            by_accumulator[accumulator].append(stage)
    found: list[Run] = []
    seen: set[int] = set()
    for execution in application.executions.values():
        for join in joins(node_of(execution.plan)) if execution.plan is not None else ():
            own = join.node.metrics.get(ROWS)
            if own is None or own in seen:
                continue
            seen.add(own)
            stages = by_accumulator.get(own) or _unique(
                stage for number in join.pipeline for stage in by_accumulator.get(number, ())
            )
            run = _run(application, execution, join, stages)
            if _to_look_at(run):
                found.append(run)
    return _shared(found)


def _run(application: Application, execution: Execution, join: Join, stages: list[Stage]) -> Run:
    metrics = application.metrics
    return Run(
        execution_id=execution.execution_id,
        description=execution.description,
        join=join,
        left_rows=join.left.rows(metrics),
        right_rows=join.right.rows(metrics),
        output_rows=metrics.get(join.node.metrics[ROWS], 0),
        stages=tuple(sorted({stage.stage_id for stage in stages})),
        seconds=sum(stage.completed - stage.submitted for stage in stages),
        task_seconds=sum(stage.task_seconds for stage in stages),
        memory_spilled_bytes=sum(stage.memory_spilled_bytes for stage in stages),
        disk_spilled_bytes=sum(stage.disk_spilled_bytes for stage in stages),
        finished=execution.ended is not None and not execution.failed,
    )


def _to_look_at(run: Run) -> bool:
    if run.join.operator in LOOPS:
        return bool(run.stages) or not run.finished
    rows = (run.left_rows or 0) + (run.right_rows or 0)
    least = max(LEAST_SECONDS, rows * LEAST_ROW_SECONDS)
    return run.join.condition is not None and run.task_seconds >= least


def _shared(runs: list[Run]) -> list[Run]:
    """The same runs, with the times of stages that have several of them divided.

    They are divided by pairs, or evenly if the pairs of one are not known.
    """
    groups: dict[tuple[int, ...], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.stages or (-1, len(groups))].append(run)
    found = []
    for group in groups.values():
        pairs = [run.pairs for run in group]
        known = [p for p in pairs if p is not None]
        whole = sum(known) if len(known) == len(group) else 0
        for run, own in zip(group, pairs, strict=True):
            share = own / whole if whole and own is not None else 1 / len(group)
            found.append(
                replace(run, seconds=run.seconds * share, task_seconds=run.task_seconds * share)
            )
    return found


def _unique(stages: Iterable[Stage]) -> list[Stage]:
    return list({(stage.stage_id, stage.attempt): stage for stage in stages}.values())
