"""The report of a grid: CPU time with thetajoin off and on, query by query."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from statistics import geometric_mean, median

from benchmarks.markdown import table
from benchmarks.queries import OFF, ON, Suite
from benchmarks.report import WARM_UP_SECONDS, Result, Settings, cell

# What takes more of Spark's CPU time than this is named.
SLOWER = 1.15

_HEAD = ("query", "join", "rows", "condition", "then", "ran")
_FIGURES = ("CPU off", "CPU on", "on / off", "wall off", "wall on")


def tables(suite: Suite, results: list[Result]) -> list[str]:
    """The summary, the queries that are slower, and all of them."""
    ratios = {result.query.name: ratio(result) for result in results}
    compared = [result for result in results if ratios[result.query.name] is not None]
    compared.sort(key=lambda result: -(ratio(result) or 0))
    slower = [result for result in compared if (ratio(result) or 0) > SLOWER]
    return [
        f"Of {len(results)} queries, {len(compared)} ran on both sides within the limit, "
        f"{len(slower)} took more than {SLOWER:g} times Spark's CPU time with thetajoin on.",
        "",
        *_summary(compared),
        "",
        f"## Above {SLOWER:g}",
        "",
        *(_table(slower) if slower else ["None."]),
        "",
        "## All",
        "",
        *_table(results),
    ]


def write(
    suite: Suite, results: list[Result], settings: Settings, facts: dict[str, str], folder: Path
) -> None:
    """Write the page and the single runs."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        f"# {suite.title}",
        "",
        f"CPU and wall seconds, median of {settings.runs} runs or more, off and on in turn in one "
        f"session, after {WARM_UP_SECONDS:g} s of warm-up. CPU time is that of the whole JVM: "
        "tasks, planning, collection of garbage and compilation. "
        f"{settings.threads} threads, limit {settings.limit:g} s. "
        f"Both gave the same answers: {suite.answer}.",
        "",
        suite.data,
        "",
        *tables(suite, results),
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        "",
        f"Written by `python -m benchmarks {suite.name}`; single runs are in {suite.name}.json.",
    ]
    (folder / f"{suite.name}.md").write_text("\n".join(lines) + "\n")
    raw = {
        "machine": facts,
        "settings": asdict(settings),
        "results": [_raw(result) for result in results],
    }
    (folder / f"{suite.name}.json").write_text(json.dumps(raw) + "\n")


def ratio(result: Result) -> float | None:
    """CPU time on by off."""
    off, on = _cpu(result, OFF), _cpu(result, ON)
    return on / off if off and on else None


def _cpu(result: Result, engine: str) -> float | None:
    runs = result.executions.get(engine)
    return median(run.cpu for run in runs) if runs else None


def _ran(result: Result) -> tuple[str, ...]:
    """The joins of thetajoin in the executed plan."""
    runs = result.executions.get(ON)
    return runs[-1].theta_joins if runs else ()


def _family(result: Result) -> str:
    """The accelerators that ran."""
    accelerators = dict.fromkeys(join.partition(" ")[2] for join in _ran(result))
    return " + ".join(accelerators) or "left to Spark"


def _summary(results: list[Result]) -> list[str]:
    """A row for each accelerator that ran."""
    groups: dict[str, list[float]] = {}
    for result in results:
        for group in (_family(result), "all"):
            groups.setdefault(group, []).append(ratio(result) or 0)
    rows = (
        (
            group,
            str(len(ratios)),
            str(sum(one > SLOWER for one in ratios)),
            f"{geometric_mean(ratios):.2f}",
            f"{max(ratios):.2f}",
        )
        for group, ratios in sorted(groups.items(), key=lambda item: (item[0] == "all", item[0]))
    )
    above = f"above {SLOWER:g}"
    return table(("ran", "queries", above, "geometric mean of on / off", "most"), rows, texts=1)


def _table(results: list[Result]) -> list[str]:
    return table((*_HEAD, *_FIGURES), map(_cells, results), len(_HEAD))


def _cells(result: Result) -> list[str]:
    times = ratio(result)
    return [
        result.query.name,
        *(result.query.facts[fact] for fact in ("join", "rows", "condition", "then")),
        ", ".join(_ran(result)) or ("left to Spark" if ON in result.executions else ""),
        *(_seconds(_cpu(result, engine)) for engine in (OFF, ON)),
        "" if times is None else f"{times:.2f}",
        *(cell(result, engine) for engine in (OFF, ON)),
    ]


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.2f}"


def _raw(result: Result) -> dict[str, object]:
    """A query's runs; answers and joins are the same in each."""
    return {
        "name": result.query.name,
        "sql": result.query.sql_of(ON),
        "answer": result.answer,
        "theta_joins": _ran(result),
        "runs": {
            engine: [{"seconds": run.seconds, "cpu": run.cpu} for run in runs]
            for engine, runs in result.executions.items()
        },
        "not_run": {engine: asdict(why) for engine, why in result.not_run.items()},
    }
