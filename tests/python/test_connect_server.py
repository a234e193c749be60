"""The whole path over a real Spark Connect server under conf/connect."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
import thetajoin
from pyspark.sql import SparkSession
from servers import CONNECT, ROOT, free_port, running, submit
from thetajoin import settings
from thetajoin._plans import EXPLAIN_PROVIDERS, executed_plan, explain_text

pytest.importorskip("grpc")
pytestmark = pytest.mark.slow

QUERY = """
SELECT t.id, t.v, b.low FROM
  (SELECT id, id * 7 % 100 AS v FROM range(500)) AS t
  {join} JOIN (SELECT id * 8 AS low, id % 3 AS kind FROM range(12)) AS b
  ON t.v < b.low AND (t.v + b.kind) % 2 = 0
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    conf = {"spark.connect.grpc.binding.port": str(port)}
    conf["spark.connect.grpc.binding.address"] = "127.0.0.1"
    command = submit(conf, "--class", CONNECT)
    with running(command, port, "connect", tmp_path_factory.mktemp("connect")):
        yield f"sc://127.0.0.1:{port}"


@pytest.fixture
def remote(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkSession]:
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")  # create() sets it; undone after the test
    session = SparkSession.builder.remote(url).create()
    yield session
    session.stop()


@pytest.mark.parametrize("join", ["INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"])
def test_accelerated_joins_give_the_rows_of_spark(remote: SparkSession, join: str) -> None:
    query = QUERY.format(join=join)
    if "SEMI" in join or "ANTI" in join:
        query = query.replace(", b.low FROM", " FROM")
    on = remote.sql(query)
    rows = on.collect()
    assert "BroadcastThetaJoin" in executed_plan(on)
    assert "BroadcastThetaJoin piecewise" in explain_text(on)
    remote.sql(f"SET {settings.ENABLED}=false")
    off = remote.sql(query)
    assert sorted(map(repr, off.collect())) == sorted(map(repr, rows))
    assert "ThetaJoin" not in executed_plan(off)
    assert rows


def test_asof_joins_of_timestamps(remote: SparkSession) -> None:
    rows = remote.sql("SELECT id, timestamp_seconds(60 * id) AS t FROM range(4)")
    joined = thetajoin.asof_join(
        rows, rows.where("id = 1"), on="t", tolerance=timedelta(minutes=1), suffixes=("", "_at")
    )
    found = sorted((row["id"], row["id_at"]) for row in joined.collect())
    assert found == [(0, None), (1, 1), (2, 1), (3, None)]
    assert [join.accelerator for join in thetajoin.explain_joins(joined)] == ["nearest"]


def test_explain_joins_and_the_sql_function_say_the_same(remote: SparkSession) -> None:
    (report,) = thetajoin.explain_joins(remote.sql(QUERY.format(join="LEFT")))
    assert (report.join_type, report.accelerator) == ("LeftOuter", "piecewise")
    assert len(report.index) == 1
    assert len(report.residual) == 1
    text = QUERY.format(join="LEFT").replace("'", "\\'")
    (row,) = remote.sql(f"SELECT * FROM thetajoin_explain('{text}')").collect()
    assert row["accelerator"] == report.accelerator
    assert tuple(row["index"]) == report.index
    assert tuple(row["residual"]) == report.residual


def test_explain_joins_leaves_the_sessions_own_providers(remote: SparkSession) -> None:
    remote.conf.set(EXPLAIN_PROVIDERS, "")
    assert thetajoin.explain_joins(remote.sql(QUERY.format(join="FULL")))[0].accelerated
    assert remote.conf.get(EXPLAIN_PROVIDERS) == ""


def test_sessions_at_once_have_their_own_settings(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    sessions = [SparkSession.builder.remote(url).create() for _ in range(4)]

    def ran(number: int) -> list[tuple[list[str], bool]]:
        session = sessions[number]
        session.conf.set(settings.ENABLED, str(number % 2 == 0).lower())
        frames = [session.sql(QUERY.format(join=join)) for join in ("LEFT", "FULL") * 2]
        return [
            (sorted(map(repr, frame.collect())), "ThetaJoin" in executed_plan(frame))
            for frame in frames
        ]

    with ThreadPoolExecutor(len(sessions)) as threads:
        results = list(threads.map(ran, range(len(sessions))))
    for session in sessions:
        session.stop()
    assert all(
        [rows for rows, _ in of_one] == [rows for rows, _ in results[0]] for of_one in results
    )
    assert [[on for _, on in of_one] for of_one in results] == [[True] * 4, [False] * 4] * 2


def test_configure_leaves_a_builder_of_a_server_alone(url: str) -> None:
    builder = SparkSession.builder.remote(url)
    with pytest.warns(thetajoin.RemoteBuilderWarning, match="doctor --remote"):
        assert thetajoin.configure(builder) is builder
    assert builder._options == {"spark.remote": url}


def test_doctor_finds_the_server_healthy(url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "thetajoin", "doctor", "--remote", url],
        env=os.environ | {"PYTHONPATH": str(ROOT / "python" / "src")},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok    join     ran as BroadcastThetaJoin" in done.stdout
