"""A program for another Spark: statements of a table format or of Sedona, with the extensions in some order.

Reads a job as JSON on its command line: confs, jars, statements to run, a query for the rows. Says as JSON on its
last line what the rows are, and which joins of ours ran in the statements, with the extension off and on.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import thetajoin
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

_NODE = re.compile(r"\w+ThetaJoin (\w+, \w+),")


class Plans:
    """Listens to a session: a MERGE runs queries of its own, whose plans it does not hand out."""

    def __init__(self, spark: SparkSession) -> None:
        self.seen: list[str] = []
        self._bus = spark.sparkContext._jsc.sc().listenerBus()
        ensure_callback_server_started(spark.sparkContext._gateway)
        spark._jsparkSession.listenerManager().register(self)

    def take(self) -> list[str]:
        """The plans since the last call."""
        self._bus.waitUntilEmpty()
        seen, self.seen = self.seen, []
        return seen

    def onSuccess(self, action: str, execution: Any, nanoseconds: int) -> None:  # noqa: N802
        self.seen.append(execution.executedPlan().toString())

    def onFailure(self, action: str, execution: Any, error: Any) -> None:  # noqa: N802
        pass

    class Java:
        implements = ("org.apache.spark.sql.util.QueryExecutionListener",)


def main(job: dict[str, Any]) -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.log.level", "ERROR").config("spark.sql.shuffle.partitions", "2")
    for key, value in job["confs"].items():
        builder = builder.config(key, value)
    builder = thetajoin.configure(builder)
    if job["ours"] == "first":
        names = builder._options["spark.sql.extensions"].split(",")
        builder = builder.config("spark.sql.extensions", ",".join(reversed(names)))
    spark = builder.getOrCreate()
    plans = Plans(spark)
    told: dict[str, Any] = {"extensions": spark.conf.get("spark.sql.extensions")}
    for enabled in ("false", "true"):
        spark.conf.set("spark.thetajoin.enabled", enabled)
        joins: dict[str, list[str]] = {}
        for statement in job["setup"]:
            spark.sql(statement)
        plans.take()
        for name, statement in job["statements"].items():
            spark.sql(statement).collect()
            joins[name] = sorted({n for plan in plans.take() for n in _NODE.findall(plan)})
        rows = sorted(map(str, spark.sql(job["query"]).collect())) if job["query"] else []
        told[enabled] = {"joins": joins, "rows": rows}
    print(json.dumps(told))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
