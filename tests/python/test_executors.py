"""Joins whose tasks run in processes of their own: what they are sent has been written and read again."""

from __future__ import annotations

from pathlib import Path

import pytest
import thetajoin
from servers import told_by

pytestmark = pytest.mark.slow

PROGRAM = """
import json, sys
from pyspark.sql import SparkSession

SCHEMAS = {"a": "id LONG, k LONG, x LONG, s STRING", "b": "no LONG, k LONG, lo LONG, hi LONG, s STRING"}

spark = SparkSession.builder.getOrCreate()
spark.range(0, 5000, 1, 4).selectExpr(
    "id", "IF(id % 9 = 0, NULL, id % 70) AS k", "id * 37 % 1000 AS x", "concat('s', id % 30) AS s"
).write.parquet("a")
spark.range(0, 400, 1, 2).selectExpr(
    "id AS no", "id % 90 AS k", "id * 53 % 1000 AS lo", "id * 53 % 1000 + id % 40 AS hi", "concat('s', id % 25) AS s"
).write.parquet("b")
for name in "ab":
    # With a schema: Spark's own job for it needs classes that it has not registered with Kryo.
    spark.read.schema(SCHEMAS[name]).parquet(name).createOrReplaceTempView(name)

def rows(enabled, sql):
    spark.sql(f"SET spark.thetajoin.enabled={enabled}")
    frame = spark.sql(sql)
    found = sorted(map(str, frame.collect()))
    return found, frame._jdf.queryExecution().executedPlan().toString()

told = {"executors": spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1, "joins": []}
for conf, sql in json.load(open("queries.json")):
    for key, value in conf.items():
        spark.conf.set(key, value)
    (off, _), (on, plan) = rows("false", sql), rows("true", sql)
    told["joins"].append({"same": on == off, "rows": len(on), "plan": plan})
    for key in conf:
        spark.conf.unset(key)
json.dump(told, open("told.json", "w"))
"""

SHUFFLED = {"spark.sql.autoBroadcastJoinThreshold": "1b"}
BY_RANGES = SHUFFLED | {"spark.thetajoin.broadcast.maxBytes": "1b"}
LARGE = BY_RANGES | {"spark.thetajoin.shuffle.maxPartitionBytes": "2k"}
KEYS = "(SELECT 1 FROM b WHERE b.k = a.k AND b.s = a.s)"
FEW = "(SELECT 1 FROM b WHERE b.k = a.k)"
JOINS = [
    ("BroadcastThetaJoin interval", {}, "SELECT * FROM a JOIN b ON x BETWEEN lo AND hi"),
    ("BroadcastThetaJoin interval", {}, "SELECT * FROM a FULL JOIN b ON x BETWEEN lo AND hi"),
    ("BroadcastThetaJoin interval", {}, "SELECT count(*), sum(no) FROM a FULL JOIN b ON x BETWEEN lo AND hi"),
    ("BroadcastThetaJoin interval", {}, "SELECT * FROM a JOIN b ON a.k = b.k AND x > lo AND x < hi"),
    ("BroadcastThetaJoin piecewise", {}, "SELECT no, count(id) FROM b LEFT JOIN a ON hi < x GROUP BY no"),
    ("BroadcastThetaJoin nestedloop", {}, "SELECT * FROM a JOIN b ON a.s <> b.s AND (x + no) % 97 = 3"),
    ("BroadcastThetaJoin existence", {}, f"SELECT * FROM a WHERE NOT EXISTS {FEW}"),
    ("MarkRows", {}, "SELECT /*+ BROADCAST(b) */ * FROM b LEFT SEMI JOIN a ON a.k = b.k"),
    ("BroadcastThetaJoin existence", {}, f"SELECT * FROM a WHERE EXISTS {FEW}"),
    ("BroadcastThetaJoin existence", {}, f"SELECT * FROM a WHERE NOT EXISTS {KEYS}"),
    ("BroadcastThetaJoin existence", {}, f"SELECT * FROM a WHERE EXISTS {KEYS} OR id < 9"),
    ("BroadcastThetaJoin piecewise", {}, "SELECT * FROM a JOIN b ON a.s < b.s"),
    ("BroadcastThetaJoin existence", {}, "SELECT * FROM a WHERE (k, s) NOT IN (SELECT k, s FROM b WHERE no < 9)"),
    ("BlockThetaJoin existence", SHUFFLED, f"SELECT * FROM a WHERE EXISTS {KEYS}"),
    ("ShuffledThetaJoin interval", SHUFFLED, "SELECT * FROM a JOIN b ON a.k = b.k AND x > lo AND x < hi"),
    ("ShuffledThetaJoin interval", BY_RANGES, "SELECT * FROM a JOIN b ON x BETWEEN lo AND hi"),
    ("BlockThetaJoin anyof", LARGE, "SELECT * FROM a FULL JOIN b ON x = lo OR a.k = b.k + 1"),
    ("BlockThetaJoin interval", LARGE, "SELECT * FROM a LEFT JOIN b ON a.k = b.k AND x > lo AND x < hi"),
]  # fmt: skip


@pytest.mark.parametrize("serializer", ["JavaSerializer", "KryoSerializer"])
def test_rows_are_those_of_spark(tmp_path: Path, serializer: str) -> None:
    queries = [(conf, sql) for _, conf, sql in JOINS]
    conf = {
        "spark.serializer": f"org.apache.spark.serializer.{serializer}",
        "spark.kryo.registrationRequired": "true",
        "spark.kryo.registrator": thetajoin.KRYO_REGISTRATOR,
        "spark.executor.memory": "512m",
    }
    told = told_by(PROGRAM, queries, tmp_path, conf, master="local-cluster[2,1,1024]")
    assert told["executors"] == 2
    for (node, _, sql), join in zip(JOINS, told["joins"], strict=True):
        assert node in join["plan"], f"{sql}\n{join['plan']}"
        assert join["same"] and join["rows"], sql
