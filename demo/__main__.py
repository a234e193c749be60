"""Ask Spark every question with thetajoin off and on, compare the answers, print what it took."""

from __future__ import annotations

import textwrap
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyspark
import thetajoin
from pyspark.sql import Row, SparkSession

from benchmarks.executed_plan import ExecutedJoin, executed_join, plan_of
from demo import data, places, terminal
from demo.questions import NEAREST_CITY, QUESTIONS, Question

FOLDER = Path(__file__).parents[1] / "build" / "demo"
SHOWN_ROWS = 3


@dataclass(frozen=True)
class Run:
    """One execution of a question."""

    seconds: float
    rows: list[Row]
    join: ExecutedJoin


def main() -> None:
    """Run the demo."""
    print("Starting Spark and loading the data ", end="", flush=True)
    with terminal.ticking():
        spark = _session()
        counts = data.load(spark, FOLDER)
    tables = ", ".join(f"{count:,} rows of {name}" for name, count in counts.items())
    print(f"\nSpark {pyspark.__version__} on {spark.sparkContext.master}: {tables}")
    lines = [
        _ask(spark, question, f"[{number}/{len(QUESTIONS)}]")
        for number, question in enumerate(QUESTIONS, start=1)
    ]
    head = ("question", "join", "accelerator", "pairs", "candidates", "rows", "off", "on", "faster")
    print("\n" + terminal.table(head, lines, text_columns=3))
    closing = (
        "Every answer has the same rows with thetajoin off and on. Pairs: left rows times right "
        "rows, with it off. Candidates: the pairs that the index left to look at. Times: one run, "
        "off before on."
    )
    print("\n" + terminal.paragraph(closing, 0))
    map_file = FOLDER / "nearest_city.png"
    places.draw(spark.sql(NEAREST_CITY.sql).collect(), map_file)
    print(f"\nA map of the answer to the last question: {map_file.relative_to(Path.cwd())}")
    spark.stop()


def _session() -> SparkSession:
    builder = SparkSession.builder.master("local[*]").appName("thetajoin demo")
    settings = {
        "spark.driver.memory": "4g",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return thetajoin.configure(builder).getOrCreate()


def _ask(spark: SparkSession, question: Question, number: str) -> list[str]:
    """Run a question both ways; the result is its line of the closing table."""
    print("\n" + terminal.paragraph(f"{number} {question.words}", 0, hanging=6))
    for sql in filter(None, (question.workaround, question.sql)):
        print(textwrap.indent(textwrap.dedent(sql).strip("\n"), "      "))
    off = _run(spark, question, enabled=False)
    on = _run(spark, question, enabled=True)
    if Counter(off.rows) != Counter(on.rows):
        raise AssertionError(f"the rows differ: off {off.rows[:20]}, on {on.rows[:20]}")
    rows, candidates = (on.join.metrics[name] for name in ("numOutputRows", "candidates"))
    faster = f"{off.seconds / on.seconds:.1f}x"
    what = (
        f"{len(on.rows):,} rows, each" if question.short else f"{rows:,} rows, by count and hashes"
    )
    print(f"  equal: {what}; {off.join.pairs:,} pairs, {candidates:,} candidates; {faster} faster")
    if question.short:
        for row in on.rows[:SHOWN_ROWS]:
            print("    " + ", ".join(f"{name} {value}" for name, value in row.asDict().items()))
    numbers = [f"{count:,}" for count in (off.join.pairs, candidates, rows)]
    times = [f"{run.seconds:.1f} s" for run in (off, on)]
    return [question.name, question.join_type, question.accelerator, *numbers, *times, faster]


def _run(spark: SparkSession, question: Question, *, enabled: bool) -> Run:
    """Run a question to its end and make sure that the join ran where it should."""
    spark.conf.set("spark.thetajoin.enabled", enabled)
    print(f"  {'on ' if enabled else 'off'} ", end="", flush=True)
    started = time.perf_counter()
    with terminal.ticking():
        sql = question.sql if enabled else question.workaround or question.sql
        frame = spark.sql(sql if question.short else _fingerprint(sql))
        rows = frame.collect()
    seconds = time.perf_counter() - started
    join = executed_join(plan_of(frame))
    print(f" {seconds:.1f} s\n{terminal.paragraph(join.line, 6, hanging=2)}")
    expected = question.accelerator if enabled else None
    if join.accelerator != expected:
        raise AssertionError(f"accelerator {join.accelerator} ran the join, expected: {expected}")
    return Run(seconds, rows, join)


def _fingerprint(sql: str) -> str:
    """The bag of rows in one row: every column of every row goes into both hashes."""
    return f"SELECT count(*), sum(hash(*)), bit_xor(xxhash64(*)) FROM ({sql})"


if __name__ == "__main__":
    main()
