"""Many queries at once, in one session and in several, and many in turn: the rows are Spark's, and nothing is left behind."""

from __future__ import annotations

import os
from typing import Any

import pytest
from servers import told_by

pytestmark = pytest.mark.slow

# Queries in turn. So few show a broadcast or a thread that each query leaves behind; what grows slowly needs more.
QUERIES = int(os.environ.get("THETAJOIN_QUERIES", "60"))

PROGRAM = """
import gc, json, sys, time
from concurrent.futures import ThreadPoolExecutor
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.range(0, 6000, 1, 4).selectExpr("id", "id * 7919 % 100003 AS t", "id % 500 AS k").write.parquet("p")
spark.range(0, 1000, 1, 3).selectExpr(
    "id AS no", "id * 104729 % 100003 AS lo", "id * 104729 % 100003 + id % 90 AS hi", "id % 500 AS g"
).write.parquet("i")
queries = json.load(open("queries.json"))

def views(session):
    for name in "pi":
        session.read.parquet(name).createOrReplaceTempView(name)
    return session

def run(session, query):
    name, conf, sql = query
    for key, value in conf.items():
        session.conf.set(key, value)
    frame = session.sql(sql)
    rows = [list(row) for row in frame.collect()]
    for key in conf:
        session.conf.unset(key)
    return rows, name in frame._jdf.queryExecution().executedPlan().toString()

views(spark)
spark.conf.set("spark.thetajoin.enabled", False)
expected = [run(spark, query)[0] for query in queries]
spark.conf.set("spark.thetajoin.enabled", True)

def at_once(which, rounds):
    # Each thread starts with another query.
    def thread(first):
        turn = [which[(first + i) % len(which)] for i in range(rounds * len(which))]
        return [(i, *run(spark, queries[i])) for i in turn]
    with ThreadPoolExecutor(8) as threads:
        ran = [one for of_thread in threads.map(thread, range(8)) for one in of_thread]
    return [(rows == expected[i], accelerated) for i, rows, accelerated in ran]

# Settings are a session's: where threads share one, those of a query would be another's.
one = at_once([i for i, query in enumerate(queries) if not query[1]], 1)

sessions = [views(spark.newSession()) for _ in range(8)]
for thread, session in enumerate(sessions):
    session.conf.set("spark.thetajoin.enabled", thread % 2 == 0)
    session.conf.set("spark.sql.adaptive.enabled", thread % 4 < 2)
several = []
with ThreadPoolExecutor(8) as threads:
    for of_thread in threads.map(lambda t: [(t, i, *run(sessions[t], q)) for i, q in enumerate(queries)], range(8)):
        several += [(rows == expected[i], accelerated == (t % 2 == 0)) for t, i, rows, accelerated in of_thread]

jvm = spark._jvm
management = jvm.java.lang.management.ManagementFactory
# Spark starts another thread in these for each stage, up to a thousand, and lets go of those that are idle for a minute.
POOLS = ("shuffle-exchange", "broadcast-exchange", "ResultQueryStage", "subquery", "block-manager", "Executor task")

def held():
    # Frames that Python let go of, then what the JVM held for them, then what Spark cleans after that.
    for _ in range(4):
        gc.collect()
        jvm.System.gc()
        time.sleep(1)
    names = [thread.getName() for thread in jvm.Thread.getAllStackTraces().keySet().toArray()]
    status = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().values().toSeq()
    return {
        "heap": management.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
        "threads": [name for name in names if not name.startswith(POOLS)],
        "pooled": sum(name.startswith(POOLS) for name in names),
        "storage": sum(status.apply(i)._1() - status.apply(i)._2() for i in range(status.size())),
    }

def in_turn(count):
    return all(run(spark, queries[i % len(queries)])[0] == expected[i % len(queries)] for i in range(count))

equal = in_turn(int(sys.argv[2]))
before = held()
equal = in_turn(int(sys.argv[1])) and equal
json.dump({"one": one, "several": several, "equal": equal, "before": before, "after": held()}, open("told.json", "w"))
"""

SHUFFLED = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
}
LARGE = {
    "spark.thetajoin.broadcast.maxBytes": "1b",
    "spark.thetajoin.shuffle.maxPartitionBytes": "20k",
}
SUMS = "count(*), sum(id), sum(no), sum(id * no % 1009)"
JOINS = [
    ("BroadcastThetaJoin", {}, f"SELECT {SUMS} FROM p LEFT JOIN i ON t BETWEEN lo AND hi AND (id + no) % 3 <> 0"),
    ("BroadcastThetaJoin", {}, "SELECT count(*), sum(n) FROM (SELECT k, count(no) AS n FROM p FULL JOIN i ON t BETWEEN lo AND hi GROUP BY k)"),
    ("BroadcastThetaJoin", {}, "SELECT count(*), sum(id) FROM p WHERE NOT EXISTS (SELECT 1 FROM i WHERE t BETWEEN lo AND hi + 500)"),
    ("BroadcastThetaJoin", {}, f"SELECT {SUMS} FROM p JOIN i ON t = lo OR id = no + 7"),
    ("ShuffledThetaJoin", SHUFFLED, f"SELECT {SUMS} FROM p LEFT JOIN i ON k = g AND t BETWEEN lo AND hi + 500"),
    ("BlockThetaJoin", LARGE, f"SELECT {SUMS} FROM p LEFT JOIN i ON t = lo OR id = no + 7"),
]  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("queries")
    # Spark keeps that much of what has run for its UI.
    kept = {
        f"spark.{what}": "20"
        for what in ("ui.retainedJobs", "ui.retainedStages", "ui.retainedTasks")
    }
    conf = {"spark.sql.ui.retainedExecutions": "20", **kept}
    return told_by(PROGRAM, JOINS, folder, conf, str(QUERIES), "60")


def test_threads_of_one_session_get_their_own_rows(told: Any) -> None:
    assert len(told["one"]) == 8 * 4
    assert all(equal and accelerated for equal, accelerated in told["one"])


def test_sessions_at_once_have_their_own_settings(told: Any) -> None:
    assert len(told["several"]) == 8 * len(JOINS)
    assert all(equal and as_set for equal, as_set in told["several"])


def test_queries_in_turn_leave_nothing_behind(told: Any) -> None:
    before, after = told["before"], told["after"]
    assert told["equal"]
    assert after["storage"] <= before["storage"] + (1 << 20), told
    assert len(after["threads"]) <= len(before["threads"]) + 4, told
    # Each thread that Spark keeps for a while has buffers of its own, some 18 KB.
    kept = (after["pooled"] - before["pooled"]) * (24 << 10)
    assert after["heap"] <= before["heap"] + (16 << 20) + kept, told
