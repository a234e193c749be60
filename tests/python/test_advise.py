"""Advice on logs that sessions without the extension wrote."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import thetajoin
from advised_queries import QUERIES
from pyspark.sql import SparkSession
from thetajoin._advisor import advice as advising
from thetajoin._advisor.advice import Advice, advise
from thetajoin._advisor.questions import Answer, Question, ask

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "python" / "advised_queries.py"
PATH = {"PYTHONPATH": str(ROOT / "python" / "src")}


def logs_of(python: str | Path, folder: Path) -> Path:
    ours = ("SPARK_HOME", "PYTHONPATH")
    env = {name: value for name, value in os.environ.items() if name not in ours}
    done = subprocess.run(
        [python, PROGRAM, folder],
        env=env | {"PYSPARK_PYTHON": str(python)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return logs_of(sys.executable, tmp_path_factory.mktemp("logs"))


def by_query(logs: Path, spark: SparkSession) -> dict[str, Advice]:
    """The advice by the queries' names; the questions are asked in the session of the tests."""

    def answers(questions: list[Question]) -> list[Answer]:
        return [ask(spark, question) for question in questions]

    found = advise([logs / "plain"], answers)
    assert [a.task_seconds for a in found] == sorted((a.task_seconds for a in found), reverse=True)
    return {a.description: a for a in found}


@pytest.fixture(scope="module")
def advised(logs: Path, spark: SparkSession) -> Iterator[dict[str, Advice]]:
    spark.conf.set("spark.thetajoin.equiKeys.minBuildRows", "100")
    yield by_query(logs, spark)
    spark.conf.set("spark.thetajoin.equiKeys.minBuildRows", "0")


X = [n % 40 for n in range(400)]
LOOPS = {
    # name: operator, join type, left rows, right rows, rows out, accelerator
    "interval": ("BroadcastNestedLoopJoin", "LeftOuter", 3000, 20, 3000, "interval"),
    "inequality": ("BroadcastNestedLoopJoin", "Inner", 400, 30, sum(x > b for x in X for b in range(30)), "piecewise"),
    "like": ("BroadcastNestedLoopJoin", "Inner", 400, 30, 400, "patterns"),
    "array": ("BroadcastNestedLoopJoin", "LeftSemi", 400, 30, 400, "containment"),
    "or": ("BroadcastNestedLoopJoin", "Inner", 400, 30, sum(X[n] == b or n == b + 5 for n in range(400) for b in range(30)), "anyof"),
    "not in": ("BroadcastNestedLoopJoin", "LeftAnti", 400, 30, sum(not any((x, n % 7) == (b, b % 5) for b in range(30)) for n, x in enumerate(X)), "existence"),
    "mark": ("BroadcastNestedLoopJoin", "ExistenceJoin", 400, 30, 400, "interval"),
    "no index": ("BroadcastNestedLoopJoin", "Inner", 400, 30, sum((x + b) % 5 == 0 for x in X for b in range(30)), "nestedloop"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_named_with_its_rows_and_what_would_serve_it(
    advised: dict[str, Advice], name: str
) -> None:
    found = advised[name]
    operator, join_type, left, right, out, accelerator = LOOPS[name]
    assert (found.operator, found.join_type.partition("(")[0]) == (operator, join_type)
    assert (found.left_rows, found.right_rows, found.output_rows) == (left, right, out)
    assert found.pairs == left * right
    assert found.finished
    assert found.task_seconds > 0
    assert len(found.stages) == 1
    assert found.answer.why_not == ""
    assert found.answer.confirmed
    assert found.answer.types == {}
    assert found.answer.accelerator == accelerator
    assert (found.estimate is None) == (accelerator == "nestedloop")


def test_the_condition_is_asked_with_the_types_of_the_scans(advised: dict[str, Advice]) -> None:
    answer = advised["interval"].answer
    assert answer.sql == "((l.`at` >= r.`started`) AND (l.`at` < r.`ended`))"
    assert answer.index == ("(l.at >= r.started)", "(l.at < r.ended)")
    assert answer.residual == ()


def test_a_hash_join_over_many_pairs_of_a_key_is_named(advised: dict[str, Advice]) -> None:
    found = advised["hash"]
    assert found.operator == "BroadcastHashJoin"
    assert (found.left_rows, found.right_rows, found.output_rows) == (40000, 20000, 5000)
    assert found.pairs is None
    assert found.task_seconds >= 1
    assert (found.answer.accelerator, found.answer.confirmed) == ("interval", True)
    assert found.estimate is not None
    assert found.estimate.after_seconds == pytest.approx(0.5 + 60000e-6 + 5000 * 5e-7)
    assert found.estimate.saved_seconds == pytest.approx(
        found.task_seconds - found.estimate.after_seconds
    )


@pytest.mark.parametrize("name", ["equi", "few pairs"])
def test_a_join_that_spark_runs_well_is_not_named(advised: dict[str, Advice], name: str) -> None:
    assert name in QUERIES
    assert name not in advised


def test_no_promise_without_a_condition_or_for_python(advised: dict[str, Advice]) -> None:
    assert "every pair is a row of its result" in advised["cross"].answer.why_not
    # Spark computes the function below the join, so that its result is compared.
    function = advised["function"]
    assert function.answer.accelerator == "piecewise"
    assert function.answer.types == {"pythonUDF0": "int"}
    assert function.estimate is not None
    assert function.estimate.saved_seconds < 0.1 * function.task_seconds
    assert advised.keys() == {*LOOPS, "hash", "cross", "function"}


def test_nothing_is_promised_for_joins_of_milliseconds(advised: dict[str, Advice]) -> None:
    """Their stages took longer for other work: code was compiled, and files were read."""
    estimates = {name: advised[name].estimate for name in LOOPS if name != "no index"}
    for name, found in estimates.items():
        assert found is not None
        assert found.before_seconds <= (advised[name].pairs or 0) * 5e-6
        assert found.saved_seconds == 0


@pytest.mark.parametrize("kind", ["zstd", "lz4", "rolled"])
def test_compressed_and_rolled_logs_tell_the_same(logs: Path, kind: str) -> None:
    (log,) = (p for p in (logs / kind).iterdir() if not p.name.startswith("."))
    assert (log.suffix == f".{kind}") is (kind != "rolled")
    assert log.name.startswith("eventlog_v2_") is (kind == "rolled")
    (found,) = advise([log], lambda questions: [Answer(why_not="not asked")] * len(questions))
    assert found.description == "interval"
    assert (found.left_rows, found.right_rows, found.output_rows) == (3000, 20, 3000)
    assert found.condition is not None
    assert re.sub(r"#\d+", "", found.condition) == "((at >= started) AND (at < ended))"


def test_a_rolled_log_of_several_parts_tells_the_same(logs: Path, tmp_path: Path) -> None:
    (plain,) = (p for p in (logs / "plain").iterdir() if not p.name.startswith("."))
    lines = plain.read_bytes().splitlines(keepends=True)
    log = tmp_path / "eventlog_v2_app"
    log.mkdir()
    for part in range(3):
        size = len(lines) // 3 + 1
        (log / f"events_{part + 1}_app").write_bytes(b"".join(lines[part * size :][:size]))

    def unasked(questions: list[Question]) -> list[Answer]:
        return [Answer(why_not="not asked")] * len(questions)

    assert [a.condition for a in advise([log], unasked)] == [
        a.condition for a in advise([plain], unasked)
    ]


def test_the_same_join_of_two_logs_is_told_of_each(logs: Path) -> None:
    found = advise([logs / "zstd", logs / "lz4"], lambda qs: [Answer(why_not="x")] * len(qs))
    assert len({a.application_id for a in found}) == len(found) == 2


def test_without_pyspark_the_joins_are_told_all_the_same(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advising, "find_spec", lambda _: None)
    (found,) = advise([logs / "zstd"])
    assert "pip install 'pyspark>=4.0,<4.4'" in found.answer.why_not
    assert found.pairs == 60000


def test_the_command_prints_json_and_writes_a_page(logs: Path, tmp_path: Path) -> None:
    """With a session that it starts itself."""
    done = subprocess.run(
        [sys.executable, "-m", "thetajoin", "advise", "--json", "--html", "advice.html", logs / "zstd"],
        env=os.environ | PATH,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    assert found["answer"]["accelerator"] == "interval"
    assert found["answer"]["confirmed"] is True
    assert (found["left_rows"], found["pairs"]) == (3000, 60000)
    assert found["estimate"]["after_seconds"] == pytest.approx(0.5 + 3020e-6 + 3000 * 5e-7)
    assert "<svg" in (tmp_path / "advice.html").read_text()
    assert [p.name for p in tmp_path.iterdir()] == ["advice.html"]


def test_a_missing_log_is_an_error_of_one_line_and_a_hint(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from thetajoin.__main__ import main

    assert main(["advise", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err.count("\n") == 2
    assert issubclass(thetajoin.AdviseError, thetajoin.ThetaJoinError)


@pytest.mark.slow
def test_logs_of_the_oldest_spark_tell_the_same(
    advised: dict[str, Advice], spark: SparkSession, tmp_path: Path
) -> None:
    python = ROOT / ".venv-4.0.5" / "bin" / "python"
    if not python.exists():
        pytest.skip("no environment of Spark 4.0.5: make .venv-4.0.5/.complete")
    old = by_query(logs_of(python, tmp_path), spark)
    assert old.keys() == advised.keys()
    for name, found in old.items():
        now = advised[name]
        assert found.spark_version == "4.0.5"
        assert (found.operator, found.join_type.partition("(")[0]) == (
            now.operator,
            now.join_type.partition("(")[0],
        )
        assert (found.left_rows, found.right_rows, found.output_rows) == (
            now.left_rows,
            now.right_rows,
            now.output_rows,
        )
        assert found.answer.accelerator == now.answer.accelerator
