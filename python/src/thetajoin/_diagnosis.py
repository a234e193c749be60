"""What became of each join of a DataFrame, read from our section of its EXPLAIN.

== Extended Information (ThetaJoin) ==
[1] Inner join ON (t.v > b.w): accelerated by piecewise
    exec: BroadcastThetaJoin, BuildRight
    index: [(t.v > b.w)]
    residual: []
    estimate: 50 build rows, 3000 probe rows
    seen: 50 index rows, 1200 candidates, 1200 matches
[2] LeftOuter join ON (t.k = c.k): not accelerated, EQUI_KEYS
    reason: The condition has equality keys, and no index would serve more of it than ...
    remedy: Nothing to do. The hint THETA_JOIN(t), where t is a side of the join, asks for ...
    passed over: interval, NO_COMPARISON: No conjunct compares ... Rewrite the condition ...
    note: nix in the hint THETA_JOIN is not used: it names no relation of its block ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

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


_SECTION = re.compile(
    r"^== Extended Information \(ThetaJoin\) ==\n(.*?)\s*(?=^== |\Z)", re.MULTILINE | re.DOTALL
)
_HEAD = r"\[(?P<join_number>\d+)\] (?P<join_type>\S+) join ON (?P<condition>.*): "
_ACCELERATED = re.compile(
    _HEAD + r"accelerated by (?P<accelerator>\S+)\n"
    r"    exec: (?P<exec>\S+), (?P<build_side>\S+)\n"
    r"    index: \[(?P<index>.*)\]\n"
    r"    residual: \[(?P<residual>.*)\]"
    r"(\n    estimate: (?P<estimated_build_rows>\d+) build rows, "
    r"(?P<estimated_probe_rows>\d+) probe rows)?"
    r"(\n    seen: (?P<index_rows>\d+) index rows, (?P<candidates>\d+) candidates, "
    r"(?P<matches>\d+) matches)?",
    re.DOTALL,
)
_NOT_ACCELERATED = re.compile(
    _HEAD + r"not accelerated, (?P<reason_code>[A-Z_]+)\n"
    r"    reason: (?P<reason>.*)\n"
    r"    remedy: (?P<remedy>.*)",
    re.DOTALL,
)
_PASSED_OVER = "\n    passed over: "
_NOTE = "\n    note: "
# A list is split at commas outside of brackets; string constants and quoted names hold anything.
_TOKEN = re.compile(r"'(?:\\.|[^'\\])*'|`(?:``|[^`])*`|[(\[]|[)\]]|, |.", re.DOTALL)


def parse_section(explain: str) -> JoinReports:
    """The reports in the text of an EXPLAIN."""
    section = _SECTION.search(explain)
    if section is None:
        raise _not_understood("EXPLAIN has no section of thetajoin")
    if section[1] == "No joins.":
        return JoinReports()
    return JoinReports(map(_report, re.split(r"\n(?=\[\d+\] \S+ join ON )", section[1])))


def _report(block: str) -> JoinReport:
    block, *notes = block.split(_NOTE)
    block, *passed_over = block.split(_PASSED_OVER)
    if match := _ACCELERATED.fullmatch(block):
        return JoinReport(
            join_number=int(match["join_number"]),
            join_type=match["join_type"],
            condition=match["condition"],
            accelerator=match["accelerator"],
            exec=match["exec"],
            build_side=match["build_side"],
            index=_conjuncts(match["index"]),
            residual=_conjuncts(match["residual"]),
            estimated_build_rows=_count(match["estimated_build_rows"]),
            estimated_probe_rows=_count(match["estimated_probe_rows"]),
            index_rows=_count(match["index_rows"]),
            candidates=_count(match["candidates"]),
            matches=_count(match["matches"]),
            passed_over=tuple(passed_over),
            notes=tuple(notes),
        )
    if match := _NOT_ACCELERATED.fullmatch(block):
        return JoinReport(
            join_number=int(match["join_number"]),
            join_type=match["join_type"],
            condition=match["condition"],
            reason_code=match["reason_code"],
            reason=match["reason"],
            remedy=match["remedy"],
            passed_over=tuple(passed_over),
            notes=tuple(notes),
        )
    raise _not_understood(f"EXPLAIN says of a join: {block!r}")


def _count(digits: str | None) -> int | None:
    return None if digits is None else min(int(digits), 2**63 - 1)


def _conjuncts(text: str) -> tuple[str, ...]:
    items, depth = [""], 0
    for token in _TOKEN.findall(text):
        depth += (token in "([") - (token in ")]")
        if token == ", " and depth == 0:
            items.append("")
        else:
            items[-1] += token
    return tuple(item for item in items if item)


def _not_understood(what: str) -> ExplainJoinsError:
    return ExplainJoinsError(
        f"The report of the joins can't be read. {what}.",
        hint="Use the same version of thetajoin here and in the server's jar.",
    )
