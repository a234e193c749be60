"""The README: its Python examples run, in one program as a reader would; its figures are measured."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import summary

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_python_examples_run(tmp_path: Path) -> None:
    blocks = BLOCK.findall(README.read_text())
    assert blocks
    program = tmp_path / "readme.py"
    program.write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "python" / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_is_that_of_the_results() -> None:
    assert "\n".join(summary.table()) in README.read_text()
