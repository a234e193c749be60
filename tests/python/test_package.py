"""Names, versions, errors and examples of the package."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import itertools
import re
from pathlib import Path

import pytest
import thetajoin
from pyspark.sql import SparkSession
from thetajoin import _settings, errors, settings

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ["thetajoin", "thetajoin._diagnosis", "thetajoin._session", "thetajoin.settings"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_in_docstrings_run(spark: SparkSession, name: str) -> None:
    module = importlib.import_module(name)
    flags = doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(module, extraglobs={"spark": spark}, optionflags=flags)
    assert result.attempted > 0
    assert result.failed == 0


def test_public_names_are_documented() -> None:
    for name in thetajoin.__all__:
        assert inspect.getdoc(getattr(thetajoin, name)), name


def test_the_version_is_that_of_the_jar() -> None:
    build = (ROOT / "build.sbt").read_text()
    assert f'version := "{thetajoin.__version__}"' in build


def test_the_error_tree_is_drawn_as_it_is() -> None:
    drawn = set(re.findall(r"[├└]── (\w+)", errors.__doc__ or ""))
    classes = {c for c in vars(errors).values() if inspect.isclass(c)}
    leaves = {c.__name__ for c in classes if c is not errors.ThetaJoinError}
    assert drawn == leaves
    for c in classes - {errors.RemoteBuilderWarning, errors.SettingsReplacedWarning}:
        assert issubclass(c, errors.ThetaJoinError)
    assert leaves < set(thetajoin.__all__)


def test_the_last_line_of_an_error_is_its_hint() -> None:
    assert str(errors.ConfigureError("No.", hint="Try this.")) == "No.\nHint: Try this."


def test_settings_are_named_after_their_keys() -> None:
    for name in settings.__all__:
        words = re.sub("([A-Z])", r"_\1", getattr(settings, name).removeprefix("spark.thetajoin."))
        assert name == words.replace(".", "_").upper()


def test_settings_are_documented() -> None:
    body = ast.parse(Path(_settings.__file__).read_text()).body
    for node, after in itertools.pairwise(body):
        if isinstance(node, ast.AnnAssign):
            assert isinstance(after, ast.Expr)
            doc = ast.literal_eval(after.value)
            assert re.search(r"\n\nDefault: (``\w+``|empty)\. Since \d+\.\d+\.\d+\.\n$", doc)
