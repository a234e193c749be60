"""A join of vectors on each JDK of this machine: the class for the Vector API loads, and the rows are Spark's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

LEAST = 17
PROGRAM = """
import thetajoin
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = thetajoin.configure(builder.config("spark.driver.memory", "1g")).getOrCreate()
spark.sql("SELECT id, transform(sequence(1, 40), i -> CAST(pmod(xxhash64(id, i), 200) AS FLOAT)) AS v "
          "FROM range(300)").createOrReplaceTempView("t")
query = "SELECT a.id, b.id FROM t a JOIN t b ON vector_cosine_similarity(a.v, b.v) > 0.8"
on = spark.sql(query)
rows = sorted(on.collect())
(report,) = thetajoin.explain_joins(on)
assert report.accelerator == "vector", report
spark.conf.set("spark.thetajoin.enabled", "false")
assert rows == sorted(spark.sql(query).collect()) and len(rows) > 300, len(rows)
"""


def java_homes() -> dict[int, Path]:
    """A JDK for each Java version that is installed where Linux systems have them."""
    found = {}
    for release in sorted(Path("/usr/lib/jvm").glob("*/release")):
        version = re.search(r'JAVA_VERSION="(\d+)', release.read_text())
        if version and int(version[1]) >= LEAST and (release.parent / "bin" / "java").exists():
            found[int(version[1])] = release.parent.resolve()
    return found


@pytest.mark.parametrize("version", sorted(java_homes()))
def test_vectors_are_compared_by_the_vector_api(version: int, tmp_path: Path) -> None:
    home = java_homes()[version]
    modules = subprocess.run([home / "bin" / "java", "--list-modules"], capture_output=True, text=True, check=True)  # fmt: skip
    if "jdk.incubator.vector" not in modules.stdout:
        pytest.skip(f"{home} lacks the module")
    log = tmp_path / "initialized.log"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={
            **os.environ,
            "JAVA_HOME": str(home),
            "JAVA_TOOL_OPTIONS": f"-Xlog:class+init:file={log}",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    used = set(
        re.findall(r"Initializing .thetajoin/accelerator/vector/(\w+Products)\b", log.read_text())
    )
    assert used == {"FastestProducts", "SimdProducts"}
