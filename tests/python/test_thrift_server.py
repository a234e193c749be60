"""SQL over JDBC to a real Thrift server under conf/thrift. The client is Hive's beeline."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from collections.abc import Callable, Iterator

import pytest
import thetajoin
from servers import SPARK_HOME, THRIFT, environment, free_port, running, submit

pytestmark = pytest.mark.slow

JOIN = """SELECT count(*) AS pairs, sum(a.id - b.id) AS total
FROM range(300) AS a FULL JOIN range(40) AS b ON a.id > b.id * 7"""

Beeline = Callable[..., list[list[str]]]


def _requoted(field: re.Match[str]) -> str:
    doubled = field[1].replace('"', '""')
    return f'"{doubled}"'


@pytest.fixture(scope="module")
def beeline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beeline]:
    port, folder = free_port(), tmp_path_factory.mktemp("thrift")
    client = tmp_path_factory.mktemp("beeline")
    client_environment = environment("thrift", client)

    def query(*statements: str) -> list[list[str]]:
        """Run statements on one connection; their rows."""
        command = [str(SPARK_HOME / "bin" / "beeline"), "-u", f"jdbc:hive2://127.0.0.1:{port}/"]
        command += ["--silent=true", "--showHeader=false", "--outputformat=csv2"]
        for statement in statements:
            command += ["-e", f"{statement};"]
        done = subprocess.run(
            command, cwd=client, env=client_environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        # Beeline quotes a field of several lines by NUL.
        quoted = re.sub("\0(.*?)\0", _requoted, done.stdout, flags=re.DOTALL)
        return list(csv.reader(io.StringIO(quoted, newline="")))

    hive = {"hive.server2.thrift.port": port, "hive.server2.thrift.bind.host": "127.0.0.1"}
    settings = [word for key, value in hive.items() for word in ("--hiveconf", f"{key}={value}")]
    jar = ["--driver-class-path", thetajoin.jar_path()]
    with running(submit({}, *jar, "--class", THRIFT, *settings), port, "thrift", folder):
        yield query


def test_a_join_is_accelerated(beeline: Beeline) -> None:
    ((plan,),) = beeline(f"EXPLAIN {JOIN}")
    assert "BroadcastThetaJoin piecewise, FullOuter" in plan
    assert "[1] FullOuter join ON (a.id > (b.id * 7L)): accelerated by piecewise" in plan
    # Beeline drops line feeds.
    line = json.loads(plan[plan.index('{"report":') :])
    assert [join["accelerator"] for join in line["joins"]] == ["piecewise"]


def test_rows_are_those_of_spark(beeline: Beeline) -> None:
    on, setting, off = beeline(JOIN, "SET spark.thetajoin.enabled=false", JOIN)
    assert setting == ["spark.thetajoin.enabled", "false"]
    assert on == off


def test_the_sql_function_explains_joins(beeline: Beeline) -> None:
    rows = beeline(f"SELECT join_type, accelerator FROM thetajoin_explain('{JOIN}')")
    assert rows == [["FullOuter", "piecewise"]]
