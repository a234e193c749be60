"""What became of each join of a DataFrame, read from our section of its EXPLAIN.

== Extended Information (ThetaJoin) ==
[1] Inner join ON (t.v > b.w): accelerated by piecewise
    exec: BroadcastThetaJoin, BuildRight
    index: [(t.v > b.w)]
    residual: []
    estimate: 50 build rows, 3000 probe rows
{"report":"thetajoin","version":1,"joins":[{"join_number":1,"join_type":"Inner", ...}]}

The last line has all that the lines above say, and is what is read here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from thetajoin._plans import EXPLAIN_PROVIDER, EXPLAIN_PROVIDERS, explain_text, extension_loaded
from thetajoin._reports import JoinReport, JoinReports
from thetajoin._session import with_name
from thetajoin.errors import ExplainJoinsError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def explain_joins(df: DataFrame) -> JoinReports:
    """Say of each join of a DataFrame by what it is accelerated, or why it is not and what to do.

    The query is planned, but not run. On a classic session the counts are told too, once this
    DataFrame itself has run: by ``collect``, ``toPandas`` or ``toLocalIterator``. ``count``,
    ``show`` and writes make queries of their own, whose counts are not told here, nor are any on
    Spark Connect.

    Parameters
    ----------
    df
        A DataFrame of any shape, from SQL or from DataFrame calls.

    Returns
    -------
    One report for each join, from the top of the plan down, subqueries included; empty if there
    is none. The collection is a tuple that shows as a table, and ``to_pandas()`` makes a frame.

    Raises
    ------
    ExplainJoinsError
        If thetajoin is not loaded in the session (on Spark Connect: in the server), or the report
        is not understood because the server has another version.

    Examples
    --------
    >>> joined = spark.sql("SELECT * FROM range(9) AS a LEFT JOIN range(9) AS b ON a.id < b.id")
    >>> (report,) = explain_joins(joined)
    >>> report.join_type, report.accelerator, report.index
    ('LeftOuter', 'piecewise', ('(a.id < b.id)',))
    >>> explain_joins(joined)
    #  join type  condition      accelerator  exec                build side
    1  LeftOuter  (a.id < b.id)  piecewise    BroadcastThetaJoin  BuildRight
    >>> equal = spark.sql("SELECT * FROM range(9) AS a JOIN range(9) AS b ON a.id = b.id")
    >>> explain_joins(equal)[0].reason_code
    'EQUI_KEYS'
    """
    spark = df.sparkSession
    if not extension_loaded(spark):
        raise ExplainJoinsError(
            "thetajoin is not loaded in this session.",
            hint="Make the session from thetajoin.configure(builder). On Spark Connect, start the "
            "server with the jar and spark.sql.extensions=thetajoin.ThetaJoinExtensions.",
        )
    with _explain_provider(spark):
        text = explain_text(df)
    return parse_section(text)


@contextmanager
def _explain_provider(spark: SparkSession) -> Iterator[None]:
    """Has EXPLAIN end with our section, and puts the session's own setting back."""
    before = spark.conf.get(EXPLAIN_PROVIDERS, None)
    wanted = with_name(before, EXPLAIN_PROVIDER)
    if wanted == before:
        yield
        return
    spark.conf.set(EXPLAIN_PROVIDERS, wanted)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(EXPLAIN_PROVIDERS)
        else:
            spark.conf.set(EXPLAIN_PROVIDERS, before)


_HEADING = "== Extended Information (ThetaJoin) ==\n"
_LINE = '{"report":"thetajoin",'
_VERSION = 1
_FIELDS = frozenset(field.name for field in fields(JoinReport))


def parse_section(explain: str) -> JoinReports:
    """The reports in the text of an EXPLAIN."""
    _, _, section = explain.partition(_HEADING)
    # The text above may hold anything, since conditions do. JSON has line feeds as escapes only.
    lines = [line for line in section.split("\n") if line.startswith(_LINE)]
    if not lines:
        raise _not_understood("EXPLAIN has no line of JSON in a section of thetajoin")
    try:
        told = json.loads(lines[-1])
    except ValueError as error:
        raise _not_understood(f"EXPLAIN has the line {lines[-1]}") from error
    if (version := told.get("version")) != _VERSION:
        raise _not_understood(f"It has the version {version}, and {_VERSION} is known here")
    return JoinReports(map(_report, told["joins"]))


def _report(join: dict[str, Any]) -> JoinReport:
    """Of a join as JSON; fields that are not known here are of a later release."""
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in join.items()
        if name in _FIELDS
    }
    return JoinReport(**known)


def _not_understood(what: str) -> ExplainJoinsError:
    return ExplainJoinsError(
        f"The report of the joins can't be read. {what}.",
        hint="Use the same version of thetajoin here and in the server's jar.",
    )
