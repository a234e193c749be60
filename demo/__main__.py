"""Ask Spark every question with thetajoin off and on, compare the answers, show what it took."""

from __future__ import annotations

import sys
import textwrap
import time
from collections import Counter
from dataclasses import dataclass

import pyspark
import thetajoin
from pyspark.sql import Row, SparkSession
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from benchmarks.executed_plan import ExecutedJoin, executed_join, plan_of
from demo import data, pictures
from demo.questions import NEAREST_CITY, QUESTIONS, Question

SHOWN_ROWS = 3


@dataclass(frozen=True)
class Run:
    """One execution of a question."""

    seconds: float
    rows: list[Row]
    join: ExecutedJoin


@dataclass(frozen=True)
class Answer:
    """What a question came to, with thetajoin off and on."""

    question: Question
    off: Run
    on: Run

    @property
    def rows(self) -> int:
        """How many rows came out of the join."""
        return self.on.join.metrics["numOutputRows"]


def main() -> None:
    """Run the demo."""
    # A log file has no width of its own.
    width = None if sys.stdout.isatty() else 130
    console = Console(width=width, highlight=False, markup=False)
    with console.status("Starting Spark"):
        spark = _session()
        counts = data.load(spark)
        # The first query of all would pay for classes that every other uses too.
        spark.sql("SELECT dest, count(*) FROM flights GROUP BY dest").collect()
    console.print(f"Spark {pyspark.__version__} on {spark.sparkContext.master}")
    console.print(_table(("table", "rows"), [(n, f"{rows:,}") for n, rows in counts.items()], 1))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        answers = [_ask(spark, question, progress) for question in progress.track(QUESTIONS)]
    console.print()
    console.print(_summary(answers))
    console.print(
        "Every answer has the same rows with thetajoin off and on. Pairs: left rows times right "
        "rows, with it off. Candidates: the pairs that the index left to look at. Times: one run, "
        "off before on."
    )
    seconds, places = data.FOLDER / "off-on.svg", data.FOLDER / "nearest_city.png"
    pictures.draw_seconds(
        [(a.question.pattern, a.off.seconds, a.on.seconds) for a in answers], seconds
    )
    (nearest,) = [a.on.rows for a in answers if a.question is NEAREST_CITY]
    pictures.draw_map(nearest, places)
    console.print(f"Pictures: {seconds} has the times, {places} the nearest cities.")
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


def _ask(spark: SparkSession, question: Question, progress: Progress) -> Answer:
    """Run a question both ways, and make sure that the rows are equal."""
    (task,) = progress.task_ids
    console = progress.console
    console.rule(Text(question.pattern, style="bold"), align="left")
    console.print(question.words)
    sql = textwrap.dedent(question.sql).strip("\n")
    console.print(Padding(Syntax(sql, "sql", background_color="default", word_wrap=True), (0, 2)))
    runs = []
    for enabled in (False, True):
        state = "on" if enabled else "off"
        progress.update(task, description=f"{question.pattern}, thetajoin {state}")
        run = _run(spark, question, enabled=enabled)
        took = Text.assemble((f"{state:3}", "bold"), f" {run.seconds:.1f} s")
        console.print(Padding(took, (0, 2)))
        console.print(Padding(run.join.line, (0, 2, 0, 6)))
        runs.append(run)
    off, on = runs
    if Counter(off.rows) != Counter(on.rows):
        raise AssertionError(f"the rows differ: off {off.rows[:20]}, on {on.rows[:20]}")
    answer = Answer(question, off, on)
    by = "each" if question.short else "by count and hashes"
    rows = len(on.rows) if question.short else answer.rows
    console.print(Padding(f"equal rows: {rows:,}, {by}", (0, 2)))
    if question.short:
        shown = [tuple(map(str, row)) for row in on.rows[:SHOWN_ROWS]]
        console.print(Padding(_table(on.rows[0].__fields__, shown, len(shown[0])), (0, 2)))
    return answer


def _run(spark: SparkSession, question: Question, *, enabled: bool) -> Run:
    """Run a question to its end and make sure that the join ran where it should."""
    spark.conf.set("spark.thetajoin.enabled", enabled)
    started = time.perf_counter()
    frame = spark.sql(question.sql if question.short else _fingerprint(question.sql))
    rows = frame.collect()
    seconds = time.perf_counter() - started
    join = executed_join(plan_of(frame))
    expected = question.accelerator if enabled else None
    if join.accelerator != expected:
        raise AssertionError(f"accelerator {join.accelerator} ran the join, expected: {expected}")
    return Run(seconds, rows, join)


def _fingerprint(sql: str) -> str:
    """The bag of rows in one row: every column of every row goes into both hashes."""
    return f"SELECT count(*), sum(hash(*)), bit_xor(xxhash64(*)) FROM ({sql})"


def _summary(answers: list[Answer]) -> Table:
    head = ("pattern", "join", "accelerator", "pairs", "candidates", "rows", "off", "on", "faster")
    lines = []
    for a in answers:
        question, off, on = a.question, a.off, a.on
        numbers = (off.join.pairs, on.join.metrics["candidates"], a.rows)
        times = (f"{off.seconds:.1f} s", f"{on.seconds:.1f} s")
        lines.append(
            (
                *(question.pattern, question.join_type, question.accelerator),
                *(f"{number:,}" for number in numbers),
                *times,
                f"{off.seconds / on.seconds:.1f}x",
            )
        )
    return _table(head, lines, 3)


def _table(head: tuple[str, ...], lines: list[tuple[str, ...]], texts: int) -> Table:
    """The first columns are texts, the others are numbers."""
    table = Table()
    for position, name in enumerate(head):
        table.add_column(name, justify="left" if position < texts else "right")
    for line in lines:
        table.add_row(*line)
    return table


if __name__ == "__main__":
    main()
