"""A stream joined with a table of IP ranges, extension off and on: `python -m benchmarks.streams`.

The stream is a folder of files, or Spark's rate source. A line for each run gives the rows a
second, the seconds of a micro-batch (the median after the first, and the first), and how many
micro-batches built an index. Off runs fewer micro-batches: each looks at all pairs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import thetajoin
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

RANGES = 1_000_000
WIDTH = 4000
HIT = f"abs(xxhash64({{}})) % {RANGES * WIDTH} AS n"
BUILT = "built to be kept"


def main() -> int:
    """Print a line for off and for on; 1 if rows differ, or if several indexes were built."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", choices=("files", "rate"), default="files")
    parser.add_argument("--rows", type=int, default=2000, help="of a micro-batch")
    parser.add_argument("--batches", type=int, default=30, help="with the extension on")
    parser.add_argument("--off", type=int, default=4, help="micro-batches with it off")
    options = parser.parse_args()
    spark = _session()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_ranges(spark, folder)
        runs = {}
        for enabled, batches in (("false", options.off), ("true", options.batches)):
            hits = _hits(spark, folder / f"hits-{enabled}", options.source, options.rows, batches)
            runs[enabled] = _run(spark, hits, folder, enabled, batches)
            first, median, built = runs[enabled]
            print(
                f"{'on ' if enabled == 'true' else 'off'} {options.rows / median:12,.0f} rows/s, "
                f"{median:.3f} s a micro-batch, the first {first:.2f} s, {built} indexes built",
                flush=True,
            )
        few = options.rows * options.off
        same = _rows(spark, folder, "false", few) == _rows(spark, folder, "true", few)
    print(f"{runs['false'][1] / runs['true'][1]:.0f}x{'' if same else '  OTHER ROWS'}")
    return int(not same or runs["true"][2] != 1)


def _session() -> SparkSession:
    return thetajoin.configure(
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
    ).getOrCreate()


def _write_ranges(spark: SparkSession, folder: Path) -> None:
    ranges = spark.range(RANGES, numPartitions=4).selectExpr(
        f"id * {WIDTH} AS first",
        f"id * {WIDTH} + {WIDTH - 1} - id % 1000 AS last",
        "concat('country ', id % 200) AS country",
    )
    ranges.write.parquet(str(folder / "ranges"))


def _hits(spark: SparkSession, folder: Path, source: str, rows: int, batches: int) -> DataFrame:
    """A stream with so many rows in a micro-batch."""
    if source == "rate":
        rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows)
        return rate.load().selectExpr("value AS id", HIT.format("value"))
    hits = spark.range(rows * batches, numPartitions=batches)
    hits.selectExpr("id", HIT.format("id")).write.parquet(str(folder))
    files = spark.readStream.schema("id BIGINT, n BIGINT").option("maxFilesPerTrigger", 1)
    return files.parquet(str(folder))


def _run(
    spark: SparkSession, hits: DataFrame, folder: Path, enabled: str, batches: int
) -> tuple[float, float, int]:
    """Seconds of the first micro-batch, the median of the others, and how many built an index."""
    spark.conf.set("spark.thetajoin.enabled", enabled)
    ranges = spark.read.parquet(str(folder / "ranges"))
    joined = hits.join(ranges, hits.n.between(ranges["first"], ranges["last"]))
    writer = joined.select("id", "country").writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(folder / f"state-{enabled}"))
    query = writer.start(str(folder / f"out-{enabled}"))
    first, *others = [p["durationMs"]["triggerExecution"] / 1000 for p in _done(query, batches)]
    return first, statistics.median(others), _built(spark)


def _done(query: StreamingQuery, batches: int) -> list[Any]:
    """The progress of so many micro-batches; the query is stopped then."""
    try:
        while len(done := [p for p in query.recentProgress if p["numInputRows"]]) < batches:
            if not query.isActive:
                query.awaitTermination()
            time.sleep(0.1)
    finally:
        query.stop()
    return done[:batches]


def _built(spark: SparkSession) -> int:
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    executions = spark._jsparkSession.sharedState().statusStore().executionsList()
    plans = (executions.apply(i).physicalPlanDescription() for i in range(executions.size()))
    return sum(BUILT in plan for plan in plans)


def _rows(spark: SparkSession, folder: Path, enabled: str, below: int) -> list[Row]:
    out: DataFrame = spark.read.parquet(str(folder / f"out-{enabled}"))
    return sorted(out.where(out.id < below).collect())


if __name__ == "__main__":
    sys.exit(main())
