"""Run the queries of TPC-H and TPC-DS: `python -m benchmarks.tpc --help`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from benchmarks.engines.spark import session
from benchmarks.executed_plan import plan_of, theta_joins
from benchmarks.queries import OFF, ON
from benchmarks.report import FIRST_WARM_UP_SECONDS, machine_facts
from benchmarks.summary import RESULTS
from benchmarks.tpc import report
from benchmarks.tpc.answers import Row, same
from benchmarks.tpc.queries import NAMES, TpcQuery, files, generators, read, unlimited
from benchmarks.tpc.report import DIFFERENT, DUCKDB, EQUAL, NO_ANSWER, TIES, Result

THREADS = 2
SPARK_ERRORS = (PySparkException, Py4JError)
# Spark adds floats up in any order, and rounds averages of decimals, which DuckDB does not.
TOLERANCES = {ON: 1e-9, DUCKDB: 1e-5}


class Engines:
    """Spark with thetajoin off and on in one session, and DuckDB over the same files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._suite = ""
        self._spark = session(THREADS)
        self._duckdb = duckdb.connect(config={"threads": THREADS})

    def prepare(self, query: TpcQuery) -> None:
        """Make views of the suite's tables, as two tables of the suites share a name."""
        if query.suite == self._suite:
            return
        self._suite = query.suite
        for file in sorted((self._folder / query.suite).glob("*.parquet")):
            self._spark.read.parquet(str(file)).createOrReplaceTempView(file.stem)
            source = f"FROM read_parquet('{file}')"
            self._duckdb.execute(f"CREATE OR REPLACE VIEW {file.stem} AS {source}")

    def run(self, mode: str, query: TpcQuery) -> tuple[float, list[Row], Counter[str]]:
        """The seconds that Spark takes, from text to rows, the rows, and the joins of ours."""
        self._spark.conf.set("spark.thetajoin.enabled", mode == ON)
        started = time.perf_counter()
        frame = self._spark.sql(query.spark)
        rows = frame.collect()
        seconds = time.perf_counter() - started
        return seconds, list(map(tuple, rows)), Counter(theta_joins(plan_of(frame)))

    def rows(self, engine: str, query: TpcQuery) -> list[Row]:
        """The rows as an engine gives them."""
        if engine == DUCKDB:
            return self._duckdb.execute(query.text).fetchall()
        return self.run(engine, query)[1]


def main() -> int:
    """Measure and print; write the results of a complete run; the exit code is for make."""
    options = _options()
    settings = {"scale": options.scale, "rounds": options.rounds, "threads": THREADS}
    folder = files(options.scale)
    facts = machine_facts((OFF, DUCKDB)) | {"tables and texts": generators()}
    engines = Engines(folder)
    queries = read(folder, options.only)
    started = time.perf_counter()
    while time.perf_counter() - started < FIRST_WARM_UP_SECONDS:
        _measure(engines, queries[0], 0)
    results = []
    for query in queries:
        results.append(_measure(engines, query, options.rounds))
        print(report.line(results[-1]), flush=True)
    print(f"\n{report.markdown(results, settings, facts)}")
    complete = len(results) == len(NAMES) and options.scale == 1
    output = options.output or (RESULTS if complete else None)
    if output is not None:
        report.write(results, settings, facts, output)
        print(f"Written: {output}/tpc*")
    return 1 if any(result.wrong for result in results) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tpc", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of both suites (1)")
    parser.add_argument("--rounds", type=int, default=3, help="timed runs of each query (3)")
    parser.add_argument("--only", type=_names, default=NAMES, help="queries, such as h:21,ds:23")
    parser.add_argument(
        "--output",
        type=Path,
        help=f"folder for the results (all queries at scale 1: {RESULTS.name}/, else: none)",
    )
    return parser.parse_args()


def _names(text: str) -> list[str]:
    """An argparse type: names of queries; those of a suite stand together."""
    words = text.split(",")
    unknown = sorted(set(words) - set(NAMES))
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}")
    return sorted(words, key=NAMES.index)


def _measure(engines: Engines, query: TpcQuery, rounds: int) -> Result:
    """Run a query as a warm-up and then in rounds; compare the rows of all runs."""
    result = Result(query.name)
    expected: list[Row] | None = None
    alike = True
    engines.prepare(query)
    for number in range(rounds + 1):
        for mode in (ON, OFF) if number % 2 else (OFF, ON):
            try:
                seconds, rows, joins = engines.run(mode, query)
            except SPARK_ERRORS as error:
                result.errors[mode] = str(error).strip().partition("\n")[0]
                continue
            if mode == ON:
                result.joins = dict(joins)
            elif joins:
                raise RuntimeError(f"{query.name}: thetajoin is off, but ran {joins}")
            expected = rows if expected is None else expected
            alike = alike and same(expected, rows, TOLERANCES[ON])
            if number > 0:
                result.seconds[mode].append(seconds)
        if result.errors:
            return result
    assert expected is not None
    result.rows = len(expected)
    for engine in (ON, DUCKDB):
        try:
            if engine == DUCKDB:
                alike = same(expected, engines.rows(DUCKDB, query), TOLERANCES[DUCKDB])
            verdict = EQUAL if alike else _without_limit(engines, query, engine)
        except (duckdb.Error, *SPARK_ERRORS):
            verdict = NO_ANSWER
        result.answers[engine] = verdict
    return result


def _without_limit(engines: Engines, query: TpcQuery, engine: str) -> str:
    """Compare rows that differ once more without the LIMIT, which may cut through ties."""
    whole = replace(query, text=unlimited(query.text))
    if whole == query:
        return DIFFERENT
    rows = engines.rows(OFF, whole), engines.rows(engine, whole)
    return TIES if same(*rows, TOLERANCES[engine]) else DIFFERENT


if __name__ == "__main__":
    sys.exit(main())
