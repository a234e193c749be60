"""Asks a Spark session with thetajoin what would serve a join that a log shows.

The join is made again over two tables with as many rows as the log counted, whose columns have no
values. It is planned and not run. Whether the condition was read rightly is checked: Spark, with
thetajoin off, must print the same condition for the made-up join as the log has.

    python -m thetajoin._advisor.questions

reads `Question`s as JSON from standard input and writes `Answer`s as its last line. It has a
process of its own, since Spark can be set up only once in each.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from thetajoin import settings
from thetajoin._advisor.condition import ConditionError, read
from thetajoin._advisor.plans import Join, parse_join
from thetajoin._advisor.sql import Side, expression, names, query, table
from thetajoin._advisor.tree import Tree, columns, conjuncts
from thetajoin._advisor.types import Classes
from thetajoin._diagnosis import explain_joins
from thetajoin._plans import explain_text
from thetajoin._session import configure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CONFS = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone", "spark.sql.caseSensitive")
_LINE = re.compile(r"(?:BroadcastNestedLoopJoin|CartesianProduct|SortMergeJoin|\w+HashJoin)\b.*")


@dataclass(frozen=True)
class Question:
    """A join of a log."""

    join_type: str
    condition: str
    """Keys and condition as Catalyst prints them."""
    left_numbers: tuple[int, ...]
    """Numbers of the columns of the left side; all others are of the right side."""
    left_rows: int
    right_rows: int
    types: dict[int, str]
    """Types by the numbers of columns, as far as the plan tells them."""
    confs: dict[str, str] = field(default_factory=dict)
    """Settings of the application that decide what a condition means."""


@dataclass(frozen=True)
class Answer:
    """What would serve a join, or why that is not known."""

    why_not: str = ""
    """Why there is no answer; empty if there is one."""
    sql: str = ""
    """The join's condition as it was read."""
    types: dict[str, str] = field(default_factory=dict)
    """The types of the columns that the plan did not tell, as they were assumed."""
    confirmed: bool = False
    """Whether Spark prints the same condition for the join that was asked."""
    accelerator: str | None = None
    build_side: str | None = None
    index: tuple[str, ...] = ()
    residual: tuple[str, ...] = ()
    reason_code: str | None = None
    reason: str | None = None
    remedy: str | None = None


def confs(properties: dict[str, str], spark_version: str) -> dict[str, str]:
    """The settings of a log that are set in the session that is asked."""
    found = {key: properties[key] for key in _CONFS if key in properties}
    if spark_version.startswith(("2.", "3.")):
        found.setdefault("spark.sql.ansi.enabled", "false")
    return found


def ask(spark: SparkSession, question: Question) -> Answer:
    """What thetajoin says of the join; the session's settings are as before afterwards."""
    try:
        tree = read(question.condition)
    except ConditionError as error:
        return Answer(why_not=f"the condition can't be read: {error}")
    before = {key: spark.conf.get(key, None) for key in question.confs}
    for key, value in question.confs.items():
        spark.conf.set(key, value)
    try:
        return _answer(spark, question, tree)
    finally:
        for key, was in before.items():
            if was is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, was)


def _answer(spark: SparkSession, question: Question, tree: Tree) -> Answer:
    from pyspark.errors import PySparkException

    named = names(tree)
    left = Side(frozenset(named) & frozenset(question.left_numbers), question.left_rows)
    right = Side(frozenset(named) - left.numbers, question.right_rows)
    quoted = {n: f"{'l' if n in left.numbers else 'r'}.`{name}`" for n, name in named.items()}
    first: tuple[str, str, dict[str, str]] | None = None
    confirmed, failure = False, "no types of its columns fit"
    for types in Classes(tree, question.types).assignments():
        condition = expression(tree, quoted, types)
        made = types | question.types
        tables = (table(left, named, made), table(right, named, made))
        sql = query(question.join_type, condition, tables)
        try:
            printed = _printed_by_spark(spark, sql)
        except PySparkException as error:
            failure = str(error).splitlines()[0]
            continue
        bigints = {column.number for column in columns(tree) if column.is_bigint}
        told = question.types.keys() | bigints
        assumed = {name: made[n] for n, name in named.items() if n not in told}
        confirmed = printed is not None and _same(tree, printed, named)
        if first is None or confirmed:
            first = sql, condition, assumed
        if confirmed:
            break
    if first is None:
        return Answer(why_not=f"the condition can't be made again: {failure}")
    sql, condition, assumed = first
    reports = explain_joins(spark.sql(sql))
    if len(reports) != 1:
        return Answer(why_not="Spark plans no join for the condition", sql=condition)
    kept = (
        "accelerator", "build_side", "index", "residual", "reason_code", "reason", "remedy",
    )  # fmt: skip
    return Answer(
        sql=condition,
        types=assumed,
        confirmed=confirmed,
        **{name: getattr(reports[0], name) for name in kept},
    )


def _printed_by_spark(spark: SparkSession, sql: str) -> str | None:
    """The condition in Spark's own plan of the query; None if that has no join."""
    spark.conf.set(settings.ENABLED, "false")
    try:
        text = explain_text(spark.sql(sql))
    finally:
        spark.conf.unset(settings.ENABLED)
    line = _LINE.search(text)
    parts = parse_join(line[0]) if line else None
    if parts is None:
        return None
    return Join.whole(*parts[2:])


def _same(tree: Tree, printed: str, named: dict[int, str]) -> bool:
    """Whether a condition that Spark printed is the tree, apart from the numbers of columns."""
    try:
        other = read(printed)
    except ConditionError:
        return False
    theirs = {column.number: column.name for column in columns(other)}
    return _texts(tree, named) == _texts(other, theirs)


def _texts(tree: Tree, named: dict[int, str]) -> list[str]:
    return sorted(expression(part, named, {}) for part in conjuncts(tree))


def main() -> None:
    from pyspark.sql import SparkSession

    questions = [Question(**{**q, "types": _numbered(q["types"])}) for q in json.load(sys.stdin)]
    with tempfile.TemporaryDirectory(prefix="thetajoin-advise-") as scratch:
        builder = SparkSession.builder.master("local[1]").appName("thetajoin advise")
        for key, value in (
            ("spark.ui.enabled", "false"),
            ("spark.driver.host", "localhost"),
            ("spark.sql.warehouse.dir", scratch),
            ("spark.sql.debug.maxToStringFields", "1000"),
            ("spark.eventLog.enabled", "false"),
        ):
            builder = builder.config(key, value)
        spark = configure(builder).getOrCreate()
        try:
            answers = [asdict(ask(spark, question)) for question in questions]
        finally:
            spark.stop()
    print(json.dumps(answers))


def _numbered(types: dict[str, str]) -> dict[int, str]:
    """JSON has no keys but strings."""
    return {int(number): kind for number, kind in types.items()}


if __name__ == "__main__":
    main()
