"""Joins of two large sides at a tenth of their size and of the limits: the answers are DuckDB's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.queries import ON
from benchmarks.suites.range import RangeQuery
from benchmarks.suites.scale import queries
from benchmarks.tables import Parquet
from benchmarks.worker import Execution, Worker

pytestmark = pytest.mark.slow

# DuckDB compares too many pairs for these.
SLOW_IN_DUCKDB = ("exists", "exists_both", "far_above_left", "keyed")
QUERIES = [query for query in queries(part=10) if query.name not in SLOW_IN_DUCKDB]

# Of what a driver of 2 GB broadcasts, and of what a task is given.
TENTHS = {
    "spark.thetajoin.broadcast.maxBytes": "13m",
    "spark.thetajoin.shuffle.maxPartitionBytes": "13m",
}


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Worker]]:
    folder = tmp_path_factory.mktemp("conf")
    lines = [f"{key} {value}" for key, value in TENTHS.items()]
    (folder / "spark-defaults.conf").write_text("\n".join(lines))
    started = {
        engine: Worker(f"benchmarks.engines.{module}", threads=2, memory=gigabytes)
        for engine, module, gigabytes in ((ON, "spark", 1), ("DuckDB", "duckdb", 4))
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(folder))
        started[ON].start()
    yield started
    for worker in started.values():
        worker.kill()


@pytest.mark.parametrize("query", QUERIES, ids=[query.name for query in QUERIES])
def test_large_sides_meet_in_little_memory(workers: dict[str, Worker], query: RangeQuery) -> None:
    for table in query.tables:
        if isinstance(table, Parquet) and not table.path.exists():
            table.write()
    ran = [worker.measure(engine, query, limit=120) for engine, worker in workers.items()]
    assert all(isinstance(outcome, Execution) for outcome in ran), ran
    assert ran[0].answer == ran[1].answer
    assert ran[0].join.accelerated
