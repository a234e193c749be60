"""The reports of a DataFrame as one collection: a tuple, a table, a page of a notebook, a frame."""

from __future__ import annotations

import pytest
import thetajoin
from pyspark.sql import SparkSession
from thetajoin import JoinReport, JoinReports

OURS = JoinReport(
    join_number=1,
    join_type="Inner",
    condition="(v > w)",
    accelerator="piecewise",
    exec="BroadcastThetaJoin",
    build_side="BuildRight",
    index=("(v > w)",),
    index_rows=3,
    candidates=12000,
    matches=0,
)
SPARKS = JoinReport(
    join_number=2,
    join_type="LeftOuter",
    condition="(a_very_long_name = another_very_long_name)",
    reason_code="EQUI_KEYS",
    reason="Keys <alone>",
    remedy="Nothing to do.",
)
BOTH = JoinReports([OURS, SPARKS])


def test_it_is_used_like_a_list() -> None:
    assert len(BOTH) == 2
    assert BOTH[0] == OURS
    assert BOTH[-1] == SPARKS
    assert list(BOTH) == [OURS, SPARKS]
    assert SPARKS in BOTH
    first, second = BOTH
    assert (first, second) == (OURS, SPARKS)


def test_it_equals_lists_and_tuples_of_the_same_reports() -> None:
    assert BOTH == [OURS, SPARKS]
    assert [OURS, SPARKS] == BOTH
    assert BOTH == (OURS, SPARKS)
    assert BOTH != [SPARKS, OURS]
    assert BOTH != [OURS]
    assert JoinReports() == []
    assert hash(BOTH) == hash((OURS, SPARKS))


def test_a_slice_is_a_collection() -> None:
    assert isinstance(BOTH[1:], JoinReports)
    assert BOTH[1:] == [SPARKS]


def test_repr_is_a_table_without_empty_columns() -> None:
    assert repr(BOTH).splitlines() == [
        "#  join type  condition                                 accelerator  exec                build side  candidates  matches  reason code",
        "1  Inner      (v > w)                                   piecewise    BroadcastThetaJoin  BuildRight  12,000      0",
        "2  LeftOuter  (a_very_long_name = another_very_long...                                                                    EQUI_KEYS",
    ]
    assert repr(JoinReports()) == "no joins"


def test_lines_of_a_condition_do_not_break_the_table() -> None:
    report = JoinReport(join_number=1, join_type="Inner", condition="(s > 'a\nb')")
    assert repr(JoinReports([report])).splitlines()[1] == "1  Inner      (s > 'a b')"


def test_a_notebook_shows_all_and_escapes_it() -> None:
    page = BOTH._repr_html_()
    assert page.count("<tr>") == 3
    assert "<td>(a_very_long_name = another_very_long_name)</td>" in page
    assert "<td>Keys &lt;alone&gt;</td><td>Nothing to do.</td>" in page
    assert "<th>residual</th>" not in page
    assert JoinReports()._repr_html_() == "<p>no joins</p>"


@pytest.mark.parametrize("reports", [BOTH, JoinReports()])
def test_to_pandas_has_a_column_for_each_field(reports: JoinReports) -> None:
    pandas = pytest.importorskip("pandas")
    frame = reports.to_pandas()
    assert len(frame) == len(reports)
    assert list(frame.columns) == list(JoinReport.__dataclass_fields__)
    assert frame["candidates"].dtype == pandas.Int64Dtype()
    if reports:
        assert frame["candidates"][0] == 12000
        assert frame["candidates"].isna().tolist() == [False, True]
        assert frame["accelerator"].isna().tolist() == [False, True]
        assert frame["index"][0] == ("(v > w)",)


def test_explain_joins_gives_it(spark: SparkSession) -> None:
    df = spark.sql("SELECT * FROM range(5) AS a JOIN range(9) AS b ON a.id > b.id")
    reports = thetajoin.explain_joins(df)
    assert isinstance(reports, JoinReports)
    assert repr(reports).splitlines() == [
        "#  join type  condition      accelerator  exec                build side",
        "1  Inner      (a.id > b.id)  piecewise    BroadcastThetaJoin  BuildLeft",
    ]
