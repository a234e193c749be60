"""A program for another Spark: a stream joined with a table of Delta that changes while the stream runs.

Reads a job as JSON on its command line. Says as JSON on its last line what the rows are, which joins of ours ran,
and which micro-batches built an index, with the extension off and on.
"""

from __future__ import annotations

import json
import random
import sys
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import thetajoin
from pyspark.sql import SparkSession
from streaming import BUILT, Events, rows, run_steps


def main(job: dict[str, Any]) -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.log.level", "ERROR").config("spark.sql.shuffle.partitions", "2")
    for key, value in job["confs"].items():
        builder = builder.config(key, value)
    spark = thetajoin.configure(builder).getOrCreate()
    told: dict[str, Any] = {}
    for enabled in ("false", "true"):
        spark.conf.set("spark.thetajoin.enabled", enabled)
        for statement in job["setup"]:
            spark.sql(statement)
        folder = Path(f"run-{enabled}").absolute()
        folder.mkdir()
        events = Events(folder / "events", random.Random(7))
        events.stream(spark).createOrReplaceTempView("events")
        changes = [partial(spark.sql, statement) for statement in job["changes"]]
        done = run_steps(spark.sql(job["query"]), folder, events, changes)
        told[enabled] = {
            "rows": sorted(rows(spark, folder).items()),
            "joins": sorted(done.joins),
            "built": [BUILT in plan for plan in done.plans if "events" in plan],
        }
    print(json.dumps(told))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
