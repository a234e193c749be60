"""Runs joins of every kind without the extension, and writes event logs of them.

    python advised_queries.py FOLDER

FOLDER/plain, FOLDER/zstd, FOLDER/lz4 and FOLDER/rolled each get a log. The plain one has all
queries, named by their job descriptions, and the others the first of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

TABLES = {
    "trips": "SELECT id, timestamp_seconds(600 * id) AS at FROM range(3000)",
    "outages": "SELECT id AS no, timestamp_seconds(86400 * id) AS started, timestamp_seconds(86400 * id + 3600) AS ended FROM range(20)",
    "a": "SELECT id, int(id % 40) AS x, int(id % 7) AS y, concat('the ', id, ' of ', id % 10) AS text, array(concat('t', id % 5), concat('t', id % 3)) AS tags FROM range(400)",
    "b": "SELECT id, int(id) AS x, int(id % 5) AS y, concat('of ', id) AS word, concat('t', id) AS tag FROM range(30)",
    "big": "SELECT id, int(id % 4) AS k, id * 10 AS t FROM range(40000)",
    "windows": "SELECT id, int(id % 4) AS k, id * 20 AS lo, id * 20 + 5 AS hi FROM range(20000)",
}
QUERIES = {
    "interval": "SELECT t.id, o.no FROM trips t LEFT JOIN outages o ON t.at >= o.started AND t.at < o.ended",
    "inequality": "SELECT a.id, b.id FROM a JOIN b ON a.x > b.x",
    "like": "SELECT a.id, b.id FROM a JOIN b ON a.text LIKE concat('%', b.word, '%')",
    "array": "SELECT a.id FROM a LEFT SEMI JOIN b ON array_contains(a.tags, b.tag)",
    "or": "SELECT a.id, b.id FROM a JOIN b ON a.x = b.x OR a.id = b.id + 5",
    "not in": "SELECT a.id FROM a WHERE (a.x, a.y) NOT IN (SELECT x, y FROM b)",
    "mark": "SELECT a.id, EXISTS (SELECT 1 FROM b WHERE a.x > b.x AND a.y < b.y) AS e FROM a",
    "no index": "SELECT a.id, b.id FROM a JOIN b ON (a.x + b.x) % 5 = 0",
    "cross": "SELECT a.id, b.id FROM a CROSS JOIN b",
    "function": "SELECT a.id, b.id FROM a JOIN b ON plus_one(a.x) > b.x",
    "hash": "SELECT g.id, w.id FROM big g JOIN windows w ON g.k = w.k AND g.t >= w.lo AND g.t < w.hi",
    "equi": "SELECT g.id, w.id FROM big g JOIN windows w ON g.id = w.id",
    "few pairs": "SELECT g.id, w.id FROM big g JOIN windows w ON g.id = w.id AND g.t < w.hi",
}


def session(folder: Path, **confs: str) -> SparkSession:
    folder.mkdir(parents=True)
    builder = SparkSession.builder.master("local[2]").appName("advised")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "localhost",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        **confs,
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def run(spark: SparkSession, names: list[str]) -> None:
    for name in names:
        spark.sparkContext.setJobDescription(name)
        spark.sql(QUERIES[name]).write.format("noop").mode("overwrite").save()


def main(folder: Path) -> None:
    spark = session(folder / "plain")
    for name, query in TABLES.items():
        spark.sparkContext.setJobDescription(f"table {name}")
        spark.sql(query).write.parquet(str(folder / "tables" / name))
    views(spark, folder)
    spark.udf.register("plus_one", lambda x: x + 1, "int")
    run(spark, list(QUERIES))
    spark.stop()
    for kind in ("zstd", "lz4", "rolled"):
        confs = {"spark.eventLog.compress": "true", "spark.eventLog.compression.codec": "zstd"}
        if kind == "lz4":
            confs["spark.eventLog.compression.codec"] = "lz4"
        confs["spark.eventLog.rolling.enabled"] = str(kind == "rolled").lower()
        spark = session(folder / kind, **confs)
        views(spark, folder)
        run(spark, ["interval"])
        spark.stop()


def views(spark: SparkSession, folder: Path) -> None:
    for name in TABLES:
        spark.read.parquet(str(folder / "tables" / name)).createOrReplaceTempView(name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
