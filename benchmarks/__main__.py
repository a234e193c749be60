"""Run a suite of queries: `python -m benchmarks nlj --help`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import costs, growth, plot, report, summary
from benchmarks.queries import OFF, ON, Query, Suite, scan_of
from benchmarks.report import (
    FIRST_WARM_UP_SECONDS,
    MOST_ROUNDS,
    TIMED_SECONDS,
    WARM_UP_SECONDS,
    Result,
    Settings,
)
from benchmarks.suites import SUITES
from benchmarks.summary import RESULTS
from benchmarks.tables import Parquet
from benchmarks.worker import Execution, Outcome, OverLimit, Worker

THREADS = 2
MODULES = {
    OFF: "benchmarks.engines.spark",
    ON: "benchmarks.engines.spark",
    "DuckDB": "benchmarks.engines.duckdb",
    "ClickHouse": "benchmarks.engines.clickhouse",
    "DataFusion": "benchmarks.engines.datafusion",
    "Polars": "benchmarks.engines.polars",
    "pandas": "benchmarks.engines.pandas",
    "SedonaDB": "benchmarks.engines.sedonadb",
    "GeoPandas": "benchmarks.engines.geopandas",
    "NumPy": "benchmarks.engines.matrices",
    "faiss": "benchmarks.engines.matrices",
    "RapidFuzz": "benchmarks.engines.similar",
    "SetSimilaritySearch": "benchmarks.engines.similar",
}
KEYS = {
    "spark-off": OFF,
    "spark-on": ON,
    "duckdb": "DuckDB",
    "clickhouse": "ClickHouse",
    "datafusion": "DataFusion",
    "polars": "Polars",
    "pandas": "pandas",
    "sedonadb": "SedonaDB",
    "geopandas": "GeoPandas",
    "numpy": "NumPy",
    "faiss": "faiss",
    "rapidfuzz": "RapidFuzz",
    "setsimilaritysearch": "SetSimilaritySearch",
}


def main() -> int:
    """Measure, print the table, write the results of a complete run; the exit code is for make."""
    options = _options()
    suite = SUITES[options.suite]
    settings = Settings(options.runs, options.limit, THREADS, options.seconds)
    queries = [query for query in suite.queries if query.name in options.only]
    engines = [KEYS[key] for key in options.engines]
    facts = report.machine_facts(suite.engines)
    _write_tables(queries)
    results = _measure(queries, engines, settings, suite.memory)
    page = costs if suite.costs else report
    print("\n".join(["", *page.tables(suite, results)]))
    complete = len(queries) == len(suite.queries) and len(engines) == len(suite.engines)
    folder = options.output or (RESULTS if complete else None)
    if folder is not None:
        page.write(suite, results, settings, facts, folder)
        if not suite.costs:
            plot.write(suite, results, settings, folder / f"{suite.name}.svg")
            growth.write(suite, results, folder / f"{suite.name}-growth.svg")
        print(f"\nWritten: {folder}/{suite.name}*")
        if folder == RESULTS:
            summary.write()
    return _check_targets(suite, results) if options.targets else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    suites = parser.add_subparsers(dest="suite", required=True, metavar="suite")
    for suite in SUITES.values():
        _add_options(suites.add_parser(suite.name, help=suite.title), suite)
    return parser.parse_args()


def _add_options(parser: argparse.ArgumentParser, suite: Suite) -> None:
    names = [query.name for query in suite.queries]
    keys = [key for key, engine in KEYS.items() if engine in suite.engines]
    parser.add_argument(
        "--only",
        type=beginning_with(names),
        default=names,
        help=f"queries, or how their names begin, of {','.join(names)}",
    )
    parser.add_argument(
        "--engines", type=_choice(keys), default=keys, help=f"engines, of {','.join(keys)}"
    )
    parser.add_argument("--runs", type=int, default=3, help="timed rounds, more for short queries")
    parser.add_argument(
        "--seconds", type=float, default=TIMED_SECONDS, help="least time of a process's rounds"
    )
    parser.add_argument("--limit", type=float, default=60.0, help="seconds before a run is stopped")
    parser.add_argument(
        "--targets", action="store_true", help="exit with 1 where a time limit of ours is missed"
    )
    parser.add_argument(
        "--output",
        type=Path,
        help=f"folder for the results (a complete run: {RESULTS.name}/, a partial one: none)",
    )


def _choice(known: list[str]) -> Callable[[str], list[str]]:
    """An argparse type: comma-separated words, each of a given list."""

    def parse(text: str) -> list[str]:
        words = text.split(",")
        unknown = sorted(set(words) - set(known))
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}")
        return words

    return parse


def beginning_with(names: list[str]) -> Callable[[str], list[str]]:
    """An argparse type: comma-separated names, or beginnings of names that are none themselves."""

    def parse(text: str) -> list[str]:
        chosen = []
        for word in text.split(","):
            found = [word] if word in names else [n for n in names if n.startswith(word)]
            if not found:
                raise argparse.ArgumentTypeError(f"unknown: {word}")
            chosen += found
        return chosen

    return parse


def _write_tables(queries: list[Query]) -> None:
    """Make the files that the queries read."""
    files = {t for query in queries for t in query.tables if isinstance(t, Parquet)}
    for file in sorted(files, key=lambda file: file.name):
        if not file.path.exists():
            print(f"Writing {file.name}", flush=True)
            file.write()


def _measure(
    queries: list[Query], engines: list[str], settings: Settings, memory: int | None
) -> list[Result]:
    for variable in ("POLARS_MAX_THREADS", "TOKIO_WORKER_THREADS"):
        os.environ[variable] = str(settings.threads)
    modules = dict.fromkeys(MODULES[engine] for engine in engines)
    workers = {module: Worker(module, settings.threads, memory) for module in modules}
    try:
        for module, worker in workers.items():
            print(f"Starting {module.rpartition('.')[2]}", flush=True)
            worker.start()
        warm_ups = [FIRST_WARM_UP_SECONDS, *(WARM_UP_SECONDS for _ in queries[1:])]
        return [
            _measure_query(query, engines, workers, settings, warm_up)
            for query, warm_up in zip(queries, warm_ups, strict=True)
        ]
    finally:
        for worker in workers.values():
            worker.kill()


def _measure_query(
    query: Query,
    engines: list[str],
    workers: dict[str, Worker],
    settings: Settings,
    warm_up: float,
) -> Result:
    """Warm each engine up on a query, then run it on all of them in rounds."""
    result = Result(query)
    engines = [engine for engine in engines if query.asks(engine)]
    processes: dict[str, dict[str, Callable[[], Outcome]]] = {}
    for engine in engines:
        run = partial(workers[MODULES[engine]].measure, query=query, limit=settings.limit)
        for name in (engine,) if query.scan is None else (engine, scan_of(engine)):
            processes.setdefault(MODULES[engine], {})[name] = partial(run, name)
    measures = {name: m for process in processes.values() for name, m in process.items()}
    print(f"\n{'  '.join((query.name, *query.facts.values()))}\n  warm-up ", end="", flush=True)
    for name, measure in measures.items():
        if name in result.not_run:
            continue
        print(f"  {name} {_warm_up(result, name, measure, warm_up)}", end="", flush=True)
    print()
    for number in range(1, MOST_ROUNDS + 1):
        due = [
            name
            for process in processes.values()
            if number <= settings.runs or result.seconds(*process) < settings.seconds
            for name in process
            if name not in result.not_run
        ]
        if not due:
            break
        print(f"  run {number}   ", end="", flush=True)
        for name in due:
            print(f"  {name} {_record(result, name, measures[name]())}", end="", flush=True)
        print()
    return result


def _warm_up(result: Result, engine: str, measure: Callable[[], Outcome], seconds: float) -> str:
    """Run a query until it has taken its time; say the first run and the last."""
    said = [_record(result, engine, measure())]
    while engine not in result.not_run and result.seconds(engine) < seconds:
        said.append(_record(result, engine, measure()))
    result.executions.pop(engine, None)
    return " .. ".join(dict.fromkeys((said[0], said[-1])))


def _record(result: Result, engine: str, outcome: Outcome) -> str:
    """Keep an outcome and say it in a word."""
    if isinstance(outcome, Execution):
        result.check(engine, outcome.answer)
        result.executions.setdefault(engine, []).append(outcome)
        cpu = f" ({outcome.cpu:.2f} CPU)" if outcome.cpu else ""
        return f"{outcome.seconds:.2f}{cpu}"
    result.executions.pop(engine, None)
    result.not_run[engine] = outcome
    if isinstance(outcome, OverLimit):
        return f"> {outcome.limit:g}"
    result.not_run[scan_of(engine)] = outcome
    return "n/a"


def _check_targets(suite: Suite, results: list[Result]) -> int:
    missed = report.misses(suite, results)
    print("\n".join(["", *(missed or ["All limits are kept."])]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
