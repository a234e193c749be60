"""`python -m thetajoin advise EVENTLOG...`: which joins of a cluster thetajoin would serve.

logs        files          -> lines
events      lines          -> plans, stages, metrics
plans       plans          -> joins
runs        joins, stages  -> joins to look at, with their rows and times
columns     plans          -> types of columns
condition   text           -> expressions, which are in tree
types, sql  expressions    -> a query over two made-up tables
questions   the query      -> what thetajoin says of it, in a process with Spark
estimate    rows, times    -> what is saved
advice      all of it      -> `text`, `page`, JSON
"""

from __future__ import annotations

import json
from pathlib import Path

from thetajoin._advisor.advice import advise
from thetajoin._advisor.page import html_page
from thetajoin._advisor.text import report


def run(logs: list[str], *, as_json: bool, html: str | None) -> int:
    """Print the advice on the logs, and write it to a page if one is named; the exit code."""
    found = advise([Path(log) for log in logs])
    if html is not None:
        Path(html).write_text(html_page(found), encoding="utf-8")
    print(json.dumps([one.as_dict() for one in found], indent=2) if as_json else report(found))
    return 0
