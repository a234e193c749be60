"""Spark with thetajoin off and on: one session, switched by `spark.thetajoin.enabled`.

The tables are Spark's `range` in as many partitions as threads.
"""

from __future__ import annotations

import time
from itertools import product
from typing import get_args

import thetajoin
from pyspark.sql import DataFrame, SparkSession

from benchmarks.engines import Answer, Runner
from benchmarks.executed_plan import ExecutedJoin, executed_join
from benchmarks.queries import JoinType, Query


class SparkRunner(Runner):
    """Runs queries in the session that it shares, the extension switched on or off."""

    def __init__(self, spark: SparkSession, *, enabled: bool) -> None:
        self._spark = spark
        self._enabled = enabled
        self._frame: DataFrame | None = None

    def prepare(self, query: Query) -> None:
        """Make both views, set the switch and let `cancel` interrupt tasks."""
        self._spark.range(query.left_rows).toDF("a").createOrReplaceTempView("t1")
        self._spark.range(query.right_rows).toDF("b").createOrReplaceTempView("t2")
        self._spark.conf.set("spark.thetajoin.enabled", self._enabled)
        self._spark.sparkContext.setInterruptOnCancel(True)

    def run(self, query: Query) -> Answer:
        """Collect the query's one row."""
        self._frame = self._spark.sql(query.sql)
        count, left, right = self._frame.collect()[0]
        return (count, left, right)

    def cancel(self) -> None:
        """Cancel all jobs, and return when no task is left that would slow what follows."""
        context = self._spark.sparkContext
        context.cancelAllJobs()
        tracker = context._jsc.sc().statusTracker()
        while any(executor.numRunningTasks() for executor in tracker.getExecutorInfos()):
            time.sleep(0.05)

    def join(self) -> ExecutedJoin | None:
        """The executed join, after a check that the extension ran it or stayed out of it."""
        if self._frame is None:
            return None
        join = executed_join(self._frame)
        if join.accelerated != self._enabled:
            raise RuntimeError(f"thetajoin enabled: {self._enabled}, but Spark ran: {join.line}")
        return join


def start(threads: int) -> dict[str, Runner]:
    """Both engines by name, over one warm session."""
    builder = SparkSession.builder.master(f"local[{threads}]").appName("thetajoin benchmark")
    settings = {
        "spark.driver.memory": "4g",
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = thetajoin.configure(builder).getOrCreate()
    runners: dict[str, Runner] = {
        "Spark": SparkRunner(spark, enabled=False),
        "Spark + thetajoin": SparkRunner(spark, enabled=True),
    }
    _warm_up(runners)
    return runners


def _warm_up(runners: dict[str, Runner]) -> None:
    """Small joins of each type: the JVM loads and compiles what every query needs."""
    for runner, join_type in product(runners.values(), get_args(JoinType)):
        query = Query("warm-up", join_type, 2_000, 2_000, "a > b AND (a + b) % 7 = 0")
        runner.prepare(query)
        runner.run(query)
