"""A plain PySpark program, which knows nothing of thetajoin, under conf/classic."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from servers import environment, submit

pytestmark = pytest.mark.slow

PROGRAM = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
query = "SELECT a.id, b.id FROM range(50) AS a JOIN range(50) AS b ON a.id > b.id"
df = spark.sql(query)
rows = df.collect()
df.explain()
spark.sql("SET spark.thetajoin.enabled=false")
print("same rows:", sorted(spark.sql(query).collect()) == sorted(rows), len(rows))
"""


def test_a_join_is_accelerated(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    env = environment("classic", tmp_path) | {"PYSPARK_PYTHON": sys.executable}
    command = submit({}, str(program))
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    final_plan, _, rest = done.stdout.partition("== Initial Plan ==")
    assert "BroadcastThetaJoin piecewise, Inner" in final_plan
    assert "[1] Inner join ON" in rest
    assert "same rows: True 1225" in done.stdout
