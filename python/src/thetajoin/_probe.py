"""Runs one small join and tells whether thetajoin ran it: the last check of the doctor.

    python -m thetajoin._probe [sc://host:port]

It has a process of its own, since Spark can be set up only once in each. The last line on standard
output is a `Verdict` as JSON.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from typing import TYPE_CHECKING

from thetajoin._diagnosis import explain_joins
from thetajoin._plans import executed_plan, extension_loaded
from thetajoin._session import EXTENSION, SPARK_RANGE, configure, supports
from thetajoin._verdict import Verdict, failed, passed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERY = "SELECT a.id, b.id FROM range(5) AS a JOIN range(5) AS b ON a.id > b.id"
ROWS = [(a, b) for a in range(5) for b in range(5) if a > b]


def probe(spark: SparkSession) -> Verdict:
    """Run the query and look at its rows and at the plan that gave them."""
    if not supports(spark.version):
        found = f"the server runs Spark {spark.version}"
        return failed(found, f"thetajoin runs on {SPARK_RANGE}", "use one of these versions")
    if not extension_loaded(spark):
        mend = f"start Spark with thetajoin.jar in --jars and spark.sql.extensions={EXTENSION}"
        return failed("extension not loaded", "Spark's log has the cause, if it was told to", mend)
    df = spark.sql(QUERY)
    rows = sorted(tuple(row) for row in df.collect())
    if "BroadcastThetaJoin" not in executed_plan(df):
        (report,) = explain_joins(df)
        why = f"{report.reason_code}: {report.reason}"
        return failed("probe query not accelerated", why, str(report.remedy).rstrip("."))
    if rows != ROWS:
        return failed("wrong rows", f"{rows} in place of {ROWS}", "please report it as a defect")
    return passed(
        f"ran as BroadcastThetaJoin on Spark {spark.version}, {len(rows)} rows, all right"
    )


def start_session(remote: str | None, scratch: str) -> SparkSession:
    from pyspark.sql import SparkSession

    if remote:
        return SparkSession.builder.remote(remote).getOrCreate()
    builder = SparkSession.builder.master("local[1]").appName("thetajoin doctor")
    for key, value in (
        ("spark.ui.enabled", "false"),
        ("spark.driver.host", "localhost"),
        ("spark.sql.warehouse.dir", scratch),
    ):
        builder = builder.config(key, value)
    return configure(builder).getOrCreate()


def main(remote: str | None) -> None:
    with tempfile.TemporaryDirectory(prefix="thetajoin-doctor-") as scratch:
        spark = start_session(remote, scratch)
        try:
            verdict = probe(spark)
        finally:
            spark.stop()
    print(json.dumps(dataclasses.asdict(verdict)))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
