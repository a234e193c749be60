"""Options, and the Spark session as a fixture."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent / "python" / "src")]

from sessions import shared_session


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("thetajoin")
    group.addoption(
        "--examples", type=int, help="property-test examples (2000; 30 with -m 'not slow')"
    )
    group.addoption("--seed", type=int, help="seed of the property tests (random)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out of the fast set (-m 'not slow')")
    if config.option.examples is None:
        config.option.examples = 30 if "not slow" in config.option.markexpr else 2000
    if config.option.seed is None:
        config.option.seed = random.randrange(2**32)


def pytest_report_header(config: pytest.Config) -> str:
    return f"property tests: --examples {config.option.examples} --seed {config.option.seed}"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    yield shared_session()


def pytest_sessionfinish() -> None:
    if shared_session.cache_info().currsize:
        shared_session().stop()
