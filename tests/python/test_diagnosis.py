"""Reading our section of EXPLAIN, first from text, then from a session."""

from __future__ import annotations

import json
from typing import Any

import pytest
import thetajoin
from pyspark.sql import SparkSession
from thetajoin import _diagnosis
from thetajoin._diagnosis import JoinReport, parse_section
from thetajoin._plans import EXPLAIN_PROVIDER, EXPLAIN_PROVIDERS

PLAN = "== Physical Plan ==\nBroadcastThetaJoin piecewise, Inner, BuildRight\n\n"
HEADING = "== Extended Information (ThetaJoin) ==\n"
OURS: dict[str, Any] = {
    "join_number": 1,
    "join_type": "Inner",
    "condition": "(v > w)",
    "accelerator": "piecewise",
    "exec": "BroadcastThetaJoin",
    "build_side": "BuildRight",
    "index": ["(v > w)"],
    "residual": [],
    "passed_over": [],
    "notes": [],
}
SPARKS: dict[str, Any] = {
    "join_number": 2,
    "join_type": "LeftOuter",
    "condition": "(k = k)",
    "reason_code": "EQUI_KEYS",
    "reason": "The condition has equality keys",
    "remedy": "Nothing to do.",
    "passed_over": ["interval, NO_COMPARISON: No conjunct compares. Rewrite it."],
    "notes": [],
}


def section(*joins: dict[str, Any], version: int = 1, told: str = "[1] a line for people") -> str:
    line = {"report": "thetajoin", "version": version, "joins": joins}
    return f"{PLAN}{HEADING}{told}\n{json.dumps(line, separators=(',', ':'))}\n\n"


def test_each_join_becomes_a_report() -> None:
    assert parse_section(section(OURS, SPARKS)) == [
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
            passed_over=("interval, NO_COMPARISON: No conjunct compares. Rewrite it.",),
        ),
    ]


def test_every_field_is_read(spark: SparkSession) -> None:
    """What a query of three joins leaves empty in none of them is all that there is."""
    df = spark.sql("""
      SELECT * FROM range(9) AS a JOIN range(7) AS b ON a.id < b.id AND (a.id + b.id) % 2 = 0
      JOIN range(5) AS c ON c.id % 3 <> a.id % 3 JOIN range(4) AS d ON d.id = a.id
    """)
    df.collect()
    reports = thetajoin.explain_joins(df)
    names = JoinReport.__dataclass_fields__
    assert {n for n in names if all(getattr(r, n) in (None, ()) for r in reports)} == set()


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


def test_no_joins_give_no_reports(spark: SparkSession) -> None:
    assert parse_section(section(told="No joins.")) == []
    assert thetajoin.explain_joins(spark.range(3)) == []


def test_sections_of_others_are_left_out() -> None:
    other = '\n== Extended Information (Other) ==\n{"report":"other","joins":[{}]}\n'
    reports = parse_section(other + section(OURS, SPARKS) + other)
    assert [report.join_number for report in reports] == [1, 2]


def test_fields_of_later_releases_are_left_out() -> None:
    (report,) = parse_section(section(OURS | {"stages": [3]}))
    assert report == parse_section(section(OURS))[0]


@pytest.mark.parametrize(
    "text",
    [
        "a, b)",
        "it's ]",
        'a "word"',
        r"a \ and a \n",
        "\n[2] Inner: accelerated by x",
        "\n== Extended Information (ThetaJoin) ==\n",
        '\n{"report":"thetajoin","version":1,"joins":[]}\n',
        "\u2028\x85\t\r\x0c",
    ],
)
def test_conditions_may_hold_anything(spark: SparkSession, text: str) -> None:
    (report,) = thetajoin.explain_joins(
        spark.sql(
            "SELECT * FROM range(3) AS a JOIN range(3) AS b ON a.id > b.id AND concat(a.id, b.id) <> :text",
            {"text": text},
        )
    )
    escaped = text.replace("\\", r"\\").replace("'", r"\'")
    assert len(report.residual) == 1 and f"'{escaped}'" in report.residual[0]
    assert report.residual[0] in report.condition


@pytest.mark.parametrize(
    "text",
    [
        PLAN,
        f"{PLAN}{HEADING}[1] Inner join: sped up\n",
        section(OURS, version=2),
        section(OURS).replace("]}", ""),
    ],
)
def test_other_text_is_an_error_and_not_an_empty_answer(text: str) -> None:
    with pytest.raises(thetajoin.ExplainJoinsError, match="\nHint: Use the same version"):
        parse_section(text)


def test_repr_is_short_and_can_be_evaluated() -> None:
    for report in parse_section(section(OURS, SPARKS)):
        assert eval(repr(report)) == report
        assert "None" not in repr(report)


def test_str_is_one_line_with_all_that_matters() -> None:
    ours, spark = map(str, parse_section(section(OURS, SPARKS)))
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
        print(section(OURS, SPARKS) if EXPLAIN_PROVIDER in providers else PLAN)


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


def test_explain_joins_says_what_the_sql_function_says(spark: SparkSession) -> None:
    query = """
      SELECT /*+ RANGE_JOIN(c, 10) */ * FROM range(5) AS a JOIN range(9) AS b ON a.id = b.id
      JOIN range(7) AS c ON a.id < c.id AND (a.id + c.id) % 2 = 0
      LEFT JOIN (VALUES ("x, y"), ("it's")) AS d(s) ON d.s > concat(a.id, ", ')")
      JOIN range(3) AS e ON e.id % 2 <> a.id % 2
    """
    rows = spark.sql("SELECT * FROM thetajoin_explain(:query)", {"query": query}).collect()
    reports = thetajoin.explain_joins(spark.sql(query))
    assert len(reports) == 4
    assert [bool(report.notes) for report in reports].count(True) == 2
    for row, report in zip(rows, reports, strict=True):
        told = row.asDict()
        advice = [] if report.accelerated else [f"{report.reason}. {report.remedy}"]
        assert told.pop("advice") == [*advice, *report.passed_over]
        assert len(told) == 9
        for name, value in told.items():
            expected = getattr(report, name)
            is_list = isinstance(expected, tuple)
            assert (tuple(value or ()) if is_list else value) == expected
