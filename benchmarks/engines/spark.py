"""Spark with thetajoin off and on: one session, switched by `spark.thetajoin.enabled`.

Integers are Spark's `range` in as many partitions as threads. Rows are written to Spark's `noop`
sink, which takes each and keeps none.
"""

from __future__ import annotations

import time
from itertools import product
from typing import get_args

import thetajoin
from pyspark.sql import DataFrame, SparkSession

from benchmarks.engines import Answer, Runner
from benchmarks.executed_plan import (
    ExecutedJoin,
    Executions,
    executed_join,
    rows_written,
    theta_joins,
)
from benchmarks.queries import OFF, ON, Query
from benchmarks.suites.nlj import JoinType, NestedLoopQuery
from benchmarks.tables import Range, Table


class Views:
    """The tables that a session knows by name: to open a file may take as long as a join."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._tables: dict[str, Table] = {}

    def make(self, table: Table) -> None:
        """Let the table's name mean this table."""
        if self._tables.get(table.name) == table:
            return
        frame = (
            self._spark.range(table.rows).toDF(table.column)
            if isinstance(table, Range)
            else self._spark.read.parquet(str(table.path))
        )
        frame.createOrReplaceTempView(table.name)
        self._tables[table.name] = table


class SparkRunner(Runner):
    """Runs queries in the session that it shares, the extension switched on or off."""

    def __init__(
        self, spark: SparkSession, executions: Executions, views: Views, *, enabled: bool
    ) -> None:
        self._spark = spark
        self._executions = executions
        self._views = views
        self._enabled = enabled
        self._joins: int | None = 0
        jvm = spark.sparkContext._gateway.jvm.java.lang  # type: ignore[union-attr]
        self._system = jvm.management.ManagementFactory.getOperatingSystemMXBean()
        # The bean's own class can't be called by reflection, its interface can.
        interface = jvm.Class.forName("com.sun.management.OperatingSystemMXBean")
        self._cpu_time = interface.getMethod("getProcessCpuTime", None)

    def prepare(self, query: Query) -> None:
        """Make the views, set the switch and let `cancel` interrupt tasks."""
        for table in query.tables:
            self._views.make(table)
        self._spark.conf.set("spark.thetajoin.enabled", self._enabled)
        self._spark.sparkContext.setInterruptOnCancel(True)
        asked = query.joins if self._enabled or query.joins is None else 1
        self._joins = None if asked is None else len(query.tables) - 2 + asked

    def run(self, query: Query) -> Answer:
        """Collect the query's one row."""
        return tuple(self._frame(query).collect()[0])

    def write(self, query: Query) -> None:
        """Write the rows to nowhere."""
        self._frame(query).write.format("noop").mode("overwrite").save()

    def written(self) -> int:
        """As the executed write has counted."""
        return rows_written(self._executions.last_plan())

    def read(self, scan: str) -> None:
        """Collect the scan's row for each table."""
        self._spark.sql(scan).collect()

    def cancel(self) -> None:
        """Cancel all jobs, and return when no task is left that would slow what follows."""
        context = self._spark.sparkContext
        context.cancelAllJobs()
        tracker = context._jsc.sc().statusTracker()
        while any(executor.numRunningTasks() for executor in tracker.getExecutorInfos()):
            time.sleep(0.05)

    def join(self) -> ExecutedJoin | None:
        """The executed join, after a check that the extension ran it or stayed out of it."""
        if self._joins is None:
            return None
        join = executed_join(self._executions.last_plan(), self._joins)
        if join.accelerated != self._enabled:
            raise RuntimeError(f"thetajoin enabled: {self._enabled}, but Spark ran: {join.line}")
        return join

    def theta_joins(self) -> tuple[str, ...]:
        """Read from the executed plan, after a check that there are none with the extension off."""
        found = tuple(theta_joins(self._executions.last_plan()))
        if found and not self._enabled:
            raise RuntimeError(f"thetajoin is off, but Spark ran {found}")
        return found

    def cpu_seconds(self) -> float:
        """The CPU time of the JVM: tasks, planning, collection of garbage and compilation."""
        return float(self._cpu_time.invoke(self._system, None)) / 1e9

    def _frame(self, query: Query) -> DataFrame:
        return self._spark.sql(query.sql_of(ON if self._enabled else OFF))


def session(threads: int, memory: int | None = None) -> SparkSession:
    """A session with the extension, in so many GB."""
    builder = SparkSession.builder.master(f"local[{threads}]").appName("thetajoin benchmark")
    settings = {
        "spark.driver.memory": f"{memory or 4}g",
        # A query that is cancelled at the time limit is no error; others are raised.
        "spark.log.level": "FATAL",
        "spark.sql.join.asofJoin.enabled": "true",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return thetajoin.configure(builder).getOrCreate()


def start(threads: int, memory: int | None = None) -> dict[str, Runner]:
    """The engines by name, over one warm session."""
    spark = session(threads, memory)
    executions, views = Executions(spark), Views(spark)
    runners: dict[str, Runner] = {
        OFF: SparkRunner(spark, executions, views, enabled=False),
        ON: SparkRunner(spark, executions, views, enabled=True),
    }
    _warm_up(runners)
    return runners


def _warm_up(runners: dict[str, Runner]) -> None:
    """Small joins of each type: the JVM loads and compiles what every query needs."""
    for runner, join_type in product(runners.values(), get_args(JoinType)):
        query = NestedLoopQuery(
            name="warm-up",
            join_type=join_type,
            left=2_000,
            right=2_000,
            condition="a > b AND (a + b) % 7 = 0",
        )
        runner.prepare(query)
        runner.run(query)
