"""A file as GeoParquet has it: a column of well-known binary, and a struct with the ends of its bounding boxes."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from differential import ENABLED
from pyspark.sql import SparkSession

BOX = "bbox.xmin <= {0} AND bbox.xmax >= {0} AND bbox.ymin <= {1} AND bbox.ymax >= {1}"
INSIDE = "st_contains(geometry, place)"


def square(x: float, y: float, side: float) -> bytes:
    corners = ((0, 0), (side, 0), (side, side), (0, side), (0, 0))
    points = b"".join(struct.pack("<dd", x + dx, y + dy) for dx, dy in corners)
    return struct.pack("<BIII", 1, 3, 1, 5) + points


@pytest.fixture
def zones(spark: SparkSession, tmp_path: Path) -> str:
    squares = [(n % 20 * 1.5, n // 20 * 1.5, 1 + n % 3 / 2) for n in range(300)]
    table = pa.table({
        "zone": list(range(len(squares))),
        "geometry": [square(*s) for s in squares],
        "bbox": [{"xmin": x, "ymin": y, "xmax": x + side, "ymax": y + side} for x, y, side in squares],
    })  # fmt: skip
    column = {"encoding": "WKB", "geometry_types": ["Polygon"], "covering": {"bbox": {}}}
    column["covering"]["bbox"] = {k: ["bbox", k] for k in ("xmin", "ymin", "xmax", "ymax")}  # type: ignore[index]
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
    file = tmp_path / "zones.parquet"
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), file)
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW places AS SELECT id, id * 7.3D % 31 AS x, id * 3.1D % 23 AS y, "
        "st_point(id * 7.3D % 31, id * 3.1D % 23) AS place FROM range(2000)"
    )
    return f"parquet.`{file}`"


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize("condition", [INSIDE, f"{INSIDE} AND {BOX}", f"{BOX} AND {INSIDE}", BOX])
def test_joins_on_it(spark: SparkSession, zones: str, join: str, condition: str) -> None:
    condition = condition.format("x", "y")
    query = f"SELECT id, zone FROM places {join} {zones} ON {condition}"
    spark.conf.set(ENABLED, "false")
    expected = sorted(map(tuple, spark.sql(query).collect()), key=str)
    spark.conf.set(ENABLED, "true")
    joined = spark.sql(query)
    assert sorted(map(tuple, joined.collect()), key=str) == expected
    assert len(expected) > 1500
    plan = joined._jdf.queryExecution().executedPlan().toString()
    assert "ThetaJoin boxes, " in plan


def test_a_filter_on_the_ends_is_pushed_to_the_file(spark: SparkSession, zones: str) -> None:
    spark.conf.set("spark.sql.maxMetadataStringLength", "1000")
    ends = BOX.format(3, 4)
    joined = spark.sql(f"SELECT id, zone FROM places JOIN {zones} ON {INSIDE} WHERE {ends}")
    plan = joined._jdf.queryExecution().executedPlan().toString()
    assert "ThetaJoin boxes, " in plan
    assert "LessThanOrEqual(bbox.xmin,3.0)" in plan
    assert {row["zone"] for row in joined.collect()} <= {42, 41, 22, 21}
