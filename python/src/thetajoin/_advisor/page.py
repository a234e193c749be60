"""The advice as one HTML page that loads nothing else."""

from __future__ import annotations

from html import escape

from thetajoin._advisor.advice import Advice
from thetajoin._advisor.estimate import shown
from thetajoin._advisor.text import details, heading, report, summary

_WIDTH, _HEIGHT = 600, 14
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem }
h2 { font-size: 1.05rem; margin: 2rem 0 .5rem }
table { border-collapse: collapse; width: 100% }
th { text-align: left; vertical-align: top; width: 10rem; padding: .1rem .5rem 0 0 }
td { overflow-wrap: anywhere }
.before { fill: #c44e52 } .after { fill: #4c72b0 } text { font-size: 12px }
"""


def html_page(advice: list[Advice]) -> str:
    """The page. Bars compare the task time of each join with the time expected with an index."""
    longest = max((one.task_seconds for one in advice), default=0.0)
    joins = "".join(_join(number, one, longest) for number, one in enumerate(advice, start=1))
    opening = summary(advice) if advice else report(advice)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Joins to accelerate</title><style>{_STYLE}</style></head>\n<body>\n"
        f"<h1>Joins to accelerate</h1>\n<p>{escape(opening)}</p>\n{joins}</body></html>\n"
    )


def _join(number: int, advice: Advice, longest: float) -> str:
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>\n"
        for name, value in details(advice).items()
    )
    return (
        f"<h2>{number}. {escape(heading(advice))}</h2>\n{_bars(advice, longest)}\n"
        f"<table>\n{rows}</table>\n"
    )


def _bars(advice: Advice, longest: float) -> str:
    times = [("before", advice.task_seconds, "")]
    if advice.estimate is not None:
        kept = advice.task_seconds - advice.estimate.saved_seconds
        times.append(("after", kept, ", estimated"))
    bars = "".join(
        f'<rect class="{kind}" x="0" y="{line * (_HEIGHT + 4)}" height="{_HEIGHT}" '
        f'width="{max(1.0, _WIDTH * seconds / longest if longest else 0):.1f}"/>'
        f'<text x="{_WIDTH + 8}" y="{line * (_HEIGHT + 4) + 12}">{shown(seconds)}{more}</text>'
        for line, (kind, seconds, more) in enumerate(times)
    )
    height = len(times) * (_HEIGHT + 4)
    return f'<svg role="img" width="{_WIDTH + 160}" height="{height}">{bars}</svg>'
