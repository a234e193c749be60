"""Reading our section of EXPLAIN, first from text, then from a session."""

from __future__ import annotations

from typing import Any

import pytest
import thetajoin
from pyspark.sql import SparkSession
from thetajoin import _diagnosis
from thetajoin._diagnosis import JoinReport, parse_section
from thetajoin._plans import EXPLAIN_PROVIDER, EXPLAIN_PROVIDERS

PLAN = "== Physical Plan ==\nBroadcastThetaJoin piecewise, Inner, BuildRight\n\n"
HEADING = "== Extended Information (ThetaJoin) ==\n"
TWO_JOINS = """\
[1] Inner join ON (v > w): accelerated by piecewise
    exec: BroadcastThetaJoin, BuildRight
    index: [(v > w)]
    residual: []
[2] LeftOuter join ON (k = k): not accelerated, EQUI_KEYS
    reason: The condition has equality keys
    remedy: Nothing to do.
"""


def section(condition: str, residual: str) -> str:
    return (
        f"{PLAN}{HEADING}[1] Inner join ON {condition}: accelerated by nestedloop\n"
        f"    exec: BroadcastThetaJoin, BuildLeft\n    index: []\n    residual: [{residual}]\n\n"
    )


def test_each_join_becomes_a_report() -> None:
    assert parse_section(PLAN + HEADING + TWO_JOINS) == [
        JoinReport(
            join_number=1,
            join_type="Inner",
            condition="(v > w)",
            accelerator="piecewise",
            exec="BroadcastThetaJoin",
            build_side="BuildRight",
            index=("(v > w)",),
        ),
        JoinReport(
            join_number=2,
            join_type="LeftOuter",
            condition="(k = k)",
            reason_code="EQUI_KEYS",
            reason="The condition has equality keys",
            remedy="Nothing to do.",
        ),
    ]


def test_counts_are_read() -> None:
    counts = "    estimate: 7 build rows, 12 probe rows\n    seen: 6 index rows, 40 candidates, 8 matches\n"
    (report,) = parse_section(section("(a > b)", "(b > c)").rstrip() + "\n" + counts)
    assert report.residual == ("(b > c)",)
    assert (report.estimated_build_rows, report.estimated_probe_rows) == (7, 12)
    assert (report.index_rows, report.candidates, report.matches) == (6, 40, 8)


def test_counts_of_a_query_that_ran(spark: SparkSession) -> None:
    df = spark.sql("SELECT * FROM range(5) AS a JOIN range(9) AS b ON a.id > b.id AND a.id <> 3")
    (planned,) = thetajoin.explain_joins(df)
    assert (planned.estimated_build_rows, planned.estimated_probe_rows) == (2, 9)
    assert (planned.index_rows, planned.candidates, planned.matches) == (None, None, None)
    assert len(df.collect()) == 7
    (ran,) = thetajoin.explain_joins(df)
    assert (ran.index_rows, ran.candidates, ran.matches) == (4, 7, 7)


@pytest.mark.parametrize("action", ["count", "show", "toLocalIterator", "toPandas"])
def test_counts_are_of_the_dataframe_itself(spark: SparkSession, action: str) -> None:
    df = spark.sql("SELECT * FROM range(5) AS a JOIN range(9) AS b ON a.id > b.id")
    if action == "toPandas":
        pytest.importorskip("pandas")
    result = getattr(df, action)()
    if action == "toLocalIterator":
        assert len(list(result)) == 10
    (report,) = thetajoin.explain_joins(df)
    assert report.matches == (None if action in ("count", "show") else 10)


def test_no_joins_give_no_reports() -> None:
    assert parse_section(f"{PLAN}{HEADING}No joins.\n\n") == []


def test_sections_of_others_are_left_out() -> None:
    other = "\n== Extended Information (Other) ==\n[1] Inner join ON true: not ours\n"
    reports = parse_section(PLAN + other + "\n" + HEADING + TWO_JOINS + other)
    assert [report.join_number for report in reports] == [1, 2]
    assert reports[1].remedy == "Nothing to do."


@pytest.mark.parametrize(
    "conjuncts",
    [
        [],
        ["(a > b)"],
        ["(a > b)", "contains(c, d)", "(x IN (1, 2))"],
        ["(s > 'a, b)')", r"(s < 'it\'s ]')", "(`odd, ``name)` > b)", "(arr[0] > b)"],
    ],
)
def test_lists_are_split_at_their_own_commas(conjuncts: list[str]) -> None:
    (report,) = parse_section(section("true", ", ".join(conjuncts)))
    assert report.residual == tuple(conjuncts)


def test_conditions_may_hold_anything() -> None:
    condition = "(s > '\n[2] Inner: accelerated by x')"
    (report,) = parse_section(section(condition, condition))
    assert report.condition == condition
    assert report.residual == (condition,)


@pytest.mark.parametrize("text", [PLAN, f"{PLAN}{HEADING}[1] Inner join: sped up\n"])
def test_other_text_is_an_error_and_not_an_empty_answer(text: str) -> None:
    with pytest.raises(thetajoin.ExplainJoinsError, match="\nHint: Use the same version"):
        parse_section(text)


def test_repr_is_short_and_can_be_evaluated() -> None:
    for report in parse_section(PLAN + HEADING + TWO_JOINS):
        assert eval(repr(report)) == report
        assert "None" not in repr(report)


def test_str_is_one_line_with_all_that_matters() -> None:
    ours, spark = map(str, parse_section(PLAN + HEADING + TWO_JOINS))
    assert ours == (
        "[1] Inner join ON (v > w): accelerated by piecewise (BroadcastThetaJoin, BuildRight), "
        "index: [(v > w)], residual: []"
    )
    assert spark.endswith("EQUI_KEYS: The condition has equality keys. Nothing to do.")


class Conf(dict[str, str]):
    """Of a session, as far as it is used here."""

    set = dict.__setitem__
    unset = dict.__delitem__


class Frame:
    """A DataFrame whose EXPLAIN has our section if the session's conf asks for it."""

    def __init__(self, conf: Conf) -> None:
        self.conf = conf
        self.sparkSession = self

    def explain(self) -> None:
        providers = self.conf.get(EXPLAIN_PROVIDERS, "").split(",")
        print(PLAN + (HEADING + TWO_JOINS if EXPLAIN_PROVIDER in providers else ""))


@pytest.mark.parametrize("before", [{}, {EXPLAIN_PROVIDERS: "a.B"}])
def test_the_provider_is_set_for_the_call_only(
    monkeypatch: pytest.MonkeyPatch, before: dict[str, str]
) -> None:
    monkeypatch.setattr(_diagnosis, "extension_loaded", lambda _: True)
    df: Any = Frame(Conf(before))
    assert len(thetajoin.explain_joins(df)) == 2
    assert df.conf == before


def test_a_session_without_the_extension_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_diagnosis, "extension_loaded", lambda _: False)
    df: Any = Frame(Conf())
    with pytest.raises(thetajoin.ExplainJoinsError, match=r"not loaded(.|\n)*\nHint: "):
        thetajoin.explain_joins(df)
    assert df.conf == {}


def test_explain_joins_prints_nothing(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    df = spark.sql("SELECT * FROM range(5) AS a LEFT ANTI JOIN range(9) AS b ON a.id >= b.id")
    (report,) = thetajoin.explain_joins(df)
    assert (report.join_type, report.accelerator) == ("LeftAnti", "piecewise")
    assert capsys.readouterr().out == ""


LISTS = ("index", "residual", "passed_over", "notes")


def test_explain_joins_says_what_the_sql_function_says(spark: SparkSession) -> None:
    query = """
      SELECT /*+ RANGE_JOIN(c, 10) */ * FROM range(5) AS a JOIN range(9) AS b ON a.id = b.id
      JOIN range(7) AS c ON a.id < c.id AND (a.id + c.id) % 2 = 0
      LEFT JOIN (VALUES ("x, y"), ("it's")) AS d(s) ON d.s > concat(a.id, ", ')")
    """
    rows = spark.sql("SELECT * FROM thetajoin_explain(:query)", {"query": query}).collect()
    reports = thetajoin.explain_joins(spark.sql(query))
    assert len(reports) == 3
    assert [bool(report.notes) for report in reports].count(True) == 1
    for row, report in zip(rows, reports, strict=True):
        for name, value in row.asDict().items():
            expected = tuple(value or ()) if name in LISTS else value
            assert getattr(report, name) == expected
