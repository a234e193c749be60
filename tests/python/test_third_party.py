"""An accelerator from a jar of its own, found by class name and as a Java service."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
JAR = ROOT / "target/example-accelerator.jar"
CLASS = "example.ResidueAccelerator"
RULE = "example.ResidueRule"

PROGRAM = """
import json, sys
import thetajoin
from pyspark.sql import SparkSession

jar, names = sys.argv[1:]
builder = SparkSession.builder.master("local[2]").config("spark.jars", jar)
builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
builder = builder.config("spark.sql.codegen.fallback", "false")
builder = builder.config("spark.thetajoin.equiKeys.minBuildRows", "0")
builder = builder.config("spark.sql.ansi.enabled", "false")  # a sum that overflows wraps around
spark = thetajoin.configure(builder.config("spark.thetajoin.accelerators", names)).getOrCreate()
from itertools import product

key = "IF(id % 7 = 6, NULL, concat('key-', id % 5))"
spark.range(900).selectExpr("CASE id % 50 WHEN 1 THEN NULL WHEN 2 THEN 9223372036854775807 - id ELSE id - 50 END x", f"{key} k").createOrReplaceTempView("a")
spark.range(160).selectExpr("IF(id % 40 = 3, NULL, id) y", f"{key} m").createOrReplaceTempView("b")
answers = []
kinds = ("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI")
conditions = ("(a.x + b.y) % 64 = 0", "a.k = b.m AND (a.x + b.y) % 16 = 0")
least = (1 << 50, 0)  # sizes of an index from which on probe rows come in batches: never, always
for kind, condition, codegen, batches in product(kinds, conditions, ("true", "false"), least):
        spark.conf.set("spark.sql.codegen.wholeStage", codegen)
        spark._jvm.thetajoin.Yardsticks.set("sortedIndexBytes", batches)
        sql = f"SELECT * FROM a {kind} JOIN b ON {condition}"
        rows = []
        for enabled in ("true", "false"):
            spark.conf.set("spark.thetajoin.enabled", enabled)
            df = spark.sql(sql)
            rows.append(sorted(map(str, df.collect())))
            plan = df._jdf.queryExecution().executedPlan().toString()
            rows.append("BroadcastThetaJoin residue" in plan)
        answers.append([f"{kind} {condition} {codegen} {batches}", rows[0] == rows[2], len(rows[0]), rows[1], rows[3]])
spark.conf.set("spark.thetajoin.enabled", "true")
ruled = "SELECT * FROM a JOIN b ON pmod(a.x + b.y, 64) = 0"
ruled = [thetajoin.explain_joins(spark.sql(ruled))[0].accelerator, spark.sql(ruled).count()]
spark.conf.set("spark.thetajoin.accelerator.residue.enabled", "false")
switched_off = thetajoin.explain_joins(spark.sql(sql))[0].accelerator
spark.conf.set("spark.thetajoin.accelerators", "example.Missing")
try:
    spark.sql(sql).collect()
    error = ""
except Exception as e:
    error = str(e)
print(json.dumps([answers, switched_off, ruled, error]))
"""


@pytest.fixture(params=["class name", "service"])
def answers(request: pytest.FixtureRequest, tmp_path: Path) -> list[object]:
    """What the program found, with the jar as built or with a service entry added to it."""
    jar, names = tmp_path / "example.jar", CLASS
    shutil.copy(JAR, jar)
    if request.param == "service":
        names = ""
        with zipfile.ZipFile(jar, "a") as archive:
            archive.writestr("META-INF/services/thetajoin.contract.Accelerator", CLASS + "\n")
            archive.writestr("META-INF/services/thetajoin.condition.rules.Rule", RULE + "\n")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), str(jar), names]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [request.param, *json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.slow
def test_every_join_type_runs_on_it(answers: list[object]) -> None:
    registered, runs, switched_off, ruled, error = answers
    assert len(runs) == 48
    for run, same, rows, with_it, without in runs:
        assert same and rows > 0, run
        assert (with_it, without) == (True, False), run
    assert switched_off == "existence"
    # A rule is registered as a service only.
    read_by_rule = registered == "service"
    assert ruled == ["residue" if read_by_rule else "nestedloop", runs[0][2]]
    assert "[INVALID_ACCELERATOR]" in error and "example.Missing" in error
