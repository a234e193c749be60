"""Delta, Iceberg and Sedona in one session with thetajoin, the extensions in either order.

`make test-beside` fetches their jars. docs/with-delta-iceberg-sedona.md says what runs here.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import how_to
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
JARS = ROOT / "build/beside"

BANDS = """CREATE OR REPLACE TEMP VIEW bands AS
SELECT id AS no, id * 40 AS low, id * 40 + 40 AS high FROM range(20)"""
ROWS = "SELECT id AS pk, id * 7 % 1000 AS x, CAST(0 AS BIGINT) AS v FROM range(500)"
MERGE = """MERGE INTO t USING bands s ON t.x >= s.low AND t.x < s.high
WHEN MATCHED THEN UPDATE SET v = s.no
WHEN NOT MATCHED THEN INSERT (pk, x, v) VALUES (-s.no, -1, s.no)"""
READ = "SELECT t.pk, s.no FROM t JOIN bands s ON t.x >= s.low AND t.x < s.high"
WITHIN = "EXISTS (SELECT 1 FROM bands s WHERE t.x >= s.low + {} AND t.x < s.low + {})"
DELTA = {
    "confs": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    },
    "spark": "4.2.1",
    "jars": ["delta-spark_4.2_2.13", "delta-storage"],
    "setup": ["DROP TABLE IF EXISTS t", f"CREATE TABLE t USING delta AS {ROWS}", BANDS],
    # Delta has no subqueries in DELETE and UPDATE.
    "statements": {
        "MERGE": MERGE,
        "DELETE": "DELETE FROM t WHERE x BETWEEN 5 AND 90",
        "UPDATE": "UPDATE t SET v = 99 WHERE x > 700",
        "read": READ,
    },
    "query": "SELECT * FROM t",
}
ICEBERG = {
    "confs": {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": "warehouse",
        "spark.sql.defaultCatalog": "ice",
    },
    "spark": "4.1.4",
    "jars": ["iceberg-spark-runtime-4.1_2.13"],
    "setup": [
        "CREATE NAMESPACE IF NOT EXISTS db", "USE db", "DROP TABLE IF EXISTS t",
        f"CREATE TABLE t USING iceberg AS {ROWS}", BANDS,
    ],
    "statements": {
        "MERGE": MERGE,
        "DELETE": f"DELETE FROM t WHERE {WITHIN.format(5, 9)}",
        "UPDATE": f"UPDATE t SET v = 99 WHERE {WITHIN.format(20, 22)}",
        "read": READ,
    },
    "query": "SELECT * FROM t",
}  # fmt: skip
SEDONA = {
    "confs": {
        "spark.sql.extensions": "org.apache.sedona.sql.SedonaSqlExtensions",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.sedona.core.serde.SedonaKryoRegistrator",
    },
    "spark": "4.0.5",
    "jars": ["sedona-spark-shaded-4.0_2.13", "geotools-wrapper"],
    "setup": [
        "CREATE OR REPLACE TEMP VIEW p AS SELECT id, id % 97 / 8 AS x, id % 31 / 4 AS y FROM range(500)",
        """CREATE OR REPLACE TEMP VIEW z AS SELECT id AS no, id AS low, id + 2 AS high,
        ST_GeomFromText(concat('POLYGON((', id, ' 0, ', id + 2, ' 0, ', id + 2, ' 5, ', id, ' 5, ', id, ' 0))')) AS shape
        FROM range(6)""",
    ],
    "statements": {
        "geometries": "SELECT p.id, z.no FROM p JOIN z ON ST_Contains(z.shape, ST_Point(p.x, p.y))",
        "columns": "SELECT p.id, z.no FROM p JOIN z ON p.x >= z.low AND p.x < z.high",
    },
    "query": "SELECT p.id, z.no FROM p JOIN z ON ST_Contains(z.shape, ST_Point(p.x, p.y)) AND p.x >= z.low",
}
# Sedona's functions and ours of the same points; ours has a name that Sedona lacks.
PLACE = "pmod(hash({0}, {1}), 1000000) / 1e6 * {2} - {2} / 2"
GLOBE = SEDONA | {
    "setup": [
        "CREATE OR REPLACE TEMP VIEW places AS SELECT id, ST_Point({}, {}) AS p, ST_Point({}, {}) AS q FROM range(200)".format(
            *(PLACE.format("id", n, 360 if n % 2 else 180) for n in (1, 2, 3, 4))
        )
    ],
    "statements": {
        name: f"SELECT l.id, r.id FROM places l JOIN places r ON {condition}"
        for name, condition in {
            "sphere": "ST_DistanceSphere(l.p, r.q) < 500000",
            "spheroid": "ST_DistanceSpheroid(l.p, r.q) <= 500000",
            "within": "ST_DWithin(l.p, r.q, 500000, true)",
        }.items()
    },
    "query": """SELECT count(*) AS pairs, count_if(abs(sphere - ourSphere) <= 1e-6 * sphere) AS sphere,
    count_if(abs(spheroid - ourSpheroid) <= 1e-6 * spheroid) AS spheroid, count_if(within = ourWithin) AS within,
    count_if(within) BETWEEN 20 AND 180 AS both FROM (SELECT
    ST_DistanceSphere(p, q) AS sphere, try_st_distancesphere(ST_AsBinary(p), ST_AsBinary(q)) AS ourSphere,
    ST_DistanceSpheroid(p, q) AS spheroid, try_st_distancespheroid(ST_AsBinary(p), ST_AsBinary(q)) AS ourSpheroid,
    ST_DWithin(p, q, 8000000, true) AS within, try_st_dwithin(ST_AsBinary(p), ST_AsBinary(q), 8000000, true) AS ourWithin
    FROM places)""",
}
# The accelerators that run in each statement, with the types of their joins.
EXISTS = ["interval, LeftAnti", "interval, LeftSemi"]
RAN = {
    "Delta": {
        "MERGE": ["interval, FullOuter", "interval, Inner"],
        "DELETE": [],
        "UPDATE": [],
        "read": ["interval, Inner"],
    },
    "Iceberg": {
        "MERGE": ["interval, FullOuter", "interval, LeftSemi"],
        "DELETE": EXISTS,
        "UPDATE": EXISTS,
        "read": ["interval, Inner"],
    },
    "Sedona": {"geometries": [], "columns": ["interval, Inner"]},
}
JOBS: dict[str, dict[str, Any]] = {"Delta": DELTA, "Iceberg": ICEBERG, "Sedona": SEDONA}


def told(
    job: dict[str, Any], ours: str, folder: Path, program: str = "program.py"
) -> dict[str, Any]:
    jars = ",".join(str(JARS / f"{name}.jar") for name in job["jars"])
    confs = job["confs"] | {"spark.jars": jars, "spark.sql.warehouse.dir": "tables"}
    python = ROOT / f".venv-{job['spark']}/bin/python"
    done = subprocess.run(
        [str(python), str(Path(__file__).with_name(program)), json.dumps({**job, "confs": confs, "ours": ours})],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT / "python/src")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


@pytest.mark.parametrize("ours", ["first", "last"])
@pytest.mark.parametrize("system", JOBS)
def test_statements_do_the_same_and_joins_are_ours(
    system: str, ours: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    said = told(JOBS[system], ours, tmp_path_factory.mktemp("beside"))
    names = said["extensions"].split(",")
    assert names.index("thetajoin.ThetaJoinExtensions") == (0 if ours == "first" else 1)
    off, on = said["false"], said["true"]
    assert off["rows"] == on["rows"] and on["rows"]
    assert not any(off["joins"].values())
    assert on["joins"] == RAN[system]


@pytest.mark.parametrize("ours", ["first", "last"])
def test_distances_on_the_globe_are_those_of_sedona(ours: str, tmp_path: Path) -> None:
    said = told(GLOBE, ours, tmp_path)
    same = ["Row(pairs=200, sphere=200, spheroid=200, within=200, both=True)"]
    assert said["false"]["rows"] == said["true"]["rows"] == same
    assert said["true"]["joins"] == {name: [] for name in GLOBE["statements"]}


@pytest.mark.parametrize("adaptive", ["false", "true"])
def test_a_stream_sees_each_version_of_a_table(tmp_path: Path, adaptive: str) -> None:
    """Its index is kept until the table has another version."""
    said = told(
        DELTA
        | {
            "confs": DELTA["confs"] | {"spark.sql.adaptive.enabled": adaptive},
            "setup": [
                "DROP TABLE IF EXISTS t",
                f"""CREATE TABLE t USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')
                AS SELECT pk, x AS low, x + 400 AS high FROM ({ROWS})""",
            ],
            "query": "SELECT e.id, t.pk FROM events e LEFT JOIN t ON e.x BETWEEN t.low AND t.high",
            "changes": [
                "SELECT 1", "SELECT 1", "DELETE FROM t WHERE pk % 7 = 3", "SELECT 1",
                "INSERT INTO t VALUES (1000, 0, 999)", "SELECT 1", "DELETE FROM t WHERE pk = 4", "SELECT 1",
            ],
        },
        "last", tmp_path, "streams.py",
    )  # fmt: skip
    off, on = said["false"], said["true"]
    assert off["rows"] == on["rows"] and on["rows"]
    assert not off["joins"] and on["joins"] == [["interval", "LeftOuter"]]
    assert on["built"] == [True, False, True, False, True, False, True, False]


def test_the_page_has_the_merge_that_runs() -> None:
    assert f"```\n{MERGE}\n```" in (ROOT / "docs/with-delta-iceberg-sedona.md").read_text()


PAGES = [page for page in map(how_to.read, how_to.PAGES) if "Sedona" in page.others]


def test_the_forms_of_sedona_on_pages_run(tmp_path: Path) -> None:
    """As docs/how-to has them, on the tables of their pages."""
    forms = {page.path.stem: page.others["Sedona"] for page in PAGES}
    assert len(forms) >= 3
    for page in PAGES:
        folder = tmp_path / page.path.stem
        folder.mkdir()
        setup = [s.replace("CREATE TEMP", "CREATE OR REPLACE TEMP") for s in page.setup]
        form = page.others["Sedona"]
        said = told(
            {**SEDONA, "setup": setup, "statements": {"form": form}, "query": form}, "first", folder
        )
        assert said["true"]["rows"] == said["false"]["rows"] and said["true"]["rows"], (
            page.path.stem
        )
        assert said["true"]["joins"] == {"form": []}
