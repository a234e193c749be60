"""What a run leaves behind: a page and the single rounds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from math import inf, sqrt
from pathlib import Path
from statistics import geometric_mean, median, variance
from typing import Any

from benchmarks.markdown import table
from benchmarks.queries import OFF, ON
from benchmarks.report import NOISE
from benchmarks.tpc.queries import SUITES

EQUAL, TIES, DIFFERENT, NO_ANSWER = "equal", "ties", "different", "no answer"
DUCKDB = "DuckDB"
_HEAD = ("query", "joins", "rows", "off", "on", "noise", "on / off")


@dataclass
class Result:
    """What was measured for one query; where it failed, its error.

    `answers` says how the rows of thetajoin and of DuckDB compare with those of Spark alone.
    """

    name: str
    rows: int = 0
    answers: dict[str, str] = field(default_factory=dict)
    joins: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=lambda: {OFF: [], ON: []})
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Suite and number."""
        suite, _, number = self.name.partition(":")
        return f"{SUITES[suite]} {number}"

    @property
    def ratio(self) -> float:
        """On by off."""
        return median(self.seconds[ON]) / median(self.seconds[OFF])

    @property
    def noise(self) -> float:
        """Twice the standard error of the difference between on and off."""
        off, on = self.seconds[OFF], self.seconds[ON]
        return inf if len(on) < 2 else 2 * sqrt((variance(off) + variance(on)) / len(on))

    @property
    def slower(self) -> bool:
        """Whether it is slower with thetajoin, beyond noise."""
        return median(self.seconds[ON]) > NOISE * median(self.seconds[OFF]) + self.noise

    @property
    def wrong(self) -> bool:
        """Whether thetajoin gives other rows, or an error where Spark alone gives rows."""
        failed = ON in self.errors and OFF not in self.errors
        return failed or self.answers.get(ON, EQUAL) not in (EQUAL, TIES)


def write(
    results: list[Result], settings: dict[str, Any], facts: dict[str, str], folder: Path
) -> None:
    """Write both."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tpc.md").write_text(markdown(results, settings, facts))
    raw = {"machine": facts, "settings": settings, "results": [asdict(r) for r in results]}
    (folder / "tpc.json").write_text(json.dumps(raw) + "\n")


def markdown(results: list[Result], settings: dict[str, Any], facts: dict[str, str]) -> str:
    """The page."""
    ran = [result for result in results if not result.errors]
    joined = [result for result in ran if result.joins]
    others = [result for result in ran if not result.joins]
    lines = [
        "# TPC-H and TPC-DS",
        "",
        "Queries of both suites at scale {scale:g}, with thetajoin off and on in one session of "
        "{threads} threads. Seconds from text to rows, median of {rounds} rounds after a warm-up "
        "of both. Every round swaps which of the two is first.".format(**settings),
        "",
        _agreement(ran, ON),
        "",
        _agreement(ran, DUCKDB),
        "",
        f"## With a join of thetajoin: {len(joined)}",
        "",
        *table(_HEAD, map(_cells, joined), texts=2),
        "",
        _together(joined),
        "",
        f"## Without: {len(others)}",
        "",
        _together(others),
        "",
        "## Slower with thetajoin",
        "",
        f"{_list(_times(result) for result in ran if result.slower)}.",
        "",
        f"These are slower by more than {NOISE - 1:.0%} and the noise. The noise of a query is "
        "twice the standard error of its difference on - off, from the spread of its rounds.",
        "",
        "## Failing",
        "",
        *(f"- {r.title}, {mode}: `{error}`" for r in results for mode, error in r.errors.items()),
        *(["None."] if len(ran) == len(results) else []),
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        "",
        "Written by `python -m benchmarks.tpc`; the single rounds are in tpc.json.",
    ]
    return "\n".join(lines) + "\n"


def line(result: Result) -> str:
    """A query in a line, as soon as it is done."""
    if result.errors:
        return f"{result.name}  " + "  ".join(f"{m}: {e}" for m, e in result.errors.items())
    _, joins, rows, off, on, noise, ratio = _cells(result)
    figures = (f"off {off} s", f"on {on} s", f"noise {noise} s", ratio, f"{rows} rows")
    answers = (f"{engine} {verdict}" for engine, verdict in result.answers.items())
    return "  ".join((f"{result.name:<5}", *figures, *answers, joins)).rstrip()


def _agreement(results: list[Result], engine: str) -> str:
    """Which queries have the rows that Spark alone gives."""
    by_verdict = {
        verdict: [result.title for result in results if result.answers.get(engine) == verdict]
        for verdict in (EQUAL, TIES, DIFFERENT, NO_ANSWER)
    }
    return (
        f"{engine} against Spark alone, in any order: the same rows for "
        f"{len(by_verdict[EQUAL])} queries. The same without the LIMIT, which cuts through ties: "
        f"{_list(by_verdict[TIES])}. Other rows: {_list(by_verdict[DIFFERENT])}. "
        f"No answer: {_list(by_verdict[NO_ANSWER])}."
    )


def _cells(result: Result) -> Iterable[str]:
    joins = (join if number == 1 else f"{number} x {join}" for join, number in result.joins.items())
    off, on = (median(result.seconds[mode]) for mode in (OFF, ON))
    figures = (f"{figure:.2f}" for figure in (off, on, result.noise, result.ratio))
    return result.title, ", ".join(joins), str(result.rows), *figures


def _together(results: list[Result]) -> str:
    """Some queries in a sentence."""
    if not results:
        return "None."
    off, on = (sum(median(result.seconds[mode]) for result in results) for mode in (OFF, ON))
    mean = geometric_mean(result.ratio for result in results)
    worst = sorted(results, key=lambda result: result.ratio)[:-4:-1]
    return (
        f"Geometric mean of on / off: {mean:.2f}. All together: off {off:.1f} s, on {on:.1f} s. "
        f"The worst: {_list(_times(result) for result in worst)}."
    )


def _times(result: Result) -> str:
    title, _, _, off, on, noise, ratio = _cells(result)
    return f"{title} (off {off} s, on {on} s, noise {noise} s, {ratio})"


def _list(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"
