"""What the demo draws: the seconds of each question, and a map of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from pyspark.sql import Row

from benchmarks.plot import STYLES, draw_axes, draw_legend
from benchmarks.queries import OFF, ON


def draw_seconds(taken: Sequence[tuple[str, float, float]], file: Path) -> None:
    """A row for each pattern, with a dot for its seconds off and one for its seconds on."""
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "demo", "font.size": 10})
    figure = Figure(figsize=(9, 1.2 + 0.36 * len(taken)), layout="constrained")
    axes = figure.subplots()
    for row, (_, off, on) in enumerate(taken):
        axes.plot([on, off], [row, row], color=STYLES[ON][0], alpha=0.35, linewidth=4, zorder=1)
        for engine, seconds in ((OFF, off), (ON, on)):
            colour, marker = STYLES[engine]
            axes.scatter(seconds, row, s=60, color=colour, marker=marker, zorder=2, linewidths=0)
    draw_axes(axes, [label for label, _, _ in taken])
    axes.set_xlabel("seconds, one run")
    draw_legend(axes, {engine: STYLES[engine] for engine in (OFF, ON)})
    figure.savefig(file, metadata={"Date": None})


def draw_map(rows: list[Row], file: Path) -> None:
    """A map of airports (columns lon, lat, city_lon, city_lat), each with a line to its city."""
    figure = Figure(figsize=(12, 10), layout="constrained")
    axes = figure.subplots()
    lines = [((r.lon, r.lat), (r.city_lon, r.city_lat)) for r in rows]
    axes.add_collection(LineCollection(lines, linewidths=0.5, colors="tab:blue"))
    axes.scatter([r.lon for r in rows], [r.lat for r in rows], s=4, color="black")
    axes.scatter([r.city_lon for r in rows], [r.city_lat for r in rows], s=24, color="tab:red")
    axes.set(aspect="equal", xlabel="longitude", ylabel="latitude")
    axes.set_title("Airports, and the nearest city of half a million people in degrees")
    figure.savefig(file, dpi=100)
