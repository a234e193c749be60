"""The table in benchmarks/README.md and the picture in README.md, from the suites' results:
`python -m benchmarks.summary`.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import markdown
from benchmarks.plot import overview
from benchmarks.queries import OFF, ON, Query
from benchmarks.report import Result, cell, off_ratio
from benchmarks.suites import SUITES
from benchmarks.worker import Execution, NotSupported, OverLimit

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
README = ROOT / "benchmarks" / "README.md"
BEGIN, END = "<!-- benchmark:begin -->\n", "<!-- benchmark:end -->"

# Of each kind of join large cases, and some in which peers are ahead; some of the joins in each
# shape. A query that no complete run has measured is left out.
QUERIES = {
    "range": (
        "point_large",
        "point_large_semi",
        "grouped",
        "grouped_large",
        "grouped_both",
        "overlap_pareto",
        "inequalities_large",
        "boxes",
        "overlap",
        "overlap_pareto_grouped",
        "overlap_pareto_written",
        "grouped_joined",
    ),
    "containment": (
        "contains_rewritten",
        "covers_rewritten",
        "rules",
        "or_rewritten",
        "contains_many_grouped",
        "contains_many_written",
        "rules_joined",
    ),
    "text": (
        "like",
        "like_large",
        "like_large_automaton",
        "titles",
        "titles_automaton",
        "regexes",
        "prefix",
        "like_written",
    ),
    "vector": ("nearest_5", "nearest_10", "similar", "nearest_5_grouped"),
    "spatial": (
        "in_boxes",
        "in_boxes_large",
        "overlap",
        "near",
        "in_areas",
        "in_blocks",
        "nearest_3",
        "on_earth",
        "on_earth_nearest_3",
        "near_grouped",
    ),
    "similar": ("names", "codes", "sets", "sets_1m", "in_common", "nearest_name", "names_grouped"),
    "asof": (
        "symbols",
        "symbols_tolerance",
        "no_keys",
        "nearest_3",
        "symbols_written",
        "symbols_joined",
    ),
    "existence": (
        "int_semi",
        "small_semi",
        "large_fan_anti",
        "text_semi",
        "not_in",
        "large_fan_anti_written",
    ),
    "nlj": ("Q4", "Q8", "Q12", "S3", "Q8_grouped", "Q8_written"),
}
# One of each kind for the README's picture.
CHART = (
    ("points in intervals, 20M x 1M", "range", "point_large"),
    ("intervals next to a key, 20M x 1M", "range", "grouped_large"),
    ("intervals that overlap, 1M x 1M", "range", "overlap_pareto"),
    ("two inequalities, 1M x 1M", "range", "inequalities_large"),
    ("a value in an array, 200K x 2K", "containment", "contains_rewritten"),
    ("rules with wildcards, 1M x 1K", "containment", "rules"),
    ("text patterns, 200K x 2K", "text", "like"),
    ("the 5 nearest vectors, 500 x 20K", "vector", "nearest_5"),
    ("points in boxes, 500K x 20K", "spatial", "in_boxes"),
    ("within a distance, 1M x 100K", "spatial", "near"),
    ("ASOF next to a key, 10M x 2M", "asof", "symbols"),
    ("NOT EXISTS on a key, 20M in 10M", "existence", "large_fan_anti"),
)
PICTURE = ROOT / "docs" / "off-on-peers.svg"
FACTS = ("join", "rows", "condition", "then")
ENGINES = (OFF, ON, "DuckDB", "ClickHouse", "DataFusion", "Polars", "SedonaDB")


def write() -> None:
    """Put the table where benchmarks/README.md has one."""
    before, begin, rest = README.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    README.write_text("".join((before, begin, *(f"{line}\n" for line in table()), end, after)))
    draw(PICTURE)


def draw(path: Path) -> None:
    """Draw the README's picture."""
    overview([(label, read(suite)[query]) for label, suite, query in CHART], path)


def table() -> list[str]:
    """The lines of the table."""
    head = ("results", *FACTS, *ENGINES, "off / on")
    return markdown.table(
        head, (cells for name in QUERIES for cells in _rows(name)), 1 + len(FACTS)
    )


def _rows(name: str) -> list[tuple[str, ...]]:
    """The cells of the chosen queries of a suite; an engine that is not in the suite has none."""
    results = read(name)
    link = f"[{name}](results/{name}.md)"
    return [
        (
            link,
            *facts_of(result.query),
            *(cell(result, engine) for engine in ENGINES),
            off_ratio(result),
        )
        for result in (results[query] for query in QUERIES[name] if query in results)
    ]


def facts_of(query: Query, names: tuple[str, ...] = FACTS) -> tuple[str, ...]:
    """What tells a query from others; also whether other engines are asked in another way."""
    facts = query.facts
    asked = facts.get("others are asked")
    condition = ", others ".join(filter(None, (facts["condition"], asked)))
    return tuple((facts | {"condition": condition})[fact] for fact in names)


def read(name: str) -> dict[str, Result]:
    """What the last complete run of a suite has left, by query; nothing if there was none."""
    found: dict[str, Result] = {}
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return found
    queries = {query.name: query for query in SUITES[name].queries}
    for raw in json.loads(path.read_text())["results"]:
        result = Result(queries[raw["query"]["name"]])
        for engine, runs in raw["executions"].items():
            result.executions[engine] = [Execution(run["seconds"], (), None) for run in runs]
        for engine, why in raw["not_run"].items():
            stopped = OverLimit(**why) if "limit" in why else NotSupported(**why)
            result.not_run[engine] = stopped
        found[result.query.name] = result
    return found


if __name__ == "__main__":
    write()
