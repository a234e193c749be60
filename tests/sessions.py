"""The one Spark session of a test run."""

from __future__ import annotations

import functools
import os
import sys
import tempfile

from packaging.version import Version
from pyspark.sql import SparkSession

# What a session can't change once it runs, by options of the test run.
STATIC: dict[str, str] = {}


def release(spark: SparkSession) -> tuple[int, ...]:
    """Major and minor version of its Spark."""
    return Version(spark.version).release[:2]


@functools.cache
def shared_session() -> SparkSession:
    """A small local session, set up as a user would: by `thetajoin.configure`."""
    import thetajoin

    os.environ["PYSPARK_PYTHON"] = sys.executable
    scratch = tempfile.mkdtemp(prefix="thetajoin-test-")
    builder = SparkSession.builder.master("local[2]").appName("tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "localhost",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.local.dir": scratch,
        "spark.log.level": "OFF",
        "spark.thetajoin.equiKeys.minBuildRows": "0",
        **STATIC,
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return thetajoin.configure(builder).getOrCreate()
