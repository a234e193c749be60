"""Runs a streaming query over a folder of small files, stops it and starts it again, and says what came out and how."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

SCHEMA = (
    "id BIGINT, x BIGINT, k BIGINT, px DOUBLE, py DOUBLE, s STRING, tags ARRAY<STRING>, t TIMESTAMP"
)
_WORDS = ["amber", "basalt", "cedar", "delta", "ember", "flint", "garnet", "hazel"]
_JOIN = re.compile(r"\w+ThetaJoin (\w+), (\w+)")
BUILT = "built to be kept"
KEPT = "kept from an earlier micro-batch"


@dataclass
class Events:
    """The files of a source, and the rows in them."""

    folder: Path
    draw: random.Random
    rows: list[dict[str, Any]] = field(default_factory=list)
    files: int = 0

    def add(self, files: int, rows: int = 5) -> None:
        """More files, the older ones first in the order of their times."""
        self.folder.mkdir(exist_ok=True)
        for _ in range(files):
            made = [self._row(len(self.rows) + i) for i in range(rows)]
            path = self.folder / f"{len(self.rows):06}.json"
            path.write_text("".join(json.dumps(row) + "\n" for row in made))
            self.rows += made
        self.files += files

    def stream(self, session: SparkSession, files: int = 1) -> DataFrame:
        """At most so many files in a micro-batch."""
        self.folder.mkdir(exist_ok=True)
        reader = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", files)
        return reader.json(str(self.folder))

    def table(self, session: SparkSession) -> DataFrame:
        return session.read.schema(SCHEMA).json(str(self.folder))

    def _row(self, id: int) -> dict[str, Any]:
        draw = self.draw
        words = draw.sample(_WORDS, 3)
        return {
            "id": id,
            "x": draw.choice([None, *range(0, 1000, 7)]),
            "k": draw.randrange(3),
            "px": draw.uniform(0, 10),
            "py": draw.uniform(0, 10),
            "s": " ".join(words),
            "tags": words[: draw.randrange(4)],
            "t": f"2024-01-01T00:{draw.randrange(60):02}:{draw.randrange(60):02}Z",
        }


@dataclass
class Run:
    """What a query did until it was stopped or had read all files."""

    plan: str
    plans: list[str]
    input_rows: int

    @property
    def joins(self) -> set[tuple[str, str]]:
        """The accelerators and types of our joins in the last micro-batch."""
        return set(_JOIN.findall(self.plan))

    def count(self, words: str) -> int:
        """In how many micro-batches the plan has these words."""
        return sum(words in plan for plan in self.plans)


def run(
    frame: DataFrame,
    folder: Path,
    stop_after: int | None = None,
    mode: str = "append",
    during: Callable[[StreamingQuery], None] | None = None,
) -> Run:
    """Starts a query from the checkpoint of its folder. Stops it in the middle if told after how many micro-batches."""
    session = frame.sparkSession
    with micro_batches(session) as plans:
        writer = frame.writeStream.outputMode(mode).option(
            "checkpointLocation", str(folder / "state")
        )
        writer = writer.format("parquet").option("path", str(folder / "out"))
        query = writer.trigger(availableNow=True).start()
        try:
            if during:
                during(query)
            if stop_after is None:
                query.awaitTermination()
            else:
                wait(lambda: not query.isActive or len(query.recentProgress) >= stop_after)
        finally:
            query.stop()
        plan = last_plan(query)
        rows = sum(progress["numInputRows"] for progress in query.recentProgress)
    return Run(plan, plans, rows)


def run_steps(
    frame: DataFrame, folder: Path, events: Events, changes: list[Callable[[], None]]
) -> Run:
    """Runs a query that goes on while things change: a micro-batch of one file more after each change."""
    with micro_batches(frame.sparkSession) as plans:
        writer = frame.writeStream.option("checkpointLocation", str(folder / "state"))
        query = writer.format("parquet").option("path", str(folder / "out")).start()
        try:
            for change in changes:
                change()
                events.add(1)
                query.processAllAvailable()
        finally:
            query.stop()
        plan = last_plan(query)
    return Run(plan, plans, len(events.rows))


def last_plan(query: StreamingQuery) -> str:
    execution = query._jsq.streamingQuery().lastExecution()
    return execution.executedPlan().toString() if execution else ""


def rows(session: SparkSession, folder: Path) -> Counter[str]:
    """All that a query has written, by all its runs."""
    return Counter(str(tuple(row)) for row in session.read.parquet(str(folder / "out")).collect())


@contextmanager
def micro_batches(session: SparkSession) -> Iterator[list[str]]:
    """Collects the descriptions of the plans that are run."""
    store = session._jsparkSession.sharedState().statusStore()
    bus = session.sparkContext._jsc.sc().listenerBus()

    def executions() -> list[Any]:
        bus.waitUntilEmpty()
        found = store.executionsList()
        return [found.apply(i) for i in range(found.size())]

    before = max([e.executionId() for e in executions()], default=-1)
    plans: list[str] = []
    yield plans
    plans += [e.physicalPlanDescription() for e in executions() if e.executionId() > before]


def wait(until: Callable[[], bool], seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < limit
        time.sleep(0.02)
