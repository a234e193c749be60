"""Executors that are killed while a join builds, probes or gives rows: the rows are the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from servers import told_by

pytestmark = pytest.mark.slow

# Kills for each join. One, and every second join, show that a lost executor is survived; what needs luck needs more.
KILLS = int(os.environ.get("THETAJOIN_KILLS", "1"))

PROGRAM = """
import json, os, random, signal, sys, threading, time
from pathlib import Path
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
app = spark.sparkContext.applicationId
spark.range(0, 600000, 1, 6).selectExpr("id", "id * 7919 % 1000003 AS t", "id % 5000 AS k").write.parquet("p")
spark.range(0, 60000, 1, 4).selectExpr(
    "id AS no", "id * 104729 % 1000003 AS lo", "id * 104729 % 1000003 + id % 9 AS hi", "id % 5000 AS g"
).write.parquet("i")
for name in "pi":
    spark.read.parquet(name).createOrReplaceTempView(name)

def executors():
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes().split(b"\\0")
            except OSError:
                continue
            if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and app.encode() in words:
                found.append(int(process.name))
    return found

def run(sql):
    frame = spark.sql(sql)
    row = frame.collect()[0]
    return list(row), frame._jdf.queryExecution().executedPlan().toString()

def kill_later(delay, killed):
    time.sleep(delay)
    pids = executors()
    if pids:
        os.kill(random.choice(pids), signal.SIGKILL)
        killed.append(time.time())

told, kills = [], int(sys.argv[1])
random.seed(int(sys.argv[2]))
for conf, sql in json.load(open("queries.json")):
    for key, value in conf.items():
        spark.conf.set(key, value)
    run(sql)
    started = time.time()
    expected, plan = run(sql)
    seconds = time.time() - started
    rows, during = [], 0
    for _ in range(kills):
        killed = []
        killer = threading.Thread(target=kill_later, args=(random.uniform(0.05, 0.8) * seconds, killed))
        killer.start()
        rows.append(run(sql)[0])
        ended = time.time()
        killer.join()
        during += bool(killed) and killed[0] < ended
        while len(executors()) < 2:
            time.sleep(0.2)
    told.append({"expected": expected, "plan": plan, "rows": rows, "during": during})
    for key in conf:
        spark.conf.unset(key)
json.dump(told, open("told.json", "w"))
"""

SHUFFLED = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
LARGE = {
    "spark.thetajoin.broadcast.maxBytes": "1b",
    "spark.thetajoin.shuffle.maxPartitionBytes": "2m",
}
SUMS = "count(*), sum(id), sum(no), sum(id * no % 1009)"
JOINS = [
    ("BroadcastThetaJoin", {}, f"SELECT {SUMS} FROM p LEFT JOIN i ON t BETWEEN lo AND hi AND (id + no) % 3 <> 0"),
    ("BroadcastThetaJoin", {}, "SELECT count(*), sum(n) FROM (SELECT k, count(no) AS n FROM p FULL JOIN i ON t BETWEEN lo AND hi GROUP BY k)"),
    ("BlockThetaJoin", SHUFFLED | {"spark.sql.adaptive.autoBroadcastJoinThreshold": "1k"}, "SELECT count(*), sum(id) FROM p WHERE EXISTS (SELECT 1 FROM i WHERE no = id * 3)"),
    ("ShuffledThetaJoin", SHUFFLED, f"SELECT {SUMS} FROM p LEFT JOIN i ON k = g AND t BETWEEN lo AND hi + 500"),
    ("ShuffledThetaJoin", LARGE | SHUFFLED, f"SELECT {SUMS} FROM p JOIN i ON t BETWEEN lo AND hi"),
    ("BlockThetaJoin", LARGE, f"SELECT {SUMS} FROM p LEFT JOIN i ON t = lo OR id = no + 7"),
    ("BlockThetaJoin", LARGE, f"SELECT {SUMS} FROM p JOIN i ON t = lo OR id = no + 7"),
]  # fmt: skip


def test_a_killed_executor_changes_no_row(tmp_path: Path) -> None:
    asked = JOINS if KILLS > 1 else JOINS[1::2]
    queries = [(conf, sql) for _, conf, sql in asked]
    conf = {
        "spark.executor.memory": "768m",
        "spark.deploy.maxExecutorRetries": "-1",
        "spark.task.maxFailures": "20",
        "spark.stage.maxConsecutiveAttempts": "20",
        # Tasks run twice at once as well.
        "spark.speculation": "true",
        "spark.speculation.multiplier": "1.1",
        "spark.speculation.quantile": "0.2",
        "spark.speculation.minTaskRuntime": "1ms",
        "spark.speculation.interval": "20ms",
    }
    seed = os.environ.get("THETAJOIN_SEED", "7")
    cluster = "local-cluster[2,1,1024]"
    told = told_by(PROGRAM, queries, tmp_path, conf, str(KILLS), seed, master=cluster)
    for (node, _, sql), join in zip(asked, told, strict=True):
        assert node in join["plan"], f"{sql}\n{join['plan']}"
        assert join["rows"] == [join["expected"]] * KILLS, sql
    assert sum(join["during"] for join in told) > 0, "no executor was killed while a query ran"
