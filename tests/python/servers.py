"""Starts Spark's own servers under a folder of conf/, and stops them by pid; runs programs under it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
import thetajoin

ROOT = Path(__file__).resolve().parents[2]
SPARK_HOME = Path(pyspark.__file__).parent
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
THRIFT = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
START_SECONDS = 180

# So that a small machine is enough, and nothing is reachable from outside of it.
SMALL = {
    "spark.driver.memory": "1g",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}


def environment(kind: str, folder: Path) -> dict[str, str]:
    """An environment in which conf/<kind>/spark-defaults.conf, as it is, are Spark's defaults."""
    copy = folder / "conf"
    copy.mkdir()
    (copy / "spark-defaults.conf").write_bytes(
        (ROOT / "conf" / kind / "spark-defaults.conf").read_bytes()
    )
    ours = {
        "SPARK_CONF_DIR": str(copy),
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
    return inherited | ours


def submit(conf: Mapping[str, str], *arguments: str, master: str = "local[2]") -> list[str]:
    """The command that an administrator would type, with the jar and, unless told, in local mode."""
    command = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", master]
    command += ["--jars", thetajoin.jar_path()]
    for key, value in {**SMALL, **conf}.items():
        command += ["--conf", f"{key}={value}"]
    return [*command, *arguments]


def told_by(
    program: str,
    queries: Sequence[object],
    folder: Path,
    conf: Mapping[str, str],
    *arguments: str,
    master: str = "local[2]",
) -> Any:
    """What a program says in told.json, run in a folder where queries.json has the queries."""
    (folder / "program.py").write_text(program)
    (folder / "queries.json").write_text(json.dumps(queries))
    done = subprocess.run(
        submit(conf, "program.py", *arguments, master=master),
        cwd=folder,
        env=environment("classic", folder) | {"PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "told.json").read_text())


@contextmanager
def running(command: list[str], port: int, kind: str, folder: Path) -> Iterator[None]:
    """Run a server until the block ends. It runs in the foreground, so that its pid is known."""
    log = folder / "server.log"
    with log.open("w") as out:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(kind, folder),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        _await(server, port, log)
        yield
    finally:
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def _await(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.3)
    tail = "\n".join(log.read_text().splitlines()[-40:])
    raise AssertionError(f"server did not start, exit code {server.poll()}:\n{tail}")
