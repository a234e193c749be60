"""Each page of docs/how-to holds what it says: rows, plans, figures, and the forms of other systems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import how_to
import pytest
from differential import ENABLED, GENERATED, Outcome, execute
from pyspark.sql import DataFrame, SparkSession

from benchmarks import cited

PAGES = [how_to.read(path) for path in how_to.PAGES]
# As in a session that sets nothing: the tests' own session accelerates joins of few rows too.
DEFAULTS = {**GENERATED, "spark.thetajoin.equiKeys.minBuildRows": "100"}
# What the pages' Python finds imported.
(IMPORTS,) = re.findall(r"^```python\n(.*?)^```$", how_to.INDEX.read_text(), re.M | re.S)
by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path.stem)


@pytest.fixture
def session(spark: SparkSession, page: how_to.Page) -> Iterator[SparkSession]:
    """A session with the views of the page."""
    session = spark.newSession()
    for key, value in DEFAULTS.items():
        session.conf.set(key, value)
    for statement in page.setup:
        session.sql(statement)
    yield session


def both(session: SparkSession, query: str | Callable[[], DataFrame]) -> tuple[Outcome, Outcome]:
    """What comes out with the extension off and on: the same rows, and some."""
    session.conf.set(ENABLED, "false")
    off = execute(session, query)
    session.conf.set(ENABLED, "true")
    on = execute(session, query)
    assert not off.error and not on.error, (off.error, on.error)
    assert off.rows == on.rows and off.rows
    assert not off.nodes, off.plan
    return off, on


def frame_of(session: SparkSession, page: how_to.Page) -> DataFrame:
    names: dict[str, Any] = {"spark": session}
    exec(IMPORTS + page.program, names)
    frame: DataFrame = names["joined"]
    return frame


def rows(frame: DataFrame) -> Counter[str]:
    return Counter(str(tuple(row)) for row in frame.collect())


@pytest.mark.slow
@by_page
def test_sql_gives_the_same_rows_by_the_accelerator(
    session: SparkSession, page: how_to.Page
) -> None:
    for *_, query in page.statements:
        _, on = both(session, query)
        accelerators = {node.accelerator for node in on.nodes}
        assert accelerators, on.plan
        if query == page.statements[0][-1]:
            assert accelerators == {page.accelerator}, on.plan
        else:
            assert "nestedloop" not in accelerators, on.plan


@pytest.mark.slow
@by_page
def test_dataframes_give_the_rows_of_the_sql(session: SparkSession, page: how_to.Page) -> None:
    _, on = both(session, lambda: frame_of(session, page))
    assert {node.accelerator for node in on.nodes} == {page.accelerator}, on.plan
    assert rows(frame_of(session, page)) == rows(session.sql(page.statements[0][-1]))


@by_page
def test_plans_have_the_lines_of_the_page(session: SparkSession, page: how_to.Page) -> None:
    query = page.statements[0][-1]
    for enabled, lines in (("false", page.off), ("true", page.on)):
        session.conf.set(ENABLED, enabled)
        plan = how_to.without_ids(session.sql(f"EXPLAIN {query}").collect()[0][0])
        assert lines
        for line in lines:
            assert line in plan, plan


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.further], ids=lambda page: page.path.stem
)
def test_plans_of_other_queries_have_their_lines(session: SparkSession, page: how_to.Page) -> None:
    plans = ""
    for *_, query in page.statements[1:]:
        for enabled in ("false", "true"):
            session.conf.set(ENABLED, enabled)
            plans += how_to.without_ids(session.sql(f"EXPLAIN {query}").collect()[0][0])
    for line in page.further:
        assert line in plans, plans


@by_page
def test_a_page_follows_the_template(page: how_to.Page) -> None:
    assert list(page.sections) == how_to.SECTIONS
    assert page.question.endswith("?") and "\n" not in page.question
    assert len(page.path.read_text().splitlines()) <= 90
    assert "<!-- measured: " in page.sections["Measured"]
    assert page.others, "a page names how others do it"


@pytest.mark.parametrize("path", cited.pages(), ids=lambda path: path.stem)
def test_figures_are_those_of_the_results(path: Path) -> None:
    text = path.read_text()
    assert cited.rewritten(path, text) == text, "run python -m benchmarks.cited"


def test_every_page_is_on_the_index() -> None:
    index = how_to.INDEX.read_text()
    for path in how_to.PAGES:
        assert f"(how-to/{path.name})" in index, path.name
