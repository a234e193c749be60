"""The README's Python examples run in one program. Its length, and figures of other pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import bytes_a_row, summary
from demo.questions import QUESTIONS

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = "\n".join(BLOCK.findall(README.read_text()))


# Columns of a session's first query have the ids with which Spark numbers the variables of lambda functions.
FIRST_QUERY = """
import thetajoin
from pyspark.sql import SparkSession

spark = thetajoin.configure(SparkSession.builder).getOrCreate()
joined = spark.sql('''
    SELECT a.id, b.no FROM VALUES (1, array('x', 'y')), (2, array('x')) AS a(id, tags)
    JOIN VALUES (3, array('x', 'y')) AS b(no, needs) ON forall(b.needs, n -> array_contains(a.tags, n))''')
assert [tuple(row) for row in joined.collect()] == [(1, 3)]
assert [join.accelerator for join in thetajoin.explain_joins(joined)] == ["containment"]
"""


@pytest.mark.slow
@pytest.mark.parametrize("program", [EXAMPLES, FIRST_QUERY], ids=["examples", "first query"])
def test_python_runs_in_a_session_of_its_own(tmp_path: Path, program: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(program)
    done = subprocess.run(
        [sys.executable, str(file)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "python" / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_is_that_of_the_results() -> None:
    assert "\n".join(summary.table()) in summary.README.read_text()


def test_the_bytes_of_a_row_are_those_of_the_results() -> None:
    measured = bytes_a_row.read()
    assert bytes_a_row.table(measured) in bytes_a_row.PAGE.read_text()
    assert [one.accelerator for one in measured] == [case.accelerator for case in bytes_a_row.CASES]


def test_the_demo_has_a_question_for_each_pattern() -> None:
    section = README.read_text().partition("\n## Fourteen patterns\n")[2].partition("\n## ")[0]
    patterns = re.findall(r"^\| .* \| `(\w+)` \| \[", section, re.MULTILINE)
    assert len(patterns) == len(QUESTIONS) == 14
    assert {question.accelerator for question in QUESTIONS} == set(patterns)


def test_the_readme_is_short() -> None:
    assert len(README.read_text().splitlines()) <= 120
