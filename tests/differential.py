"""Runs a query on Spark with the extension on or off, and says what came out and how.

Rows are compared as the bytes of Spark's own row format, so that every type can be compared (also
values that Python has no type for, such as timestamps before year 1) and nothing is forgiven: a join
copies values, hence a NaN, a -0.0 or a null inside a struct must come out as it went in. PySpark's
`assertDataFrameEqual` compares values of Python, with a tolerance.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

ENABLED = "spark.thetajoin.enabled"
ANSI = "spark.sql.ansi.enabled"
BROADCAST_LIMIT = "spark.sql.autoBroadcastJoinThreshold"
# Settings that begin so are numbers of `thetajoin.Yardsticks`, for all sessions.
YARDSTICK = "yardstick."

INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# Without the fallback, generated code that does not compile is an error and not a slower query.
GENERATED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
    "spark.sql.codegen.fallback": "false",
}

# Without adaptive execution probe rows are sorted in batches ahead of any ordered index, not of a large one only.
MATRIX: dict[str, dict[str, str]] = {
    f"{how}{'-aqe' if adaptive else ''}": {
        **(GENERATED if how == "codegen" else INTERPRETED),
        "spark.sql.adaptive.enabled": str(adaptive).lower(),
        **({} if adaptive else {f"{YARDSTICK}sortedIndexBytes": "0"}),
    }
    for adaptive in (True, False)
    for how in ("codegen", "interpreted")
}

_NODE = re.compile(r"(?P<exec>\w+ThetaJoin) (?P<accelerator>\w+), (?P<rest>.*)")


@dataclass(frozen=True)
class Node:
    """One of our joins in an executed plan."""

    accelerator: str
    description: str


@dataclass(frozen=True)
class Outcome:
    """What a query gave: a bag of rows or an error, and the plan as it was when the query ended."""

    rows: Counter[str]
    plan: str
    error: str | None = None

    @property
    def nodes(self) -> list[Node]:
        return [
            Node(m["accelerator"], f"{m['exec']} {m['rest']}") for m in _NODE.finditer(self.plan)
        ]


def execute(spark: SparkSession, query: str | Callable[[], DataFrame]) -> Outcome:
    """Runs SQL, or a DataFrame as it is made now, to its end; the plan is the one that AQE ended with."""
    plan = None
    try:
        frame = spark.sql(query) if isinstance(query, str) else query()
        plan = frame._jdf.queryExecution().executedPlan()
        text = _as_text(_jvm(spark)).stringOf(plan.executeCollect())
    except (PySparkException, Py4JError) as e:
        # The causes come after the frames of a stack.
        said = re.sub(r"\n\s+(at |\.\.\. ).*", "", str(e) or repr(e))
        return Outcome(Counter(), _final(plan) if plan else "", said[:2000])
    return Outcome(Counter(re.findall(r"\[([^\]]*)\]", text)), _final(plan))


def readable_rows(spark: SparkSession, sql: str) -> list[str]:
    """The rows as text, for a message: the query runs once more. Columns are separated by tabs."""
    plan = spark.sql(sql)._jdf.queryExecution().executedPlan()
    text = _jvm(spark).org.apache.spark.sql.execution.HiveResult.hiveResultString(plan)
    return sorted(text.apply(i) for i in range(text.size()))


def difference(spark: SparkSession, sql: str, off: Outcome, on: Outcome) -> str | None:
    """Says how two outcomes of a query differ, if they do. The extension is on before and after.

    Equal bytes are equal rows. Different bytes may still be: Spark keeps room for some nulls
    (long decimals, intervals) or not, depending on who wrote the row. Then the text decides.
    """
    if off.error or on.error:
        return f"off: {off.error or 'rows'}\non: {on.error or 'rows'}\n{on.plan}"
    if off.rows == on.rows:
        return None
    expected, got = off.rows, on.rows
    try:
        got = Counter(readable_rows(spark, sql))
        spark.conf.set(ENABLED, "false")
        expected = Counter(readable_rows(spark, sql))
    except (PySparkException, Py4JError):
        pass  # a value outside of what can be printed: the bytes are shown
    finally:
        spark.conf.set(ENABLED, "true")
    missing, extra = expected - got, got - expected
    if not missing and not extra:
        return None
    lines = [f"{missing.total()} rows missing, {extra.total()} too many"]
    lines += [f"  missing {row}" for row in list(missing.elements())[:20]]
    lines += [f"  extra   {row}" for row in list(extra.elements())[:20]]
    return "\n".join([*lines, on.plan])


class Confs:
    """The confs of a session, and tuned numbers of this JVM, which have `yardstick.` ahead of their name.

    They are changed with few calls: only what differs from the last time is set.
    """

    tuned: ClassVar[dict[str, str]] = {}

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.base: dict[str, str | None] = {}
        self.applied: dict[str, str] = {}

    def apply(self, settings: Mapping[str, str]) -> None:
        """Makes these the session's confs; those of the last call that are not among them go back."""
        self._tune({k: v for k, v in settings.items() if k.startswith(YARDSTICK)})
        settings = {k: v for k, v in settings.items() if not k.startswith(YARDSTICK)}
        for key in self.applied.keys() - settings.keys():
            before = self.base[key]
            if before is None:
                self.spark.conf.unset(key)
            else:
                self.spark.conf.set(key, before)
        for key, value in settings.items():
            if key not in self.base:
                own = self.spark._jsparkSession.sessionState().conf().settings()
                self.base[key] = own.get(key)
            if self.applied.get(key) != value:
                self.spark.conf.set(key, value)
        self.applied = dict(settings)

    def _tune(self, yardsticks: dict[str, str]) -> None:
        """Sets these numbers, and no other: whoever set one before may be gone."""
        if yardsticks == Confs.tuned:
            return
        numbers = _jvm(self.spark).thetajoin.Yardsticks
        for key in Confs.tuned.keys() - yardsticks.keys():
            numbers.reset(key.removeprefix(YARDSTICK))
        for key, value in yardsticks.items():
            numbers.set(key.removeprefix(YARDSTICK), int(value))
        Confs.tuned = yardsticks


def _final(plan: Any) -> str:
    """The text of a plan; of an adaptive one only its current form, not the initial one beside it."""
    if plan.getClass().getSimpleName() == "AdaptiveSparkPlanExec":
        return str(plan.executedPlan().toString())
    return str(plan.toString())


@functools.cache
def _as_text(jvm: Any) -> Any:
    """Found once: Py4J looks into every jar for a class named `scala`."""
    return jvm.scala.runtime.ScalaRunTime


def _jvm(spark: SparkSession) -> Any:
    return spark.sparkContext._jvm
