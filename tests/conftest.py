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

import thetajoin
from sessions import STATIC, shared_session

SERIALIZERS = {
    "java": "org.apache.spark.serializer.JavaSerializer",
    "kryo": "org.apache.spark.serializer.KryoSerializer",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("thetajoin")
    group.addoption(
        "--seconds", type=float, help="of each property test (30; 5 with -m 'not slow')"
    )
    group.addoption("--examples", type=int, help="of each property test, in place of --seconds")
    group.addoption("--seed", type=int, help="of the property tests (random)")
    group.addoption(
        "--serializer", choices=SERIALIZERS, default="java", help="spark.serializer (java)"
    )
    group.addoption(
        "--whole", action="store_true", help="all SQL tests, each under two configurations or more"
    )
    group.addoption("--part", default="1/1", help="of the SQL tests, such as 2/3 (1/1)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out of the fast set (-m 'not slow')")
    if config.option.seconds is None:
        config.option.seconds = 5 if "not slow" in config.option.markexpr else 30
    if config.option.seed is None:
        config.option.seed = random.randrange(2**32)
    STATIC["spark.serializer"] = SERIALIZERS[config.option.serializer]
    if config.option.serializer == "kryo":
        STATIC["spark.kryo.registrationRequired"] = "true"
        STATIC["spark.kryo.registrator"] = thetajoin.KRYO_REGISTRATOR


def pytest_report_header(config: pytest.Config) -> str:
    options = config.option
    extent = (
        f"--examples {options.examples}" if options.examples else f"--seconds {options.seconds:g}"
    )
    return f"property tests: {extent} --seed {options.seed} --serializer {options.serializer}"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    yield shared_session()


def pytest_sessionfinish() -> None:
    if shared_session.cache_info().currsize:
        shared_session().stop()
