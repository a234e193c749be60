"""The benchmark of TPC-H and TPC-DS: it tells wrong rows from equal ones, and noise from a slower query."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from benchmarks.queries import OFF, ON
from benchmarks.tpc.answers import Row, same
from benchmarks.tpc.queries import TpcQuery, unlimited
from benchmarks.tpc.report import DIFFERENT, DUCKDB, EQUAL, TIES, Result, write

SETTINGS = {"scale": 1.0, "rounds": 3, "threads": 2}


@pytest.mark.parametrize(
    ("some", "others", "equal"),
    [
        ([("a", 1), (None, 2)], [(None, 2), ("a", 1)], True),
        ([("a", 1)], [("a", 1), ("a", 1)], False),
        ([("a", 1)], [("a", 2)], False),
        ([("a", 1)], [("a", None)], False),
        ([(1,)], [(1, 1)], False),
        ([("a", 0.1 + 0.2), ("b", 1.0)], [("b", 1.0), ("a", 0.3)], True),
        ([(0.1,), (None,)], [(None,), (0.2,)], False),
        ([(Decimal("1.50"),)], [(Decimal("1.5"),)], True),
        ([(Decimal("1.000001"),)], [(Decimal("1.000002"),)], False),
        ([(Decimal("0.333333"),)], [(1 / 3,)], True),
    ],
)
def test_rows_are_compared_in_any_order(some: list[Row], others: list[Row], equal: bool) -> None:
    assert same(some, others, 1e-5) == same(others, some, 1e-5) == equal


def test_a_text_is_translated_and_its_last_limit_taken_off() -> None:
    query = TpcQuery("ds:50", 'SELECT a AS "30 days" FROM (SELECT a FROM t LIMIT 3)\nLIMIT 100 ;\n')
    assert query.suite == "ds"
    assert query.spark == query.text.replace('"', "`")
    assert unlimited(query.text).split() == query.text.split()[:-3]


def test_slower_is_more_than_five_per_cent_and_the_noise() -> None:
    off = [1.0, 1.1, 1.2]
    assert Result("h:1", seconds={OFF: off, ON: [1.3, 1.3, 1.3]}).slower
    assert not Result("h:1", seconds={OFF: off, ON: [1.15, 1.15, 1.15]}).slower
    assert not Result("h:1", seconds={OFF: off, ON: [1.0, 1.3, 1.6]}).slower
    assert Result("h:1", seconds={OFF: 9 * off, ON: 9 * [1.0, 1.3, 1.6]}).slower
    assert not Result("h:1", seconds={OFF: [1.0], ON: [2.0]}).slower


def test_the_page_has_every_query(tmp_path: Path) -> None:
    seconds = {OFF: [2.0, 2.0, 2.0], ON: [1.0, 1.0, 1.0]}
    answers = {ON: EQUAL, DUCKDB: TIES}
    joins = {"BroadcastThetaJoin existence": 2}
    results = [
        Result("h:21", 5, answers, joins, seconds),
        Result("ds:1", 100, {ON: DIFFERENT, DUCKDB: EQUAL}, seconds=seconds),
        Result("ds:2", errors={OFF: "[DIVIDE_BY_ZERO]", ON: "[DIVIDE_BY_ZERO]"}),
        Result("ds:3", errors={ON: "[INTERNAL_ERROR]"}),
    ]
    write(results, SETTINGS, {"memory": "1 GiB"}, tmp_path)
    raw = json.loads((tmp_path / "tpc.json").read_text())["results"]
    assert [Result(**result) for result in raw] == results
    page = (tmp_path / "tpc.md").read_text()
    assert "| TPC-H 21 | 2 x BroadcastThetaJoin existence | 5 | 2.00 | 1.00 | 0.00 | 0.50 |" in page
    assert "Other rows: TPC-DS 1." in page
    assert "cuts through ties: TPC-H 21." in page
    assert f"- TPC-DS 2, {OFF}: `[DIVIDE_BY_ZERO]`\n- TPC-DS 2, {ON}" in page
    assert [result.wrong for result in results] == [False, True, False, True]
