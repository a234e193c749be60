"""What a run leaves behind: a table in Markdown, the raw numbers in JSON, a plot in SVG."""

from __future__ import annotations

import json
import math
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

import psutil
from cpuinfo import get_cpu_info

from benchmarks.engines import Answer
from benchmarks.markdown import table
from benchmarks.queries import OFF, ON, Query, Suite, is_scan, scan_of
from benchmarks.worker import Execution, NotSupported, OverLimit

# The package that an engine comes in.
PACKAGES = {
    OFF: "pyspark",
    "DuckDB": "duckdb",
    "ClickHouse": "chdb-core",
    "DataFusion": "datafusion",
    "Polars": "polars",
    "pandas": "pandas",
    "SedonaDB": "sedonadb",
    "GeoPandas": "geopandas",
}

_SHAPES = (
    "What becomes of the rows: `counted` they make that one row; `grouped` they are counted and "
    "summed in a thousand groups, and then the groups; `written` all come out, of Spark into its "
    "`noop` sink, of the others into memory, and their number is compared; `joined` they meet a "
    "table of a thousand rows on an equal key, and half of them pass a filter above."
)

# What is slower by no more than this may be the noise of two runs.
NOISE = 1.05

# An engine runs a query for so long before it is timed, as a JVM gets faster for many runs; the
# first query for longer, since most of Spark's own code is compiled then.
WARM_UP_SECONDS = 1.0
FIRST_WARM_UP_SECONDS = 10.0

# What runs in one process is timed for so long together, but for no more rounds than this.
TIMED_SECONDS = 40.0
MOST_ROUNDS = 30


@dataclass
class Result:
    """All that was measured for one query: an engine's runs, or why it has none."""

    query: Query
    executions: dict[str, list[Execution]] = field(default_factory=dict)
    not_run: dict[str, OverLimit | NotSupported] = field(default_factory=dict)
    answer: Answer | None = None

    def check(self, engine: str, answer: Answer) -> None:
        """Every engine has to answer what the first one did."""
        if is_scan(engine):
            return
        self.answer = self.answer or answer
        if not self.query.agree(answer, self.answer):
            raise ValueError(f"{self.query.name}: {engine} gave {answer}, not {self.answer}")

    def seconds(self, *engines: str) -> float:
        """What the engines' runs took together."""
        return sum(run.seconds for engine in engines for run in self.executions.get(engine, []))

    def median(self, engine: str) -> float | None:
        """The engine's median seconds."""
        runs = self.executions.get(engine)
        return statistics.median(run.seconds for run in runs) if runs else None

    def best_peer(self, peers: tuple[str, ...]) -> float | None:
        """The seconds of the fastest of these engines."""
        return min((s for s in map(self.median, peers) if s is not None), default=None)

    def above_scan(self, engine: str) -> float | None:
        """The engine's seconds above those in which it only reads the tables."""
        scan, seconds = self.median(scan_of(engine)), self.median(engine)
        return None if scan is None or seconds is None else seconds - scan

    def share_above_scan(self) -> float | None:
        """What thetajoin takes above the scan, as a share of what Spark does."""
        off, on = self.above_scan(OFF), self.above_scan(ON)
        return None if off is None or on is None or off <= 0 else on / off

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
    seconds: float


def machine_facts(engines: Sequence[str]) -> dict[str, str]:
    """What a reader needs to judge the numbers."""
    processor = get_cpu_info().get("brand_raw", platform.machine())
    packages = [PACKAGES[engine] for engine in engines if engine in PACKAGES]
    return {
        "processor": f"{processor}, {psutil.cpu_count()} cores",
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "load average at the start": f"{psutil.getloadavg()[0]:.1f}",
        "versions": ", ".join(f"{package} {version(package)}" for package in packages),
    }


def markdown(suite: Suite, results: list[Result], settings: Settings, facts: dict[str, str]) -> str:
    """The page with the table."""
    lines = [
        f"# {suite.title}",
        "",
        f"Seconds, median of {settings.runs} runs or more, in turn, those of one process equally "
        f"often, after {WARM_UP_SECONDS:g} s of warm-up ({FIRST_WARM_UP_SECONDS:g} s for "
        f"the first query). {settings.threads} threads an engine, limit {settings.limit:g} s. "
        f"All engines gave the same answers: {suite.answer}.",
        "",
        suite.data,
        "",
        _SHAPES,
        "",
        *tables(suite, results),
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


def tables(suite: Suite, results: list[Result]) -> list[str]:
    """The Markdown tables: whole queries, then what they take above a scan where that was timed."""
    lines = _table(results, [result.query.facts | _figures(suite, result) for result in results])
    scanned = [result for result in results if result.query.scan is not None]
    if not scanned:
        return lines
    return [
        *lines,
        "",
        "Seconds above the scan: those of the query, less those in which the same engine reads the "
        "same columns of both tables and joins nothing (in brackets), in the same rounds. Below "
        "zero a query takes less than that read, which aggregates all rows of both tables.",
        "",
        *_table(scanned, [_figures_above_scan(suite, result) for result in scanned]),
    ]


def _table(results: list[Result], rows: list[dict[str, str]]) -> list[str]:
    """Cells by the head of their column, a row for each result."""
    lines = ((r.query.name, *row.values()) for r, row in zip(results, rows, strict=True))
    texts = 1 + len(rows[0].keys() & results[0].query.facts.keys())
    return table(("query", *rows[0]), lines, texts)


def _figures(suite: Suite, result: Result) -> dict[str, str]:
    """The seconds of a whole query, and how they compare."""
    figures = {engine: cell(result, engine) for engine in suite.engines}
    figures["off / on"] = off_ratio(result)
    figures["best peer / on"] = _ratio(result.best_peer(suite.peers), result.median(ON))
    if any(query.scan is not None for query in suite.queries):
        off, on = result.broadcast_bytes(OFF), result.broadcast_bytes(ON)
        none = "none sent" if off else ""
        figures["broadcast off / on"] = _ratio(off, on) if off and on else none
    return figures


def _figures_above_scan(suite: Suite, result: Result) -> dict[str, str]:
    figures = {}
    for engine in suite.engines:
        above = result.above_scan(engine)
        figures[engine] = (
            cell(result, engine)
            if above is None
            else f"{above:.2f} ({cell(result, scan_of(engine))})"
        )
    share = result.share_above_scan()
    figures["on / off"] = "" if share is None else f"{share:.2f}"
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
        "results": [asdict(result) | {"sql": result.query.sql_of(ON)} for result in results],
    }
    (folder / f"{suite.name}.json").write_text(json.dumps(raw) + "\n")


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
        limit, share = suite.above_scan, result.share_above_scan()
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
