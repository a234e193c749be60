"""What the advisor prints and writes."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from thetajoin._advisor import text
from thetajoin._advisor.advice import Advice
from thetajoin._advisor.estimate import estimate
from thetajoin._advisor.page import html_page
from thetajoin._advisor.questions import Answer


def advice(task_seconds: float, answer: Answer, *, has_residual: bool = False) -> Advice:
    """A join of three million with 20 rows that took half of the time by the clock."""
    made = None
    if answer.accelerator not in (None, "nestedloop"):
        made = estimate(
            accelerator=str(answer.accelerator),
            task_seconds=task_seconds,
            pairs=60_000_000,
            build_rows=20,
            probe_rows=3_000_000,
            matches=40,
            has_residual=has_residual,
        )
    return Advice(
        application_id="app-1",
        application="<nightly>",
        spark_version="4.0.5",
        executions=tuple(range(12)),
        description="a\nquery",
        operator="BroadcastNestedLoopJoin",
        join_type="LeftOuter",
        condition="((at#1 >= lo#2) AND (at#1 < hi#3))",
        left_rows=3_000_000,
        right_rows=20,
        output_rows=40,
        pairs=60_000_000,
        stages=(5,),
        seconds=task_seconds / 2,
        task_seconds=task_seconds,
        memory_spilled_bytes=0,
        disk_spilled_bytes=3 << 20,
        finished=True,
        answer=answer,
        estimate=made,
    )


SERVED = Answer(
    sql="l.at >= r.lo",
    confirmed=True,
    accelerator="interval",
    build_side="BuildRight",
    index=("(l.at >= r.lo)", "(l.at < r.hi)"),
)
LOOP = Answer(sql="f(l.at)", types={"at": "int"}, accelerator="nestedloop", build_side="BuildLeft")
REASON = Answer(
    sql="l.a = r.a", confirmed=True, reason_code="EQUI_KEYS", reason="Keys", remedy="Nothing."
)
UNREAD = Answer(why_not="the condition can't be read: it holds a subquery")
ALL = [advice(40.04, SERVED), advice(10, LOOP), advice(2, REASON), advice(1, UNREAD)]


def test_text_has_each_join_with_its_numbers() -> None:
    told = text.report(ALL)
    assert told.startswith(
        "4 joins to look at, 53.0 s of task time; an index would serve 1 and save up to 36.5 s"
    )
    first, loop, reason, unread = told.split("\n\n")[1:]
    assert first.splitlines()[:6] == [
        "[1] BroadcastNestedLoopJoin, LeftOuter in 12 queries: 20.0 s (40.0 s of task time)",
        "    application: app-1 <nightly>, Spark 4.0.5",
        "    query: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ..: a query",
        "    stages: 5",
        "    condition: ((at#1 >= lo#2) AND (at#1 < hi#3))",
        "    rows: 3,000,000 left, 20 right, 40 out, 60,000,000 pairs",
    ]
    assert "    spill of the stages: 0 bytes of memory, 3.0 MB on disk\n" in first
    assert "    advice: interval, on the rows of the right side\n" in first
    assert "    index: (l.at >= r.lo), (l.at < r.hi)\n" in first
    assert "    estimate: saves 18.3 s of 20.0 s. Before: 40.0 s of task time; 60,000,000" in first
    assert "caution" not in first
    assert "    caution: Spark prints another condition" in loop
    assert "    assumed types: at int\n" in loop
    assert "    advice: no index serves it; nestedloop compares all pairs in" in loop
    assert "    not accelerated: EQUI_KEYS: Keys. Nothing." in reason
    assert "    advice: none: the condition can't be read: it holds a subquery" in unread
    assert "estimate" not in loop + reason + unread


def test_a_saving_of_unknown_candidates_is_at_most() -> None:
    assert "saves at most 18.3 s" in text.report([advice(40.04, SERVED, has_residual=True)])


def test_nothing_to_save_is_said_as_such() -> None:
    assert "estimate: saves nothing of 0.50 s." in text.report([advice(1, SERVED)])


def test_no_joins_are_said_as_such() -> None:
    assert text.report([]).startswith("No nested loop")
    assert "No nested loop" in html_page([])


class Page(HTMLParser):
    """Collects what a page would load, and its bars."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.bars: list[tuple[str, float]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag in ("script", "link", "img", "iframe") or {"src", "href"} & named.keys():
            self.loaded.append(tag)
        if tag == "rect":
            self.bars.append((named["class"] or "", float(named["width"] or 0)))


def test_the_page_is_self_contained_and_has_bars_in_proportion() -> None:
    whole = html_page(ALL)
    read = Page()
    read.feed(whole)
    assert read.loaded == []
    assert "url(" not in whole
    assert [kind for kind, _ in read.bars] == ["before", "after", "before", "before", "before"]
    widths = [width for _, width in read.bars]
    after = 0.5 + 3.00002 + 40 * 5e-7
    assert widths == pytest.approx([600 * s / 40.04 for s in (40.04, after, 10, 2, 1)], abs=0.1)
    assert "((at#1 &gt;= lo#2) AND (at#1 &lt; hi#3))" in whole
    assert "&lt;nightly&gt;" in whole
    assert "<nightly>" not in whole
