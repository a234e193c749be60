"""Accelerators in Python where workers and executors are other processes: over Connect, by Kryo, and when a worker dies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import thetajoin
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from pyspark.sql.types import BooleanType
from servers import CONNECT, free_port, running, submit, told_by
from thetajoin._plans import executed_plan, explain_text

pytestmark = pytest.mark.slow
cloudpickle.register_pickle_by_value(sys.modules[__name__])

PROGRAM = """
import json, os, signal, sys
from pathlib import Path
import thetajoin
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

spark = thetajoin.configure(SparkSession.builder).getOrCreate()
sentinel = str(Path("killed").resolve())

@udf("boolean")
def ends_alike(x, y):
    return str(x)[-1] == str(y)[-1]

@thetajoin.accelerator(serves=ends_alike, nearest="highest")
class Ends:
    def nearest(self, index, keys, k):
        return [i for i in range(keys.num_rows) for _ in range(k)], list(range(k)) * keys.num_rows

    def build(self, keys):
        return [str(v)[-1] for v in keys.column(0).to_pylist()]

    def probe(self, index, keys):
        if sentinel and not os.path.exists(sentinel):
            open(sentinel, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        pairs = [(i, j) for i, v in enumerate(keys.column(0).to_pylist()) for j, end in enumerate(index) if str(v)[-1] == end]
        return [i for i, _ in pairs], [j for _, j in pairs]

thetajoin.register_accelerator(spark, Ends())
told = []
for kind in json.loads(Path("queries.json").read_text()):
    ordered = "(SELECT *, ends_alike(a.id, b.id) d FROM range(5, 12, 1, 2) b ORDER BY d DESC LIMIT 2)"
    frame = spark.sql(f"SELECT * FROM range(0, 40, 1, 4) a, LATERAL {ordered}" if kind == "LATERAL" else f"SELECT /*+ BROADCAST(b) */ * FROM range(0, 40, 1, 4) a {kind} JOIN range(5, 12, 1, 2) b ON ends_alike(a.id, b.id)")
    rows = frame.collect()
    plan = frame._jdf.queryExecution().executedPlan().toString()
    told.append([len(rows), "BroadcastThetaJoin python" in plan, os.path.exists(sentinel)])
Path("told.json").write_text(json.dumps(told))
"""
# The last digit of the ids below 40 is 5 to 9, 0 or 1 for four of them each.
KINDS = {
    "INNER": 28,
    "LEFT": 40,
    "RIGHT": 28,
    "FULL": 40,
    "LEFT SEMI": 28,
    "LEFT ANTI": 12,
    "LATERAL": 80,
}


@pytest.mark.parametrize("serializer", ["JavaSerializer", "KryoSerializer"])
def test_a_killed_worker_is_replaced(tmp_path: Path, serializer: str) -> None:
    conf = {
        "spark.serializer": f"org.apache.spark.serializer.{serializer}",
        "spark.kryo.registrationRequired": "true",
        "spark.kryo.registrator": thetajoin.KRYO_REGISTRATOR,
        "spark.executor.memory": "512m",
    }
    told = told_by(PROGRAM, list(KINDS), tmp_path, conf, master="local-cluster[2,1,1024]")
    assert told == [[rows, True, True] for rows in KINDS.values()]


@udf(BooleanType())
def starts_alike(x: str, y: str) -> bool:
    return x[0] == y[0]


@thetajoin.accelerator(serves=starts_alike, nearest="highest")
class Starts:
    def nearest(self, index: Any, keys: pa.RecordBatch, k: int) -> Any:
        rows = range(min(k, len(index)))
        pairs = [(i, j) for i in range(keys.num_rows) for j in rows]
        return [i for i, _ in pairs], [j for _, j in pairs]

    def build(self, keys: pa.Table) -> Any:
        return [text[0] for text in keys.column(0).to_pylist()]

    def probe(self, index: Any, keys: pa.RecordBatch) -> Any:
        pairs = [
            (i, j)
            for i, text in enumerate(keys.column(0).to_pylist())
            for j, start in enumerate(index)
            if text[0] == start
        ]
        return [i for i, _ in pairs], [j for _, j in pairs]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("grpc")
    port = free_port()
    conf = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": "127.0.0.1",
    }
    command, folder = submit(conf, "--class", CONNECT), tmp_path_factory.mktemp("connect")
    with pytest.MonkeyPatch.context() as patched:
        # The server's workers run the first python3 of its path.
        patched.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
        with running(command, port, "connect", folder):
            yield f"sc://127.0.0.1:{port}"


def test_it_works_over_connect(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    remote = SparkSession.builder.remote(url).create()
    try:
        from pyspark.sql.connect.functions import udf as remote_udf

        made = remote_udf(starts_alike.func, "boolean")
        thetajoin.accelerator(serves=made, nearest="highest")(Starts)
        thetajoin.register_accelerator(remote, Starts())
        tables = "FROM VALUES ('ab'), ('bc'), ('xy') a(x) {} JOIN VALUES ('b'), ('c'), ('a1'), ('a2') b(y)"
        for kind, rows in (("INNER", 3), ("LEFT", 4), ("FULL", 5), ("LEFT ANTI", 1)):
            query = f"SELECT * {tables.format(kind)} ON starts_alike(x, y)"
            frame = remote.sql(query)
            assert len(frame.collect()) == rows
            assert "BroadcastThetaJoin" in executed_plan(frame)
            assert "BroadcastThetaJoin python" in explain_text(frame)
        lateral = "(SELECT *, starts_alike(x, y) d FROM b ORDER BY d DESC LIMIT 2)"
        query = f"WITH b(y) AS (VALUES ('b'), ('c'), ('a1')) SELECT * FROM VALUES ('ab'), ('x') a(x), LATERAL {lateral}"
        frame = remote.sql(query)
        assert [row.y for row in frame.collect()] == ["b", "c"] * 2
        assert "BroadcastThetaJoin python" in explain_text(frame)
    finally:
        remote.stop()
