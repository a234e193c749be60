"""What a run leaves behind: a table in Markdown, the raw numbers in JSON, a plot in SVG."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

from benchmarks.engines import Answer
from benchmarks.queries import Query
from benchmarks.worker import Execution, NotSupported, OverLimit

OFF, ON = "Spark", "Spark + thetajoin"
PEERS = ("DuckDB", "DataFusion", "Polars")
ENGINES = (OFF, ON, *PEERS)


@dataclass
class Result:
    """All that was measured for one query: an engine's runs, or why it has none."""

    query: Query
    executions: dict[str, list[Execution]] = field(default_factory=dict)
    not_run: dict[str, OverLimit | NotSupported] = field(default_factory=dict)
    answer: Answer | None = None

    def check(self, engine: str, answer: Answer) -> None:
        """Every engine has to answer what the first one did."""
        self.answer = self.answer or answer
        if answer != self.answer:
            raise ValueError(f"{self.query.name}: {engine} gave {answer}, not {self.answer}")

    def median(self, engine: str) -> float | None:
        """The engine's median seconds."""
        runs = self.executions.get(engine)
        return statistics.median(run.seconds for run in runs) if runs else None

    def best_peer(self) -> float | None:
        """The seconds of the fastest engine that is not Spark."""
        return min((s for s in map(self.median, PEERS) if s is not None), default=None)


@dataclass(frozen=True)
class Settings:
    """How the run was made."""

    runs: int
    limit: float
    threads: int


def machine_facts() -> dict[str, str]:
    """What a reader needs to judge the numbers."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ("pyspark", "duckdb", "datafusion", "polars")
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "load average at the start": f"{os.getloadavg()[0]:.1f}",
        "versions": ", ".join(f"{package} {version(package)}" for package in packages),
    }


def markdown(results: list[Result], settings: Settings, facts: dict[str, str]) -> str:
    """The page with the table."""
    lines = [
        "# Nested-loop joins",
        "",
        f"Seconds, median of {settings.runs} runs after one warm-up, {settings.threads} threads an "
        f"engine, engines in turn within each query. Limit {settings.limit:g} s a run. "
        "All engines gave the same answers: the row count and the sums of both sides' columns.",
        "",
        "The tables are consecutive integers, t1(a) and t2(b): Spark and DataFusion read their own "
        "`range`, DuckDB and Polars an in-memory table (each the faster form for that engine).",
        "",
        *table(results),
        "",
        f"- spread of an engine's runs in one query, by their median: {_spread(results)}",
        *(f"- {name}: {value}" for name, value in facts.items()),
        *(f"- n/a: {reason}" for reason in _footnotes(results)),
        "",
        "![seconds a query](nlj.svg)",
        "",
        "Written by `make bench`; the single runs and the join metrics are in nlj.json.",
    ]
    return "\n".join(lines) + "\n"


def table(results: list[Result]) -> list[str]:
    """The rows of the Markdown table."""
    head = ("query", "join", "rows", "condition", *ENGINES, "off / on", "best peer / on")
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * 4}{' ---: |' * (len(ENGINES) + 2)}"]
    for result in results:
        query = result.query
        cells = [query.name, query.join_type, query.sizes, f"`{query.condition}`"]
        cells += [_cell(result, engine) for engine in ENGINES]
        cells += [_off_ratio(result), _ratio(result.best_peer(), result.median(ON))]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def write(results: list[Result], settings: Settings, facts: dict[str, str], folder: Path) -> None:
    """Write nlj.md and nlj.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nlj.md").write_text(markdown(results, settings, facts))
    raw = {
        "machine": facts,
        "settings": asdict(settings),
        "results": [asdict(result) | {"sql": result.query.sql} for result in results],
    }
    (folder / "nlj.json").write_text(json.dumps(raw, indent=1) + "\n")


def misses(results: Iterable[Result]) -> list[str]:
    """The limits that Spark with thetajoin does not keep: its targets, and Spark's own time."""
    found = []
    for result in results:
        on, off, query = result.median(ON), result.median(OFF), result.query
        if on is None:
            found.append(f"{query.name}: no time for {ON}")
            continue
        if query.target is not None and on > query.target:
            found.append(f"{query.name}: {on:.2f} s, the target is {query.target:g} s")
        if off is not None and on > off * 1.05:
            found.append(f"{query.name}: {on:.2f} s, slower than Spark alone: {off:.2f} s")
    return found


def _cell(result: Result, engine: str) -> str:
    seconds = result.median(engine)
    if seconds is not None:
        return f"{seconds:.2f}" if seconds >= 0.1 else f"{seconds:.3f}"
    match result.not_run.get(engine):
        case OverLimit(limit):
            return f"> {limit:g}"
        case NotSupported():
            return "n/a"
        case None:
            return ""


def _off_ratio(result: Result) -> str:
    """Off by on; where off passed the limit, the limit is a lower bound of it."""
    stopped = result.not_run.get(OFF)
    if isinstance(stopped, OverLimit):
        bound = _ratio(stopped.limit, result.median(ON))
        return f"> {bound}" if bound else ""
    return _ratio(result.median(OFF), result.median(ON))


def _ratio(slow: float | None, fast: float | None) -> str:
    if slow is None or fast is None:
        return ""
    ratio = slow / fast
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def _spread(results: list[Result]) -> str:
    """How far apart repeated runs are: the noise to read the table with."""
    spreads = []
    for result in results:
        for runs in result.executions.values():
            seconds = [run.seconds for run in runs]
            spreads.append((max(seconds) - min(seconds)) / statistics.median(seconds))
    return f"{statistics.median(spreads):.0%} in the middle, {max(spreads):.0%} at most"


def _footnotes(results: list[Result]) -> list[str]:
    outcomes = (outcome for result in results for outcome in result.not_run.values())
    return sorted({outcome.reason for outcome in outcomes if isinstance(outcome, NotSupported)})


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
