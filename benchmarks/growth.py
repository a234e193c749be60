"""What a row more costs, by the size of the table in which it is looked up."""

from __future__ import annotations

from math import log10
from pathlib import Path
from statistics import linear_regression

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from benchmarks.plot import STYLES
from benchmarks.queries import OFF, Suite
from benchmarks.report import Result
from benchmarks.tables import short


def write(suite: Suite, results: list[Result], path: Path) -> None:
    """Draw an engine's cost at each size, and the a + b log n that is nearest to it."""
    if not suite.growth:
        return
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": suite.name, "font.size": 10})
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for engine in suite.engines:
        if engine != OFF:
            _draw_engine(axes, engine, nanoseconds(suite, results, engine))
    _draw_frame(axes, suite)
    figure.savefig(path, metadata={"Date": None})


def nanoseconds(suite: Suite, results: list[Result], engine: str) -> dict[int, float]:
    """What the engine takes for one row more at each size for which it ran both queries."""
    medians = {result.query.name: result.median(engine) for result in results}
    costs = {}
    for step in suite.growth:
        seconds, base = medians.get(step.query), medians.get(step.base)
        if seconds is not None and base is not None:
            costs[step.size] = (seconds - base) / step.rows * 1e9
    return costs


def _draw_engine(axes: Axes, engine: str, costs: dict[int, float]) -> None:
    if len(costs) < 2:
        return
    colour, marker = STYLES[engine]
    axes.plot(
        list(costs), list(costs.values()), color=colour, marker=marker, linestyle="", label=engine
    )
    slope, intercept = linear_regression(list(map(log10, costs)), list(costs.values()))
    ends = (min(costs), max(costs))
    axes.plot(ends, [intercept + slope * log10(end) for end in ends], color=colour, linestyle="--")


def _draw_frame(axes: Axes, suite: Suite) -> None:
    axes.set_xscale("log")
    axes.set_xticks([step.size for step in suite.growth])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: short(int(size))))
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("rows of the table that is looked up in")
    axes.set_ylabel("ns for a row that is looked up")
    axes.grid(color="#d0d0d0", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    axes.set_title(f"{suite.title}: cost of a row (dashed: nearest a + b log n)", loc="left")
