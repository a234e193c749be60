"""What a run leaves behind: a table in Markdown, the raw numbers in JSON, a plot in SVG."""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

from benchmarks.engines import Answer
from benchmarks.queries import OFF, ON, Query, Suite
from benchmarks.worker import Execution, NotSupported, OverLimit

# The package that an engine comes in.
PACKAGES = {
    OFF: "pyspark",
    "DuckDB": "duckdb",
    "ClickHouse": "chdb-core",
    "DataFusion": "datafusion",
    "Polars": "polars",
}

# What is slower by no more than this may be the noise of two runs.
NOISE = 1.05

# Spark reading the tables and joining nothing: not an engine, but timed in the same rounds.
SCAN = "scan"

# An engine runs a query for so long before it is timed, as a JVM gets faster for many runs; the
# first query for longer, since most of Spark's own code is compiled then.
WARM_UP_SECONDS = 1.0
FIRST_WARM_UP_SECONDS = 10.0

# All engines together are timed for so long, but for no more rounds than this.
TIMED_SECONDS = 8.0
MOST_ROUNDS = 15


@dataclass
class Result:
    """All that was measured for one query: an engine's runs, or why it has none."""

    query: Query
    executions: dict[str, list[Execution]] = field(default_factory=dict)
    not_run: dict[str, OverLimit | NotSupported] = field(default_factory=dict)
    answer: Answer | None = None

    def check(self, engine: str, answer: Answer) -> None:
        """Every engine has to answer what the first one did."""
        if engine == SCAN:
            return
        self.answer = self.answer or answer
        if answer != self.answer:
            raise ValueError(f"{self.query.name}: {engine} gave {answer}, not {self.answer}")

    def seconds(self, *engines: str) -> float:
        """What the engines' runs took together."""
        return sum(run.seconds for engine in engines for run in self.executions.get(engine, []))

    def median(self, engine: str) -> float | None:
        """The engine's median seconds."""
        runs = self.executions.get(engine)
        return statistics.median(run.seconds for run in runs) if runs else None

    def best_peer(self) -> float | None:
        """The seconds of the fastest engine that is not Spark."""
        peers = set(self.executions) - {SCAN, OFF, ON}
        return min((s for s in map(self.median, peers) if s is not None), default=None)

    def above_scan(self) -> float | None:
        """What thetajoin takes above the scan, as a share of what Spark does."""
        scan, off, on = (self.median(engine) for engine in (SCAN, OFF, ON))
        if scan is None or off is None or on is None or off <= scan:
            return None
        return (on - scan) / (off - scan)

    def broadcast_bytes(self, engine: str) -> int:
        """What the engine broadcast for the join; 0 if nothing, or if it does not tell."""
        joins = [run.join for run in self.executions.get(engine, [])]
        return max((join.broadcast_bytes for join in joins if join is not None), default=0)


@dataclass(frozen=True)
class Settings:
    """How the run was made."""

    runs: int
    limit: float
    threads: int


def machine_facts(suite: Suite) -> dict[str, str]:
    """What a reader needs to judge the numbers."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = [PACKAGES[engine] for engine in suite.engines if engine in PACKAGES]
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "load average at the start": f"{os.getloadavg()[0]:.1f}",
        "versions": ", ".join(f"{package} {version(package)}" for package in packages),
    }


def markdown(suite: Suite, results: list[Result], settings: Settings, facts: dict[str, str]) -> str:
    """The page with the table."""
    lines = [
        f"# {suite.title}",
        "",
        f"Seconds, median of {settings.runs} runs or more, the same number for each engine of a "
        f"query, in turn, after {WARM_UP_SECONDS:g} s of warm-up ({FIRST_WARM_UP_SECONDS:g} s for "
        f"the first query). {settings.threads} threads an engine, limit {settings.limit:g} s. "
        f"All engines gave the same answers: {suite.answer}.",
        "",
        suite.data,
        "",
        *table(suite, results),
        "",
        f"- spread of an engine's runs in one query, by their median: {_spread(results)}",
        *(f"- {name}: {value}" for name, value in facts.items()),
        *(f"- n/a: {reason}" for reason in _footnotes(results)),
        "",
        f"![seconds a query]({suite.name}.svg)",
        *([f"![what a row costs by size]({suite.name}-growth.svg)"] if suite.growth else ()),
        "",
        f"Written by `python -m benchmarks {suite.name}`; the single runs and the join metrics are "
        f"in {suite.name}.json.",
    ]
    return "\n".join(lines) + "\n"


def table(suite: Suite, results: list[Result]) -> list[str]:
    """The rows of the Markdown table."""
    described = ("query", *results[0].query.facts)
    rows = [_figures(suite, result) for result in results]
    head = (*described, *rows[0])
    lines = [
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(described)}{' ---: |' * len(rows[0])}",
    ]
    for result, figures in zip(results, rows, strict=True):
        cells = (result.query.name, *result.query.facts.values(), *figures.values())
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _figures(suite: Suite, result: Result) -> dict[str, str]:
    """The cells of a query that were measured, by the head of their column."""
    scanned = result.query.scan is not None
    figures = {SCAN: cell(result, SCAN)} if scanned else {}
    figures |= {engine: cell(result, engine) for engine in suite.engines}
    figures["off / on"] = off_ratio(result)
    figures["best peer / on"] = _ratio(result.best_peer(), result.median(ON))
    if scanned:
        share = result.above_scan()
        figures["on / off above scan"] = "" if share is None else f"{share:.2f}"
        off, on = result.broadcast_bytes(OFF), result.broadcast_bytes(ON)
        none = "none sent" if off else ""
        figures["broadcast off / on"] = _ratio(off, on) if off and on else none
    return figures


def write(
    suite: Suite,
    results: list[Result],
    settings: Settings,
    facts: dict[str, str],
    folder: Path,
) -> None:
    """Write the page and the single runs."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{suite.name}.md").write_text(markdown(suite, results, settings, facts))
    raw = {
        "machine": facts,
        "settings": asdict(settings),
        "results": [asdict(result) | {"sql": result.query.sql} for result in results],
    }
    (folder / f"{suite.name}.json").write_text(json.dumps(raw, indent=1) + "\n")


def misses(suite: Suite, results: list[Result]) -> list[str]:
    """The limits that thetajoin does not keep: its targets, and those by other times."""
    found = []
    seconds = {result.query.name: result.median(ON) for result in results}
    for result in results:
        on, off, query = result.median(ON), result.median(OFF), result.query
        if on is None:
            found.append(f"{query.name}: no time for {ON}")
            continue
        if query.target is not None and on > query.target:
            found.append(f"{query.name}: {on:.2f} s, the target is {query.target:g} s")
        if off is not None and on > off * NOISE:
            found.append(f"{query.name}: {on:.2f} s, slower than Spark alone: {off:.2f} s")
        for peer in query.ahead_of:
            theirs = result.median(peer)
            if theirs is not None and on >= theirs:
                found.append(f"{query.name}: {on:.2f} s, not ahead of {peer}: {theirs:.2f} s")
        other = seconds.get(query.no_slower_than or "")
        if other is not None and on > other * NOISE:
            found.append(
                f"{query.name}: {on:.2f} s, slower than {query.no_slower_than}: {other:.2f} s"
            )
        limit, share = suite.above_scan, result.above_scan()
        if query.target is None and share is not None and share > (limit or math.inf):
            found.append(f"{query.name}: {share:.2f} of Spark's time above the scan")
    return found


def cell(result: Result, engine: str) -> str:
    """An engine's seconds, or why it has none."""
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


def off_ratio(result: Result) -> str:
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
