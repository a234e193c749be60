"""The run as a picture: a row a query, a dot an engine, seconds on a logarithmic axis."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.queries import OFF, ON, Suite
from benchmarks.report import Result, Settings
from benchmarks.worker import OverLimit

# Colour and marker of each engine; the palette is told apart by colour-blind readers too.
STYLES = {
    "Spark": ("#7f7f7f", "o"),
    "Spark + thetajoin": ("#d55e00", "o"),
    "DuckDB": ("#e69f00", "s"),
    "ClickHouse": ("#cc79a7", "v"),
    "DataFusion": ("#0072b2", "D"),
    "Polars": ("#009e73", "^"),
    "pandas": ("#56b4e9", "<"),
    "SedonaDB": ("#0072b2", "D"),
    "GeoPandas": ("#56b4e9", "<"),
    "NumPy": ("#009e73", "^"),
    "faiss": ("#0072b2", "D"),
    "RapidFuzz": ("#009e73", "^"),
    "SetSimilaritySearch": ("#0072b2", "D"),
}


def write(suite: Suite, results: list[Result], settings: Settings, path: Path) -> None:
    """Draw all queries, the first on top."""
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": suite.name, "font.size": 10})
    labels = [_label(result) for result in results]
    width = 6 + 0.08 * max(map(len, labels))
    figure = Figure(figsize=(width, 1.6 + 0.36 * len(results)), layout="constrained")
    axes = figure.subplots()
    for row, result in enumerate(results):
        _draw_row(axes, suite, row, result)
    _draw_frame(axes, suite, labels, settings)
    figure.savefig(path, metadata={"Date": None})


def overview(rows: list[tuple[str, Result]], path: Path) -> None:
    """Draw a result of each of several suites: off, on, and the peer that took the least time."""
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "overview", "font.size": 10})
    figure = Figure(figsize=(9, 1.2 + 0.36 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for row, (_, result) in enumerate(rows):
        peers = [name for name in STYLES if name not in (OFF, ON) and result.median(name)]
        best = min(peers, key=lambda name: result.median(name) or 0.0, default=None)
        for engine in (OFF, *([best] if best else []), ON):
            seconds = _seconds(result, engine)
            if seconds is None:
                continue
            colour, marker = STYLES[engine] if engine in (OFF, ON) else ("#0072b2", "D")
            if isinstance(result.not_run.get(engine), OverLimit):
                marker = ">"
            axes.scatter(seconds, row, s=48, color=colour, marker=marker, zorder=2, linewidths=0)
            if engine == best:
                axes.annotate(
                    best,
                    (seconds, row),
                    xytext=(0, 6),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7,
                    color=colour,
                )
    draw_axes(axes, [label for label, _ in rows])
    axes.set_xlabel("seconds, medians (\u25b6 over the limit)")
    names = {OFF: STYLES[OFF], "best peer": ("#0072b2", "D"), ON: STYLES[ON]}
    draw_legend(axes, names)
    figure.savefig(path, metadata={"Date": None})


def _draw_row(axes: Axes, suite: Suite, row: int, result: Result) -> None:
    """The engines' dots, and a line from Spark to Spark with thetajoin."""
    off, on = _seconds(result, OFF), _seconds(result, ON)
    if off is not None and on is not None:
        axes.plot([on, off], [row, row], color=STYLES[ON][0], alpha=0.35, linewidth=4, zorder=1)
    for engine in (*suite.peers, OFF, ON):
        seconds = _seconds(result, engine)
        if seconds is None:
            continue
        colour, marker = STYLES[engine]
        if isinstance(result.not_run.get(engine), OverLimit):
            marker = ">"
        size = 60 if engine in (OFF, ON) else 34
        axes.scatter(seconds, row, s=size, color=colour, marker=marker, zorder=2, linewidths=0)


def _label(result: Result) -> str:
    return "   ".join((result.query.name, *result.query.facts.values())).replace("`", "")


def _draw_frame(axes: Axes, suite: Suite, labels: list[str], settings: Settings) -> None:
    """Labels, grid, legend and title."""
    draw_axes(axes, labels)
    axes.set_xlim(right=settings.limit * 1.6)
    axes.set_title(
        f"{suite.title}, {settings.threads} threads (\u25b6 over {settings.limit:g} s)",
        loc="left",
        pad=30,
        fontweight="bold",
    )
    draw_legend(axes, {name: STYLES[name] for name in suite.engines})


def draw_axes(axes: Axes, labels: list[str]) -> None:
    """A row for each label, the first on top, and seconds on a logarithmic scale."""
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:g} s"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", which="major", color="#d0d0d0", linewidth=0.8)
    axes.grid(axis="y", color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def draw_legend(axes: Axes, styles: dict[str, tuple[str, str]]) -> None:
    """Colour and marker of each name, above the picture."""
    marks = [
        Line2D([], [], color=colour, marker=marker, linestyle="", label=name)
        for name, (colour, marker) in styles.items()
    ]
    axes.legend(
        handles=marks,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=len(marks),
        frameon=False,
        borderaxespad=0.2,
        handletextpad=0.2,
    )


def _seconds(result: Result, engine: str) -> float | None:
    """Where the engine's dot stands; a stopped query's stands at the limit."""
    stopped = result.not_run.get(engine)
    return stopped.limit if isinstance(stopped, OverLimit) else result.median(engine)
