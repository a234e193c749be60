"""How the advisor reads conditions and types of plans, and its estimate; all without Spark."""

from __future__ import annotations

from typing import Any

import pytest
from thetajoin._advisor import columns, sql
from thetajoin._advisor.condition import ConditionError, read
from thetajoin._advisor.estimate import estimate
from thetajoin._advisor.plans import node_of, parse_join
from thetajoin._advisor.text import size
from thetajoin._advisor.types import Classes


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("BroadcastNestedLoopJoin BuildRight, LeftOuter, ((a#1 >= b#2) AND (a#1 < c#3))", ("LeftOuter", (), "((a#1 >= b#2) AND (a#1 < c#3))")),
        ("BroadcastNestedLoopJoin BuildLeft, Cross", ("Cross", (), None)),
        ("BroadcastNestedLoopJoin BuildRight, ExistenceJoin(exists#12), (a#1 = b#2)", ("ExistenceJoin(exists#12)", (), "(a#1 = b#2)")),
        ("CartesianProduct array_contains(a#1, b#2)", ("Inner", (), "array_contains(a#1, b#2)")),
        ("SortMergeJoin(skew=true) [k#1, j#2], [k#3, j#4], Inner, (a#5 < b#6)", ("Inner", (("k#1", "k#3"), ("j#2", "j#4")), "(a#5 < b#6)")),
        ("BroadcastHashJoin [k#1], [k#3], Inner, BuildLeft, (a#5 < b#6), false", ("Inner", (("k#1", "k#3"),), "(a#5 < b#6)")),
        ("BroadcastHashJoin [k#1], [k#3], Inner, BuildLeft, (a#5 < b#6), false, false", ("Inner", (("k#1", "k#3"),), "(a#5 < b#6)")),
        ("BroadcastHashJoin [k#1], [k#3], LeftAnti, BuildRight, true", ("LeftAnti", (("k#1", "k#3"),), None)),
        ("ShuffledHashJoin [k#1], [k#3], FullOuter, BuildRight", ("FullOuter", (("k#1", "k#3"),), None)),
    ],
)  # fmt: skip
def test_joins_are_read_from_lines_of_plans(text: str, parts: tuple[Any, ...]) -> None:
    found = parse_join(text)
    assert found is not None
    assert found[1:] == parts
    assert parse_join("Project [a#1 AS SortMergeJoin#2]") is None


def as_sql(text: str, **known: str) -> str:
    """The condition as SQL, with the first types that its columns can have."""
    tree = read(text)
    types = Classes(tree, {int(n.removeprefix("c")): t for n, t in known.items()})
    return sql.expression(tree, sql.names(tree), next(types.assignments()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("((at#1 >= lo#2) AND (at#1 < hi#3))", "((at >= lo) AND (at < hi))"),
        ("name#1 LIKE concat(%, word#2, it's)", r"(name LIKE concat('%', word, 'it\'s'))"),
        ("NOT name#1 LIKE %a_%", "(NOT (name LIKE '%a_%'))"),
        ("Contains(a#1, b#2)", "contains(a, b)"),
        ("((a#1L = (a#2L + 5)) OR isnull(b#3))", "((a_1 = (a_2 + 5L)) OR isnull(b))"),
        ("x#1 IN (1,2,3)", "(x IN (1, 2, 3))"),
        ("x#1 IN (DE,FR)", "(x IN ('DE', 'FR'))"),
        ("(d#1 >= 2020-01-31)", "(d >= DATE'2020-01-31')"),
        ("(d#1 >= 2020-01-31 00:00:00)", "(d >= TIMESTAMP'2020-01-31 00:00:00')"),
        ("(t#1 > u#2 - INTERVAL '05' MINUTE)", "(t > (u - INTERVAL '05' MINUTE))"),
        ("((t#1 - u#2) <= INTERVAL '0 00:05:00' DAY TO SECOND)", "((t - u) <= INTERVAL '0 00:05:00' DAY TO SECOND)"),
        ("(abs((a#1 - b#2)) <= -5)", "(abs((a - b)) <= -5)"),
        ("(cast(a#1 as bigint) > b#2L)", "(cast(a AS bigint) > b)"),
        ("(cast(a#1 as decimal(10,2)) > 1.50)", "(cast(a AS decimal(10,2)) > 1.50BD)"),
        ("(s#1.lo >= b#2[0])", "(s.`lo` >= b[0])"),
        ("CASE WHEN (a#1 > 1) THEN (b#2 = x y) ELSE true END", "CASE WHEN (a > 1) THEN (b = 'x y') ELSE true END"),
        ("(levenshtein(a#1, b#2, None) < 3)", "(levenshtein(a, b) < 3)"),
        ("(unix_timestamp(a#1, yyyy, Some(Etc/UTC), true) < 3)", "(unix_timestamp(a, 'yyyy') < 3)"),
        ("(size(a#1, false) > 0)", "(size(a) > 0)"),
        ("(if ((a#1 > 1)) a#1 else b#2 > 5)", "(if((a > 1), a, b) > 5)"),
        ("(knownfloatingpointnormalized(normalizenanandzero(a#1)) = b#2)", "(a = b)"),
    ],
)  # fmt: skip
def test_conditions_become_sql(text: str, expected: str) -> None:
    assert as_sql(text) == expected


def test_a_known_type_decides_how_a_constant_is_written() -> None:
    assert as_sql("(a#1 = 5)") == "(a = 5)"
    assert as_sql("(a#1 = 5)", c1="string") == "(a = '5')"
    assert as_sql("(a#1 = 5.0)", c1="float") == "(a = 5.0F)"
    assert as_sql("(a#1 = null)", c1="date") == "(a = CAST(NULL AS date))"


def types(text: str, **known: str) -> dict[str, str]:
    tree = read(text)
    found = Classes(tree, {int(n.removeprefix("c")): t for n, t in known.items()})
    first = next(found.assignments())
    return {name: first[number] for number, name in sql.names(tree).items()}


def test_types_follow_from_what_is_compared() -> None:
    assert types("(a#1 < b#2)", c2="timestamp") == {"a": "timestamp", "b": "timestamp"}
    assert types("(a#1L < b#2L)") == {"a": "bigint", "b": "bigint"}
    assert types("(cast(a#1 as bigint) < b#2L)") == {"a": "int", "b": "bigint"}
    assert types("((a#1 + 1) < b#2)", c2="double") == {"a": "double", "b": "double"}
    assert types("a#1 LIKE b#2") == {"a": "string", "b": "string"}
    assert types("array_contains(a#1, b#2)") == {"a": "array<int>", "b": "int"}
    assert types("array_contains(a#1, b#2)", c1="array<date>") == {"a": "array<date>", "b": "date"}
    assert types("arrays_overlap(a#1, b#2)") == {"a": "array<string>", "b": "array<string>"}
    assert types("(t#1 > (u#2 + INTERVAL '1' DAY))")["t"] == "timestamp"


def test_types_are_tried_in_turn_but_bigint_has_its_letter() -> None:
    tried = [t[1] for t in Classes(read("(a#1 < b#2)"), {}).assignments()]
    assert tried[:3] == ["int", "timestamp", "string"]
    constants = [t[1] for t in Classes(read("(a#1 > 5)"), {}).assignments()]
    assert constants[:2] == ["int", "string"]
    assert "bigint" not in {*tried, *constants}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x#1 IN (1,2,... 9 more fields)", "shortened"),
        ("(a#1 > Subquery scalar-subquery#5, [id=#7])", "subquery"),
        ("exists(a#1, lambdafunction((lambda x#2 > b#3), lambda x#2, false))", "lambda"),
        ("UDF(a#1)", "only its application"),
        ("(plus_one(a#1)#7 > b#2)", "a Python function"),
        ("(my column#1 > b#2)", "a name in it"),
        ("((a#1 > b#2)", "is missing"),
        ("(a#1 > b#2) )", "can't be read from"),
    ],
)
def test_a_condition_that_cannot_be_read_says_why(text: str, why: str) -> None:
    with pytest.raises(ConditionError, match=why):
        read(text)


def info(name: str, text: str, *children: Any, **metadata: str) -> dict[str, Any]:
    return {
        "nodeName": name,
        "simpleString": text,
        "children": list(children),
        "metadata": metadata,
        "metrics": [],
    }


def test_a_plan_tells_types_by_its_scans_casts_and_functions() -> None:
    scan = info(
        "Scan parquet t",
        "FileScan parquet t[id#1L,at#2,tags#3,price#4] Batched: true, ReadSchema: struct<id:bigint,at...",
        ReadSchema="struct<id:bigint,at:timestamp,tags:array<string>,price:decimal(10,2)>",
    )
    project = info(
        "Project",
        "Project [at#2, cast(id#1L as string) AS key#5, at#2 AS moment#6, tags#3[0] AS tag#7, (price#4 + 1) AS sum#8]",
        scan,
    )
    assert columns.known_types(node_of(project)) == {
        1: "bigint", 2: "timestamp", 3: "array<string>", 4: "decimal(10,2)",
        5: "string", 6: "timestamp", 7: "string", 8: "decimal(10,2)",
    }  # fmt: skip


def test_columns_below_a_reused_exchange_are_of_another_part() -> None:
    reused = info(
        "ReusedExchange",
        "ReusedExchange [a#10]",
        info("BroadcastExchange", "B", info("Range", "Range [a#1]")),
    )
    pruned = info("Scan", "FileScan t[b#2]", info("SubqueryBroadcast", "SubqueryBroadcast k#99"))
    assert columns.numbers(node_of(info("Union", "Union", reused, pruned))) == {10, 2}


def test_the_estimate_compares_pairs_with_rows_looked_up() -> None:
    made = estimate(
        accelerator="interval", task_seconds=40.0, pairs=2_000_000_000, build_rows=1_000_000,
        probe_rows=2_000_000, matches=5_000_000, has_residual=False,
    )  # fmt: skip
    assert made.before_seconds == 40.0
    assert made.after_seconds == pytest.approx(0.5 + 3.0 + 2.5)
    assert made.saved_seconds == pytest.approx(34.0)
    assert made.at_most is False
    assert "2,000,000,000 pairs were compared, 50.0 million a second" in made.how
    assert "1,000,000 build rows and 2,000,000 probe rows at 1 microseconds" in made.how


def test_a_stage_that_did_other_work_is_not_ascribed_to_few_pairs() -> None:
    made = estimate(
        accelerator="interval", task_seconds=100.0, pairs=1_000_000, build_rows=1000,
        probe_rows=1000, matches=0, has_residual=True,
    )  # fmt: skip
    assert made.before_seconds == pytest.approx(5.0)
    assert made.at_most is True
    assert "Its stage took 100 s, mostly for other work." in made.how


def test_matches_are_never_saved() -> None:
    made = estimate(
        accelerator="piecewise", task_seconds=10.0, pairs=200_000_000, build_rows=14_000,
        probe_rows=14_000, matches=200_000_000, has_residual=False,
    )  # fmt: skip
    assert made.saved_seconds == 0.0


def test_each_run_starts_anew() -> None:
    made = estimate(
        accelerator="interval", task_seconds=10.0, pairs=1_000_000_000, build_rows=0,
        probe_rows=0, matches=0, has_residual=False, runs=4,
    )  # fmt: skip
    assert made.after_seconds == pytest.approx(2.0)


def test_pairs_that_the_log_does_not_tell_are_not_made_up() -> None:
    made = estimate(
        accelerator="vector", task_seconds=10.0, pairs=None, build_rows=10, probe_rows=1000,
        matches=0, has_residual=False,
    )  # fmt: skip
    assert made.before_seconds == 10.0
    assert made.after_seconds == pytest.approx(0.5 + 1010 * 40e-6)
    assert "does not tell how many pairs" in made.how


def test_sizes_have_units() -> None:
    assert [size(n) for n in (0, 1023, 1536, 5 << 30)] == [
        "0 bytes",
        "1,023 bytes",
        "1.5 KB",
        "5.0 GB",
    ]
