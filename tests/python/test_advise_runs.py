"""Which joins of a log are looked at, and how rows and times are ascribed to them: made-up events."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import thetajoin
from thetajoin._advisor import events
from thetajoin._advisor.advice import Advice, advise
from thetajoin._advisor.questions import Answer, Question
from thetajoin._advisor.runs import Run, find
from thetajoin._advisor.text import report

SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQL"
LOOP = "BroadcastNestedLoopJoin BuildRight, {type}, (a#{id}L > b#9L)"
HASH = "SortMergeJoin [k#1], [k#2], Inner, (a#3L > b#9L)"


def node(text: str, rows: int | None = None, *children: dict[str, Any]) -> dict[str, Any]:
    """A node whose metric of rows has the accumulator that is given."""
    metrics = [] if rows is None else [{"name": "number of output rows", "accumulatorId": rows}]
    return {
        "nodeName": text.split()[0],
        "simpleString": text,
        "children": list(children),
        "metrics": metrics,
    }


def join(text: str, out: int, left: int, right: int) -> dict[str, Any]:
    broadcast = node("BroadcastExchange", right, node("Range [b#9L, k#2]"))
    return node(
        text, out, node("Project", None, node("Range [a#1L, a#2L, a#3L, k#1]", left)), broadcast
    )


def query(
    number: int, plan: dict[str, Any], *, end: bool = True, error: str = ""
) -> list[dict[str, Any]]:
    start = {
        "Event": f"{SQL}ExecutionStart",
        "executionId": number,
        "description": f"query {number}",
        "sparkPlanInfo": plan,
        "time": 0,
    }
    ended = {
        "Event": f"{SQL}ExecutionEnd",
        "executionId": number,
        "time": 1000,
        "errorMessage": error,
    }
    return [start, ended] if end else [start]


def stage(
    number: int, run_seconds: float, rows: dict[int, int], seconds: float = 10
) -> dict[str, Any]:
    """A stage with the values of accumulators after it."""
    values = [{"ID": i, "Name": "number of output rows", "Value": str(n)} for i, n in rows.items()]
    own = {"ID": 1000 + number, "Name": events.RUN_TIME, "Value": int(run_seconds * 1000)}
    info = {
        "Stage ID": number,
        "Submission Time": 0,
        "Completion Time": int(seconds * 1000),
        "Accumulables": [*values, own],
    }
    return {"Event": "SparkListenerStageCompleted", "Stage Info": info}


def lines(told: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(event, separators=(",", ":")).encode() for event in told]


def runs(*told: dict[str, Any]) -> list[Run]:
    return find(events.read(lines(list(told))))


def advice(folder: Path, *told: dict[str, Any], answer: Answer) -> list[Advice]:
    (folder / "app").write_bytes(b"\n".join(lines(list(told))))
    return advise([folder / "app"], lambda questions: [answer] * len(questions))


def loop(out: int, left: int, right: int, kind: str = "Inner", id: int = 1) -> dict[str, Any]:
    return join(LOOP.format(type=kind, id=id), out, left, right)


def test_rows_and_times_are_those_of_the_joins_own_nodes_and_stage() -> None:
    (run,) = runs(
        *query(0, loop(10, 11, 12)),
        stage(4, 1.5, {12: 20}, seconds=1),
        stage(5, 36, {10: 7, 11: 3000}, seconds=20),
    )
    assert (run.left_rows, run.right_rows, run.output_rows, run.pairs) == (3000, 20, 7, 60000)
    assert (run.stages, run.seconds, run.task_seconds, run.finished) == ((5,), 20, 36, True)


def test_a_loop_without_rows_is_found_by_the_nodes_of_its_stage() -> None:
    (run,) = runs(*query(0, loop(10, 11, 12)), stage(5, 36, {11: 3000}), stage(4, 1, {12: 20}))
    assert (run.output_rows, run.stages) == (0, (5,))


def test_a_loop_that_never_ran_is_left_out_unless_its_query_did_not_end() -> None:
    assert runs(*query(0, loop(10, 11, 12))) == []
    (killed,) = runs(*query(0, loop(10, 11, 12), end=False))
    assert (killed.finished, killed.stages, killed.task_seconds) == (False, (), 0)
    (failed,) = runs(*query(0, loop(10, 11, 12), error="Job aborted"), stage(5, 9, {11: 30}))
    assert (failed.finished, failed.task_seconds) == (False, 9)


def test_the_last_plan_of_a_query_counts() -> None:
    start, end = query(0, loop(10, 11, 12))
    replanned = {
        "Event": f"{SQL}AdaptiveExecutionUpdate",
        "executionId": 0,
        "sparkPlanInfo": loop(20, 21, 22),
    }
    (run,) = runs(start, replanned, end, stage(5, 3, {20: 4, 10: 99}))
    assert run.output_rows == 4
    unjoined = {**replanned, "sparkPlanInfo": node("LocalTableScan")}
    assert runs(start, unjoined, end, stage(5, 3, {10: 99})) == []


def test_joins_of_one_stage_share_its_time_by_their_pairs() -> None:
    plan = node("Union", None, loop(10, 11, 12), loop(20, 21, 22))
    rows = {10: 1, 11: 300, 12: 10, 20: 1, 21: 100, 22: 10}
    found = runs(*query(0, plan), stage(5, 40, rows, seconds=20))
    assert {run.pairs: (run.task_seconds, run.seconds) for run in found} == {
        3000: (30, 15),
        1000: (10, 5),
    }


def test_a_join_that_several_queries_read_from_a_cache_is_once() -> None:
    plan = loop(10, 11, 12)
    assert len(runs(*query(0, plan), *query(1, plan), stage(5, 3, {10: 4}))) == 1


@pytest.mark.parametrize(
    ("seconds", "rows", "named"),
    [(0.9, 10, False), (1.1, 10, True), (1.9, 200_000, False), (2.1, 200_000, True)],
)
def test_a_hash_join_is_named_if_its_rows_took_long(seconds: float, rows: int, named: bool) -> None:
    told = [*query(0, join(HASH, 10, 11, 12)), stage(5, seconds, {10: 1, 11: rows, 12: 0})]
    assert bool(runs(*told)) is named
    told[0] = query(0, join("SortMergeJoin [k#1], [k#2], Inner", 10, 11, 12))[0]
    assert runs(*told) == []


SERVED = Answer(
    sql="l.a > r.b",
    confirmed=True,
    accelerator="piecewise",
    build_side="BuildRight",
    index=("l.a > r.b",),
)


def test_runs_of_one_join_are_one_advice_with_sums(tmp_path: Path) -> None:
    told = [
        *query(0, loop(10, 11, 12, id=1)),
        *query(1, loop(20, 21, 22, id=2)),
        *query(2, loop(30, 31, 32, kind="LeftOuter", id=3)),
        stage(5, 30, {10: 5, 11: 1_000_000, 12: 1000}, seconds=15),
        stage(6, 10, {20: 6, 21: 1_000_000, 22: 2000}, seconds=5),
        stage(7, 1, {30: 7, 31: 8, 32: 9}, seconds=1),
    ]
    inner, outer = advice(tmp_path, *told, answer=SERVED)
    assert (inner.executions, inner.stages) == ((0, 1), (5, 6))
    assert (inner.left_rows, inner.right_rows, inner.output_rows) == (2_000_000, 3000, 11)
    assert (inner.pairs, inner.task_seconds, inner.seconds) == (3_000_000_000, 40, 20)
    assert inner.estimate is not None
    assert inner.estimate.after_seconds == pytest.approx(2 * 0.5 + 2.003 + 11 * 5e-7)
    assert inner.saved_seconds == pytest.approx(20 * inner.estimate.saved_seconds / 40)
    assert (outer.executions, outer.join_type) == ((2,), "LeftOuter")
    assert "in 2 queries: 20.0 s (40.0 s of task time)" in report([inner, outer])


@pytest.mark.parametrize(("side", "built"), [("BuildLeft", "100"), ("BuildRight", "20")])
def test_the_rows_of_the_built_side_are_build_rows(tmp_path: Path, side: str, built: str) -> None:
    told = [*query(0, loop(10, 11, 12)), stage(5, 30, {10: 5, 11: 100, 12: 20})]
    (found,) = advice(tmp_path, *told, answer=replace(SERVED, build_side=side))
    assert found.estimate is not None
    assert f" {built} build rows and " in found.estimate.how


def test_the_question_has_the_numbers_of_the_longest_run(tmp_path: Path) -> None:
    asked: list[Question] = []

    def ask(questions: list[Question]) -> list[Answer]:
        asked.extend(questions)
        return [SERVED] * len(questions)

    told = [*query(0, loop(10, 11, 12)), stage(5, 30, {10: 5, 11: 100, 12: 20})]
    (tmp_path / "app").write_bytes(b"\n".join(lines(told)))
    advise([tmp_path / "app"], ask)
    assert asked == [Question("Inner", "(a#1L > b#9L)", (1,), 100, 20, {})]


def test_nothing_is_estimated_of_a_query_that_did_not_end(tmp_path: Path) -> None:
    told = [*query(0, loop(10, 11, 12), end=False), stage(5, 30, {10: 5, 11: 100, 12: 20})]
    (found,) = advice(tmp_path, *told, answer=SERVED)
    assert found.estimate is None
    assert "did not end well" in report([found])
    assert "estimate: none" in report([found])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("BroadcastNestedLoopJoin BuildRight, LeftSingle, (a#1L > b#9L)", "LeftSingle to Spark"),
        ("BroadcastNestedLoopJoin BuildRight, Inner, (a#1L > c#77)", "of which side c#77 is"),
        ("BroadcastNestedLoopJoin BuildRight, Inner, (a#1L > plus(b#9L)#5)", "Python function"),
        ("BroadcastNestedLoopJoin BuildRight, Cross", "no condition"),
    ],
)
def test_what_is_not_asked_has_a_reason(tmp_path: Path, text: str, why: str) -> None:
    told = [*query(0, join(text, 10, 11, 12)), stage(5, 30, {10: 5, 11: 100, 12: 20})]
    (found,) = advice(tmp_path, *told, answer=SERVED)
    assert why in found.answer.why_not
    assert found.estimate is None


def test_a_line_that_is_cut_off_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = lines([*query(0, loop(10, 11, 12)), stage(5, 30, {10: 5, 11: 100, 12: 20})])
    (tmp_path / "app").write_bytes(b"\n".join([*told, told[0][:-9]]))
    assert len(advise([tmp_path / "app"], lambda questions: [SERVED] * len(questions))) == 1
    assert "app: 1 line is left out" in capsys.readouterr().err


def test_a_file_that_is_no_event_log_is_noted_or_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes").write_text("nothing")
    with pytest.raises(thetajoin.AdviseError, match="None of the files is an event log"):
        advise([tmp_path], lambda questions: [])
    told = [*query(0, loop(10, 11, 12)), stage(5, 30, {10: 5, 11: 100, 12: 20})]
    assert len(advice(tmp_path, *told, answer=SERVED)) == 1
    capsys.readouterr()
    assert len(advise([tmp_path], lambda questions: [SERVED] * len(questions))) == 1
    assert "notes: no events of Spark's in it" in capsys.readouterr().err
