"""Reads plans as text, by the public API that classic sessions and Spark Connect share."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EXPLAIN_PROVIDERS = "spark.sql.extendedExplainProviders"
EXPLAIN_PROVIDER = "thetajoin.ThetaJoinExplain"
_EXPLAIN_FUNCTION = "thetajoin_explain"

_capturing = threading.Lock()


class _OneThread(io.TextIOBase):
    """Keeps what one thread prints; what the others print goes on to where it would have gone."""

    def __init__(self, onward: TextIO) -> None:
        self.kept = io.StringIO()
        self._onward = onward
        self._thread = threading.get_ident()

    def write(self, text: str, /) -> int:
        mine = threading.get_ident() == self._thread
        return (self.kept if mine else self._onward).write(text)


def explain_text(df: DataFrame) -> str:
    """What ``df.explain()`` prints; printing is the only public way to get it."""
    with _capturing:
        printed = _OneThread(sys.stdout)
        with contextlib.redirect_stdout(printed):
            df.explain()
    return printed.kept.getvalue()


def executed_plan(df: DataFrame) -> str:
    """The plan by which ``df.collect()`` got its rows; call it after that."""
    if not is_remote(df):
        return explain_text(df).partition("== Initial Plan ==")[0]
    info = df.executionInfo
    return info.metrics.toText() if info is not None and info.metrics is not None else ""


def is_remote(of_pyspark: object) -> bool:
    """Whether a DataFrame or builder is of Spark Connect, whose packages need not be there."""
    return type(of_pyspark).__module__.startswith("pyspark.sql.connect.")


def extension_loaded(spark: SparkSession) -> bool:
    """Whether the session really has our extension: its conf may name a class that is missing."""
    return spark.catalog.functionExists(_EXPLAIN_FUNCTION)
