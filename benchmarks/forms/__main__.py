"""What other forms of a condition cost beside the form that an index serves: `python -m benchmarks.forms`.

Each pair of queries asks for the same rows. A line gives the seconds of both (medians of the runs) and
their ratio, which is to be 1.5 at the most. The rows of both are checked to be the same.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

import thetajoin
from pyspark.sql import SparkSession

from benchmarks.forms.pairs import FORMS, Form
from benchmarks.forms.tables import TABLES

MOST = 1.5


def main() -> int:
    """Print a line for each form; 1 if a ratio is too high or rows differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="a regular expression")
    options = parser.parse_args()
    spark = thetajoin.configure(
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.session.timeZone", "UTC")
    ).getOrCreate()
    forms = [form for form in FORMS if re.search(options.only, form.name)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for table in sorted({table for form in forms for table in form.tables}):
            path = str(Path(folder) / table)
            spark.sql(TABLES[table]).write.parquet(path)
            spark.read.parquet(path).createOrReplaceTempView(table)
        for form in forms:
            failed += not _measured(spark, form, options.runs)
    return int(failed > 0)


def _measured(spark: SparkSession, form: Form, runs: int) -> bool:
    queries = [
        form.sql(on.format(a=form.tables[0], b=form.tables[1]))
        for on in (form.written, form.served)
    ]
    seconds: list[list[float]] = [[], []]
    rows: list[object] = [None, None]
    for _ in range(runs + 1):
        for i, query in enumerate(queries):
            started = time.perf_counter()
            rows[i] = spark.sql(query).collect()
            seconds[i].append(time.perf_counter() - started)
    written, served = (statistics.median(times[1:]) for times in seconds)
    same = "" if rows[0] == rows[1] else f"  OTHER ROWS {rows[0]} {rows[1]}"
    print(f"{form.name:36s} {written:6.2f} {served:6.2f} {written / served:5.2f}{same}", flush=True)
    return rows[0] == rows[1] and written / served <= MOST


if __name__ == "__main__":
    sys.exit(main())
