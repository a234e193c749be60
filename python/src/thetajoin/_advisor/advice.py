"""Puts together what a log tells of a join, what would serve it, and what that would save."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from thetajoin._advisor.columns import known_types, numbers
from thetajoin._advisor.condition import ConditionError, read
from thetajoin._advisor.estimate import Estimate, estimate
from thetajoin._advisor.events import Application
from thetajoin._advisor.events import read as read_events
from thetajoin._advisor.logs import find_logs, lines
from thetajoin._advisor.questions import Answer, Question, confs
from thetajoin._advisor.runs import Run, find
from thetajoin._advisor.sql import JOIN_WORDS, MARK
from thetajoin._advisor.tree import columns
from thetajoin.errors import AdviseError

ALL_PAIRS = "nestedloop"
_START_SECONDS, _QUESTION_SECONDS = 180, 20
_NUMBER = re.compile(r"#\d+L?")


@dataclass(frozen=True)
class Advice:
    """A join of a log, in all its runs. Rows, pairs, bytes and times are sums over the runs."""

    application_id: str
    application: str
    spark_version: str
    executions: tuple[int, ...]
    """Numbers of the queries, as in Spark's UI."""
    description: str
    operator: str
    join_type: str
    condition: str | None
    """Keys and condition as the plan prints them; None if there is none."""
    left_rows: int | None
    right_rows: int | None
    output_rows: int
    pairs: int | None
    """Pairs of rows that a loop compares, at most; None for other joins."""
    stages: tuple[int, ...]
    seconds: float
    """From the submission to the completion of the stages that ran the join."""
    task_seconds: float
    """Run time of their tasks, summed over all cores."""
    memory_spilled_bytes: int
    disk_spilled_bytes: int
    finished: bool
    answer: Answer
    estimate: Estimate | None

    @property
    def saved_seconds(self) -> float | None:
        """Seconds of the clock, if the tasks run on as many cores as before."""
        if self.estimate is None or not self.task_seconds:
            return None
        return self.seconds * self.estimate.saved_seconds / self.task_seconds

    def as_dict(self) -> dict[str, Any]:
        """What ``--json`` gives."""
        return {**asdict(self), "saved_seconds": self.saved_seconds}


Asker = Callable[[list[Question]], list[Answer]]


def advise(paths: list[Path], ask: Asker | None = None) -> list[Advice]:
    """Look at the joins of all logs that the paths name; the longest come first.

    Parameters
    ----------
    paths
        Files, folders of rolled logs, or folders of logs.
    ask
        Answers the questions; unless given, a session of Spark's does in a process of its own.

    Raises
    ------
    AdviseError
        If there is no log, or one can't be unpacked.
    """
    grouped: list[tuple[Application, list[Run]]] = []
    for application in _applications(find_logs(paths)):
        groups: dict[tuple[str, str, str], list[Run]] = defaultdict(list)
        for run in find(application):
            shape = _NUMBER.sub("", run.join.whole_condition or "")
            groups[run.join.operator, run.join.join_type, shape].append(run)
        grouped += [(application, runs) for runs in groups.values()]
    asked = [_question(application, _longest(runs)) for application, runs in grouped]
    answers = iter((ask or ask_spark)([q for q in asked if isinstance(q, Question)]))
    found = [
        _advice(application, runs, next(answers) if isinstance(q, Question) else q)
        for (application, runs), q in zip(grouped, asked, strict=True)
    ]
    return sorted(found, key=lambda a: a.task_seconds, reverse=True)


def _applications(logs: list[Path]) -> Iterator[Application]:
    """What the logs tell; what can't be read of them is noted on standard error."""
    read = 0
    for log in logs:
        application = read_events(lines(log))
        read += application.events
        if application.unread_lines:
            noun = "line is" if application.unread_lines == 1 else "lines are"
            print(
                f"{log}: {application.unread_lines} {noun} left out, cut off or damaged",
                file=sys.stderr,
            )
        if application.events:
            yield application
        else:
            print(f"{log}: no events of Spark's in it", file=sys.stderr)
    if not read:
        raise AdviseError(
            "None of the files is an event log.", hint="Look into spark.eventLog.dir."
        )


def ask_spark(questions: list[Question]) -> list[Answer]:
    """Answers from a session that is started for them, in order."""
    if not questions:
        return []
    if find_spec("pyspark") is None:
        return [_unasked("pip install 'pyspark>=4.0,<4.4' to have them asked")] * len(questions)
    command = [sys.executable, "-m", "thetajoin._advisor.questions"]
    asked = json.dumps([asdict(question) for question in questions])
    limit = _START_SECONDS + _QUESTION_SECONDS * len(questions)
    try:
        done = subprocess.run(
            command, input=asked, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return [_unasked(f"Spark gave no answer within {limit} s")] * len(questions)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        why = f"Spark failed: {last}. `python -m thetajoin doctor` says what to do"
        return [_unasked(why)] * len(questions)
    answers = json.loads(done.stdout.splitlines()[-1])
    lists = ("index", "residual")
    return [Answer(**{**a, **{name: tuple(a[name]) for name in lists}}) for a in answers]


def _unasked(why: str) -> Answer:
    return Answer(why_not=f"the accelerators were not asked: {why}")


def _longest(runs: list[Run]) -> Run:
    return max(runs, key=lambda run: run.task_seconds)


def _question(application: Application, run: Run) -> Question | Answer:
    """What to ask about a join, or why it need not or can't be asked."""
    join, condition = run.join, run.join.whole_condition
    if condition is None:
        return Answer(
            why_not="it has no condition, so every pair is a row of its result; if the query keeps "
            "the nearest rows of them, docs/top-k.md has a form that is served"
        )
    if join.join_type not in JOIN_WORDS and not join.join_type.startswith(MARK):
        return Answer(why_not=f"thetajoin leaves joins of type {join.join_type} to Spark")
    try:
        used = {column.number: column.name for column in columns(read(condition))}
    except ConditionError as error:
        return Answer(why_not=f"the condition can't be read: {error}")
    left, right = numbers(join.left), numbers(join.right)
    for number, name in used.items():
        if (number in left) == (number in right):
            return Answer(why_not=f"the plan does not tell of which side {name}#{number} is")
    return Question(
        join_type=join.join_type,
        condition=condition,
        left_numbers=tuple(sorted(left & used.keys())),
        left_rows=run.left_rows or 1,
        right_rows=run.right_rows or 1,
        types=known_types(join.left) | known_types(join.right),
        confs=confs(application.properties, application.spark_version),
    )


def _advice(application: Application, runs: list[Run], answer: Answer) -> Advice:
    run = _longest(runs)
    left, right = _sum([r.left_rows for r in runs]), _sum([r.right_rows for r in runs])
    pairs = _sum([r.pairs for r in runs])
    matches = sum(r.output_rows for r in runs)
    task_seconds = sum(r.task_seconds for r in runs)
    finished = all(r.finished for r in runs)
    saved = None
    told = finished and left is not None and right is not None and task_seconds > 0
    if told and answer.accelerator not in (None, ALL_PAIRS):
        build, probe = (left, right) if answer.build_side == "BuildLeft" else (right, left)
        saved = estimate(
            accelerator=str(answer.accelerator),
            task_seconds=task_seconds,
            pairs=pairs,
            build_rows=build or 0,
            probe_rows=probe or 0,
            matches=matches,
            has_residual=bool(answer.residual),
            runs=len(runs),
        )
    return Advice(
        application_id=application.app_id,
        application=application.name,
        spark_version=application.spark_version,
        executions=tuple(r.execution_id for r in runs),
        description=run.description,
        operator=run.join.operator,
        join_type=run.join.join_type,
        condition=run.join.whole_condition,
        left_rows=left,
        right_rows=right,
        output_rows=matches,
        pairs=pairs,
        stages=tuple(sorted({stage for r in runs for stage in r.stages})),
        seconds=sum(r.seconds for r in runs),
        task_seconds=task_seconds,
        memory_spilled_bytes=sum(r.memory_spilled_bytes for r in runs),
        disk_spilled_bytes=sum(r.disk_spilled_bytes for r in runs),
        finished=finished,
        answer=answer,
        estimate=saved,
    )


def _sum(counts: list[int | None]) -> int | None:
    return None if None in counts else sum(count for count in counts if count is not None)
