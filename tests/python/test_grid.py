"""The grid of costs: it has every accelerator, and its page names what is slower with the extension on."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from pathlib import Path

import pytest
from thetajoin import _settings

from benchmarks import costs
from benchmarks.__main__ import beginning_with
from benchmarks.queries import OFF, ON
from benchmarks.report import Result, Settings
from benchmarks.suites.grid import SUITE
from benchmarks.worker import Execution, OverLimit

ACCELERATOR = "spark.thetajoin.accelerator."


def test_every_accelerator_has_queries() -> None:
    words = {query.name.partition("_")[0] for query in SUITE.queries}
    keys = [getattr(_settings, name) for name in _settings.__all__]
    accelerators = {key.split(".")[3] for key in keys if key.startswith(ACCELERATOR)}
    assert accelerators
    # The grid has no functions in Python.
    assert accelerators - {"python"} <= words
    assert len({query.name for query in SUITE.queries}) == len(SUITE.queries)


def test_a_name_of_a_table_means_one_table() -> None:
    tables = {table for query in SUITE.queries for table in query.tables}
    assert len({table.name for table in tables}) == len(tables)


def test_queries_are_chosen_by_name_or_beginning() -> None:
    choose = beginning_with(["nearest", "nearest_3", "in_boxes", "in_areas"])
    assert choose("nearest,in_") == ["nearest", "in_boxes", "in_areas"]
    with pytest.raises(ArgumentTypeError, match="unknown: far"):
        choose("far")


def _result(number: int, off: list[float], on: list[float], *joins: str) -> Result:
    result = Result(SUITE.queries[number], answer=(1, 2, 3))
    for engine, cpu in ((OFF, off), (ON, on)):
        result.executions[engine] = [
            Execution(2 * seconds, (1, 2, 3), None, seconds, joins if engine == ON else ())
            for seconds in cpu
        ]
    return result


def test_the_page_names_what_is_slower(tmp_path: Path) -> None:
    slower = _result(0, [1.0, 1.0, 9.0], [1.2, 1.2, 0.1], "BroadcastThetaJoin interval")
    quicker = _result(1, [1.0], [0.5], "BroadcastThetaJoin interval")
    left_to_spark = _result(2, [1.0], [1.1])
    stopped = _result(3, [], [1.0], "BroadcastThetaJoin anyof")
    del stopped.executions[OFF]
    stopped.not_run[OFF] = OverLimit(15.0)
    results = [slower, quicker, left_to_spark, stopped]
    costs.write(SUITE, results, Settings(3, 15.0, 2, 0.0), {"memory": "1 GiB"}, tmp_path)
    above, _, everything = (tmp_path / "grid.md").read_text().partition("## All")
    name = slower.query.name
    assert f"| {name} |" in above and f"| {name} |" in everything
    assert "BroadcastThetaJoin interval | 1.00 | 1.20 | 1.20 | 2.00 | 2.40 |" in above
    assert f"| {quicker.query.name} |" not in above
    assert "| interval | 2 | 1 | 0.77 | 1.20 |" in above
    assert "left to Spark | 1.00 | 1.10 | 1.10 | 2.00 | 2.20 |" in everything
    assert "BroadcastThetaJoin anyof |  | 1.00 |  | > 15 | 2.00 |" in everything
    raw = json.loads((tmp_path / "grid.json").read_text())["results"]
    assert [len(query["runs"].get(OFF, [])) for query in raw] == [3, 1, 1, 0]
    assert raw[3]["not_run"] == {OFF: {"limit": 15.0}}
