"""The tables of measured rows in docs/, from the suites' results: `python -m benchmarks.cited`.

A page names the rows, and this writes the table below them:

    <!-- measured: range/point_large, asof/symbols -->
    <!-- /measured -->
"""

from __future__ import annotations

import re
from functools import cache
from os.path import relpath
from pathlib import Path

from benchmarks import markdown
from benchmarks.queries import OFF
from benchmarks.report import Result, cell
from benchmarks.summary import ENGINES, RESULTS, ROOT, facts_of, read

FACTS = ("join", "rows", "condition", "then")
PLACE = re.compile(r"(<!-- measured: (.*?) -->\n)(.*?)(<!-- /measured -->)", re.S)


def pages() -> list[Path]:
    """The pages that name rows."""
    return [
        path for path in sorted((ROOT / "docs").rglob("*.md")) if PLACE.search(path.read_text())
    ]


def rewritten(path: Path, text: str) -> str:
    """The text of a page with its tables as the results have them."""
    return PLACE.sub(lambda match: match[1] + _table(path, match[2].split(", ")) + match[4], text)


def _table(path: Path, names: list[str]) -> str:
    results = [(name, _results(name.split("/")[0])[name.split("/")[1]]) for name in names]
    cells = [[cell(result, engine) for engine in ENGINES] for _, result in results]
    shown = [n for n, engine in enumerate(ENGINES) if engine == OFF or any(row[n] for row in cells)]
    head = ["measured", *FACTS, *(ENGINES[n] for n in shown)]
    lines = []
    for (name, result), row in zip(results, cells, strict=True):
        suite = name.split("/")[0]
        link = f"[{name}]({relpath(RESULTS / f'{suite}.md', path.parent)})"
        lines.append([link, *facts_of(result.query, FACTS), *(row[n] for n in shown)])
    return "\n".join(markdown.table(head, lines, 1 + len(FACTS))) + "\n"


@cache
def _results(suite: str) -> dict[str, Result]:
    return read(suite)


if __name__ == "__main__":
    for page in pages():
        page.write_text(rewritten(page, page.read_text()))
