"""The budget of the property tests, and what they covered, which is told at the end of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from comparison import Budget
from pyspark.sql import SparkSession

COVERED = pytest.StashKey[dict[str, str]]()


@pytest.fixture
def budget(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Budget]:
    """The run's, counted from when the session is there."""
    name, options = request.function.__name__, request.config.option
    repro = request.config.rootpath / "target" / "repro" / name.removeprefix("test_random_")
    covered: Counter[str] = Counter()
    yield Budget(options.seed, options.seconds, options.examples, covered, repro)
    counts = ", ".join(f"{what} {count}" for what, count in covered.items())
    told = request.config.stash.setdefault(COVERED, {})
    told[name] = f"{counts}; --seed {options.seed} --serializer {options.serializer}"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for name, told in config.stash.get(COVERED, {}).items():
        terminalreporter.write_line(f"{name}: {told}")
