"""One broadcast of large arrays after another in a driver that has room for one: earlier ones make way."""

from __future__ import annotations

from pathlib import Path

import pytest
from servers import told_by

pytestmark = pytest.mark.slow

PROGRAM = """
import json, sys
from pyspark.sql import SparkSession

ROWS = int(sys.argv[1])
spark = SparkSession.builder.getOrCreate()
ids = spark.range(0, ROWS, 1, 4)
ids.selectExpr("id", "int(id * 7919 % 100000007) AS tag", "array(int(id * 7919 % 100000007), int((id * 9919 + 31) % 100000007)) AS tags").write.parquet("a")
ids.selectExpr("id AS no", "array(int((id * 8919 + 5) % 100000007), int((id * 14919 + 82) % 100000007)) AS tags").write.parquet("b")
for name in "ab":
    spark.read.parquet(name).createOrReplaceTempView(name)

CONDITIONS = ["array_contains(b.tags, a.tag)", "arrays_overlap(b.tags, a.tags)"]
FORMS = {
    "inner": "SELECT {hint} count(*) AS n, sum(no) AS sum FROM a JOIN b ON {on}",
    "left": "SELECT {hint} count(*) AS n, sum(no) AS sum FROM a LEFT JOIN b ON {on}",
    "exists": "SELECT count(*) AS n, sum(id) AS sum FROM a WHERE EXISTS (SELECT {hint} 1 FROM b WHERE {on})",
}
HINT = "/*+ BROADCAST(b) */"
TURNS = [("inner", ""), ("left", HINT), ("exists", ""), ("inner", HINT), ("left", ""), ("inner", "")]
answers, kept = {}, []
for form, hint in TURNS:
    for on in CONDITIONS:
        frame = spark.sql(FORMS[form].format(hint=hint, on=on))
        answers.setdefault(f"{on} {form}", set()).add(tuple(frame.collect()[0]))
        kept.append(frame._jdf.queryExecution().executedPlan().toString())
json.dump([[[key, sorted(of)] for key, of in answers.items()], kept], open("told.json", "w"))
"""

ROWS = 2_000_000


def test_twelve_joins_of_large_arrays_in_turn(tmp_path: Path) -> None:
    answers, plans = told_by(PROGRAM, [], tmp_path, {"spark.driver.memory": "768m"}, str(ROWS))
    assert len(plans) == 12
    assert all("ThetaJoin containment" in plan for plan in plans)
    found = {}
    for key, (answer,) in answers:
        found[key] = answer
    for on in ("array_contains(b.tags, a.tag)", "arrays_overlap(b.tags, a.tags)"):
        (inner, of_inner), (left, of_left) = found[f"{on} inner"], found[f"{on} left"]
        existing, _ = found[f"{on} exists"]
        assert 0 < existing <= inner
        assert left == inner + ROWS - existing
        assert of_left == of_inner
