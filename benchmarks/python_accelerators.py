"""Joins on a Python function: on an accelerator in Python, by Spark alone, and in Python alone.

``python -m benchmarks.python_accelerators`` prints a table. Spark alone calls the function for all
pairs, so it gets a part of one side's rows, and its time is scaled.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
import thetajoin
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from pyspark.sql.types import BooleanType, DoubleType
from rapidfuzz import fuzz, process

from benchmarks.polygons import Polygons

LEAST = 90.0


@udf(BooleanType())
def lies_in(x: float, y: float, area: bytes) -> bool:
    return bool(shapely.intersects_xy(shapely.from_wkb(area), x, y))


class Areas:
    def build(self, keys: pa.Table) -> Any:
        return shapely.STRtree(shapely.from_wkb(np.array(keys["area"])))

    def probe(self, tree: Any, keys: pa.RecordBatch) -> Any:
        x, y = np.array(keys["x"]), np.array(keys["y"])
        points, areas = tree.query(shapely.points(x, y))
        order = np.argsort(areas, kind="stable")
        points, areas = points[order], areas[order]
        shapely.prepare(tree.geometries)
        found = shapely.intersects_xy(tree.geometries[areas], x[points], y[points])
        return points[found], areas[found]


@udf(DoubleType())
def name_score(x: str, y: str) -> float:
    return float(fuzz.ratio(x, y))


class Names:
    def build(self, keys: pa.Table, least: float) -> Any:
        return keys.column(0).to_pylist()

    def probe(self, names: Any, keys: pa.RecordBatch, least: float) -> Any:
        return alike(keys.column(0).to_pylist(), names, least)


def alike(asked: list[str], names: list[str], least: float) -> Any:
    found = [np.empty((2, 0), dtype=np.int64)]
    for start in range(0, len(asked), 500):
        part = asked[start : start + 500]
        scores = process.cdist(part, names, scorer=fuzz.ratio, score_cutoff=least, dtype=np.float32)
        rows, columns = np.nonzero(scores)
        found.append(np.stack((rows + start, columns)))
    return np.concatenate(found, axis=1)


@dataclass(frozen=True)
class Measured:
    """A join, its pairs by Python alone, and how many of the rows of `probe` Spark alone gets."""

    name: str
    query: str
    probe: str
    rows: int
    sample: int
    alone: str
    by_hand: Callable[[Path], int]


def points_in_polygons(folder: Path) -> int:
    # With the time to read both, as Spark's has.
    points = pq.read_table(folder / "points").to_pandas()
    areas = pq.read_table(folder / "areas").to_pandas()
    frame = geopandas.GeoDataFrame(points, geometry=geopandas.points_from_xy(points.x, points.y))
    shapes = geopandas.GeoDataFrame(areas, geometry=shapely.from_wkb(areas.area))
    joined = geopandas.sjoin(frame, shapes, predicate="intersects")
    return len(joined) if joined.id.max() >= 0 else 0


def names_alike(folder: Path) -> int:
    guests, customers = (
        pq.read_table(folder / name).column("name").to_pylist() for name in ("guests", "customers")
    )
    return int(alike(guests, customers, LEAST).shape[1])


JOINS = [
    Measured(
        "points in polygons",
        "SELECT max(id), max(w), count(*) FROM {probe} p JOIN areas a ON lies_in(p.x, p.y, a.area)",
        "points",
        1_000_000,
        100,
        "geopandas.sjoin",
        points_in_polygons,
    ),
    Measured(
        "names alike",
        "SELECT max(g.id), max(c.id), count(*) FROM {probe} g JOIN customers c "
        f"ON name_score(g.name, c.name) >= {LEAST}D",
        "guests",
        100_000,
        100,
        "process.cdist",
        names_alike,
    ),
]


def write_tables(folder: Path) -> None:
    generator = np.random.default_rng(1)
    count = 1_000_000
    corners = generator.uniform(0, 1000, (2, count))
    points = pa.table({"id": np.arange(count), "x": corners[0], "y": corners[1]})
    drawn = Polygons("areas", rows=10_000, radius=5.0, corners=(10, 100))
    shapes = drawn._values(generator, range(drawn.rows))
    areas = pa.table({"w": np.arange(drawn.rows), "area": pa.array(shapes, pa.binary())})
    tables = {"points": points, "areas": areas}
    names = {"customers": person_names(generator, 10_000)}
    names["guests"] = person_names(generator, 99_000) + [
        misspelt(n) for n in names["customers"][:1000]
    ]
    for name, texts in names.items():
        tables[name] = pa.table({"id": np.arange(len(texts)), "name": texts})
    for name, table in tables.items():
        (folder / name).mkdir()
        parts = 4
        size = table.num_rows // parts
        for part in range(parts):
            pq.write_table(table.slice(part * size, size), folder / name / f"{part}.parquet")


def person_names(generator: np.random.Generator, rows: int) -> list[str]:
    syllables = [c + v for c in "bdfghklmnprstvw" for v in "aeiou"]
    parts = generator.integers(0, len(syllables), (rows, 8))
    return [
        "".join(syllables[i] for i in row[:4]).title()
        + " "
        + "".join(syllables[i] for i in row[4:]).title()
        for row in parts
    ]


def misspelt(name: str) -> str:
    return name[:3] + name[4:]


def seconds(run: Callable[[], Any], times: int) -> tuple[float, Any]:
    taken, result = [], None
    for _ in range(times):
        started = time.perf_counter()
        result = run()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken), result


def session() -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for key, value in {
        "spark.driver.memory": "4g",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "2",
    }.items():
        builder = builder.config(key, value)
    return thetajoin.configure(builder).getOrCreate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--times", type=int, default=3, help="how often each is run; the median counts"
    )
    arguments = parser.parse_args()
    thetajoin.accelerator(serves=lies_in, build="area")(Areas)
    thetajoin.accelerator(serves=name_score, compared=">=")(Names)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder)
        spark = session()
        for table in folder.iterdir():
            spark.read.parquet(str(table)).createOrReplaceTempView(table.name)
        thetajoin.register_accelerator(spark, Areas())
        thetajoin.register_accelerator(spark, Names())
        print("| join | pairs | on | off | off / on | alone | on / alone |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for join in JOINS:
            print(measured(spark, join, folder, arguments.times), flush=True)
        spark.stop()


def measured(spark: SparkSession, join: Measured, folder: Path, times: int) -> str:
    spark.table(join.probe).limit(join.sample).createOrReplaceTempView("sample")
    query = join.query.format(probe=join.probe)
    (report,) = thetajoin.explain_joins(spark.sql(query))
    assert report.accelerator == "python", report
    spark.sql(query).collect()
    on, rows = seconds(lambda: spark.sql(query).collect(), times)
    pairs = rows[0][2]
    spark.conf.set("spark.thetajoin.enabled", "false")
    part = join.query.format(probe="sample")
    spark.sql(part).collect()
    off = seconds(lambda: spark.sql(part).collect(), 1)[0] * join.rows / join.sample
    spark.conf.set("spark.thetajoin.enabled", "true")
    alone, by_hand = seconds(lambda: join.by_hand(folder), times)
    assert pairs == by_hand, (pairs, by_hand)
    return (
        f"| {join.name} | {pairs} | {on:.1f} s | {off:.0f} s (from {join.sample} rows) | "
        f"{off / on:.0f} | {join.alone} {alone:.1f} s | {on / alone:.2f} |"
    )


if __name__ == "__main__":
    main()
