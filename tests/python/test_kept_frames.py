"""Frames that a program keeps hold no memory that a later query needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from servers import told_by

pytestmark = pytest.mark.slow

PROGRAM = """
import json
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.range(0, 5000000, 1, 2).selectExpr("id AS no", "id * 7919 % 100000007 AS lo", "id * 7919 % 100000007 + 20 AS hi").write.parquet("i")
spark.range(0, 1000, 1, 2).selectExpr("id", "id * 104729 % 100000007 AS t").write.parquet("p")
for name in "pi":
    spark.read.parquet(name).createOrReplaceTempView(name)
kept = []
for _ in range(8):
    frame = spark.sql("SELECT /*+ BROADCAST(i) */ count(*), sum(id), sum(no) FROM p JOIN i ON t BETWEEN lo AND hi")
    kept.append((frame, frame.collect()))
plan = kept[-1][0]._jdf.queryExecution().executedPlan().toString()
answers = {tuple(rows[0]) for _, rows in kept}
json.dump([len(answers), min(answers)[0], "BroadcastThetaJoin interval" in plan], open("told.json", "w"))
"""


def test_a_driver_of_little_memory_broadcasts_again_and_again(tmp_path: Path) -> None:
    conf = {"spark.driver.memory": "1g"}
    answers, matches, accelerated = told_by(PROGRAM, [], tmp_path, conf)
    assert answers == 1 and matches > 0 and accelerated
