"""The search itself: it ends with its budget, but not before a difference is shrunk and written down."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from comparison import AT_LEAST, Budget, Case, Comparison, DifferenceError
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from queries import Query, joins
from values import INTEGERS, Family, tables


@st.composite
def cases(draw: st.DrawFn, version: tuple[int, ...]) -> Case[Query]:
    left, right = (draw(tables(name, INTEGERS[0], INTEGERS[0])) for name in "lr")
    family = Family(INTEGERS)
    return Case((left, right), [draw(joins((family, family), left, right))], files=False)


class Planted(Comparison[Query]):
    """Finds a difference, after some examples, where the left table has three rows or more."""

    def problem(self, query: Query, case: Case[Query]) -> str | None:
        found = self.covered["examples"] >= AT_LEAST // 2 and len(case.tables[0].rows) >= 3
        return "planted" if found else None


class Alike(Comparison[Query]):
    def problem(self, query: Query, case: Case[Query]) -> str | None:
        return None


def budget(folder: Path, examples: int | None) -> Budget:
    return Budget(5, 0.0, examples, Counter(), folder / "planted")


def test_a_difference_is_shrunk_though_the_time_is_over(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(DifferenceError, match="planted"):
        Planted(spark, budget(tmp_path, None)).search(cases)
    (script,) = tmp_path.iterdir()
    text = script.read_text()
    assert f"--seed {script.stem.rpartition('-')[2]}\n" in text
    left = text.partition("VIEW l AS")[2].partition("VIEW r AS")[0]
    assert left.count("\n  ('") == 3


@pytest.mark.parametrize("examples", [None, 3, pytest.param(100, marks=pytest.mark.slow)])
def test_it_ends_with_the_budget(spark: SparkSession, tmp_path: Path, examples: int | None) -> None:
    spending = budget(tmp_path, examples)
    Alike(spark, spending).search(cases)
    assert spending.covered["examples"] == (examples or AT_LEAST)
    assert spending.seed == 5 + (3 if examples == 100 else 1)
    assert not list(tmp_path.iterdir())
