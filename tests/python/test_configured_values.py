"""Values that a session is configured with, before there is one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import thetajoin
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "localhost").config("{key}", "{value}")
spark = thetajoin.configure(builder).getOrCreate()
print("value:", spark.sql("SET {key}").collect()[0].value)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("spark.thetajoin.broadcast.maxBytes", "1g", "value: 1g"),
        ("spark.thetajoin.broadcast.maxBytes", "lots", "must be a size such as 512m or 2g"),
        ("spark.thetajoin.accelerator.interval.enabled", "on", "must be true or false"),
    ],
)
def test_a_wrong_value_is_named_when_the_session_starts(
    tmp_path: Path, key: str, value: str, told: str
) -> None:
    source = Path(__file__).resolve().parents[2] / "python" / "src"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(key=key, value=value)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr
    assert told in output
    assert (done.returncode == 0) == told.startswith("value")
    assert done.returncode == 0 or f"[INVALID_SETTING] {key}" in output
