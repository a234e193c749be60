"""Collects tests/sql/**/*.test. The format is described in tests/README.md."""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from differential import (
    ENABLED,
    INTERPRETED,
    MATRIX,
    Confs,
    Outcome,
    difference,
    execute,
    readable_rows,
)
from packaging.version import Version
from pyspark.sql import SparkSession
from sessions import release, shared_session

_EXPECTATION = re.compile(
    r"(?P<accelerated>accelerated) (?P<ids>\w+([+/]\w+)*)(?P<words>( [\w{}]+)*)|not accelerated (?P<reason>[A-Z_]+)"
    r"|(?P<same>same)|error (?P<error>.+)"
)


HERE = Path(__file__).resolve().parent
DEFAULT = "codegen-aqe"
FAST_CASES = 2  # about as many cases of a block are in the fast set
KEPT_CASES = 4  # about as many cases of a block of many run, unless the whole is asked for


class FormatError(Exception):
    """A .test file that does not follow the format."""


@dataclass
class Block:
    """A heading with its directives and queries; `open` is the list that a next line goes on with."""

    line: int
    expectation: str
    settings: dict[str, str] = field(default_factory=dict)
    variables: dict[str, list[str]] = field(default_factory=dict)
    slow: bool = False
    since: tuple[int, ...] = ()
    rows: list[str] | None = None
    open: list[str] = field(default_factory=list)
    sql: list[str] = field(default_factory=list)

    def cases(self) -> Iterator[tuple[str, dict[str, str], str, str]]:
        """(name, settings, expectation, query) for each query and each choice of the variables."""
        queries = statements(self.sql)
        if not queries:
            raise FormatError(f"line {self.line}: no query")
        for number, query in enumerate(queries, 1):
            for values in itertools.product(*self.variables.values()):
                chosen = dict(zip(self.variables, values, strict=True))
                words = [f"{key}={value}" for key, value in chosen.items()]
                name = f"{self.line}.{number}[{','.join(words)}]"

                def fill(text: str, chosen: dict[str, str] = chosen) -> str:
                    for key, value in chosen.items():
                        text = text.replace(f"{{{key}}}", value)
                    return text

                settings = {key: fill(value) for key, value in self.settings.items()}
                yield name, settings, fill(self.expectation), fill(query)


def statements(lines: list[str]) -> list[str]:
    """Splits at semicolons that end a line."""
    parts = re.split(r";[ \t]*(?:\n|$)", "\n".join(lines))
    return [part.strip() for part in parts if part.strip()]


def parse(text: str) -> tuple[list[str], list[Block]]:
    """The statements that set a file up, and its blocks."""
    tables = Block(0, "tables")
    blocks: list[Block] = []
    current: Block | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("--"):
            if current is not None:
                current.sql.append(line)
            elif line.strip():
                raise FormatError(f"line {number}: SQL before a heading")
            continue
        directive = line[2:].strip()
        if directive == "tables:" and not blocks:
            current = tables
        elif _EXPECTATION.fullmatch(directive):
            current = Block(number, directive)
            blocks.append(current)
        elif not directive.startswith("note:"):
            _attribute(current, directive, number)
    return statements(tables.sql), blocks


def _attribute(block: Block | None, directive: str, number: int) -> None:
    word, _, rest = directive.partition(" ")
    if block is None or block.expectation == "tables" or any(s.strip() for s in block.sql):
        raise FormatError(f"line {number}: '{directive}' does not follow a heading")
    if word == "set" and "=" in rest:
        key, _, value = rest.partition("=")
        block.settings[key.strip()] = value.strip()
    elif word == "for" and " in " in rest:
        key, _, values = rest.partition(" in ")
        block.open = block.variables[key.strip()] = _items(values)
    elif word == "rows":
        block.open = block.rows = _items(rest)
    elif word == "|" and block.open:
        block.open += _items(rest)
    elif directive == "slow":
        block.slow = True
    elif word == "since":
        block.since = Version(rest).release
    else:
        raise FormatError(f"line {number}: unknown directive '{directive}'")


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(" | ")]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SqlFile | None:
    return SqlFile.from_parent(parent, path=file_path) if file_path.suffix == ".test" else None


def configurations(index: int, cases: int, name: str, in_fast_set: bool, whole: bool) -> list[str]:
    """The whole: all for a case of a block of few; else the default one and another, which the name chooses. If the
    whole is not asked for, the only case of a block runs under this pair, and of several cases each under one of the
    pair. Of many cases some are left out, also by their names."""
    others = [config for config in MATRIX if config != DEFAULT]
    if whole and cases < len(others):
        return [DEFAULT, *others]
    number = zlib.crc32(name.encode())
    pair = [DEFAULT, others[(number >> 8) % len(others)]]
    if whole or cases == 1:
        return pair
    if not in_fast_set and number % max(1, cases // KEPT_CASES):
        return []
    return pair[:1] if in_fast_set or index % 2 == 0 else pair[1:]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The parts have the tests in Python in turn too."""
    part, parts = (int(n) for n in config.option.part.split("/"))
    here = [i for i in items if isinstance(i, pytest.Function) and i.path.is_relative_to(HERE)]
    others = [item for n, item in enumerate(here) if n % parts != part - 1]
    config.hook.pytest_deselected(items=others)
    left_out = set(others)
    items[:] = [item for item in items if item not in left_out]


class SqlFile(pytest.File):
    """A .test file: one session of its own, with the tables of the file."""

    spark: SparkSession
    database: str

    def collect(self) -> Iterator[SqlItem]:
        self.tables, blocks = parse(self.path.read_text())
        part, parts = (int(n) for n in self.config.option.part.split("/"))
        number = itertools.count()
        for block in blocks:
            cases = list(block.cases())
            step = len(cases) // FAST_CASES | 1
            for index, (name, settings, expectation, query) in enumerate(cases):
                # The parts have the cases in turn, and each has the first of every file.
                place = next(number)
                if place and place % parts != part - 1:
                    continue
                oracle: list[Outcome] = []
                in_fast_set = not (block.slow or index % step)
                whole = self.config.option.whole
                for config in configurations(index, len(cases), name, in_fast_set, whole):
                    item = SqlItem.from_parent(self, name=f"{name}-{config}")
                    item.prepare(block, {**MATRIX[config], **settings}, expectation, query, oracle)
                    if not in_fast_set or config != DEFAULT:
                        item.add_marker(pytest.mark.slow)
                    yield item

    def setup(self) -> None:
        self.spark = shared_session().newSession()
        self.confs = Confs(self.spark)
        self.database = f"{self.path.parent.name}_{self.path.stem}"
        self.spark.sql(f"CREATE DATABASE {self.database}")
        self.spark.sql(f"USE {self.database}")
        for statement in self.tables:
            self.spark.sql(statement)

    def teardown(self) -> None:
        self.spark.sql("USE default")
        self.spark.sql(f"DROP DATABASE {self.database} CASCADE")


class SqlItem(pytest.Item):
    """One query under one configuration. Spark alone is asked once for all configurations, without generated code."""

    def prepare(self, block: Block, settings: dict[str, str], *case: Any) -> None:
        self.block, self.settings = block, settings
        self.expectation, self.query, self.oracle = case

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.block.line - 1, self.name

    def runtest(self) -> None:
        assert isinstance(self.parent, SqlFile)
        session, confs = self.parent.spark, self.parent.confs
        if release(session) < self.block.since:
            pytest.skip(f"needs Spark {self.block.since}")
        if not self.oracle:
            # Compiling takes longer than these rows.
            confs.apply({**self.settings, **INTERPRETED, ENABLED: "false"})
            self.oracle.append(execute(session, self.query))
        confs.apply({ENABLED: "true", **self.settings})
        got = execute(session, self.query)
        problem = check(session, self.query, self.expectation, self.oracle[0], got)
        problem = problem or self._unlike_the_file(session)
        if problem:
            pytest.fail(f"-- {self.expectation}\n{self.query}\n\n{problem}", pytrace=False)

    def _unlike_the_file(self, session: SparkSession) -> str | None:
        """How the rows differ from those that the file has, if it has any."""
        if self.block.rows is None:
            return None
        got = readable_rows(session, self.query)
        shown = sorted(row.replace("\t", ", ").strip() for row in got)
        return None if shown == sorted(self.block.rows) else f"rows: {' | '.join(shown)}"


def check(
    session: SparkSession, query: str, expectation: str, expected: Outcome, got: Outcome
) -> str | None:
    """What is wrong with an outcome, if anything."""
    want = _EXPECTATION.fullmatch(expectation)
    assert want is not None, expectation
    if expected.nodes:
        return f"our node in the plan of Spark alone:\n{expected.plan}"
    if want["error"]:
        said = (f"off: {expected.error}", f"on: {got.error}")
        wrong = [s for s in said if want["error"] not in s]
        return "\n".join(wrong) or None
    different = difference(session, query, expected, got)
    if different:
        return different
    words = (want["words"] or "").split()
    if want["accelerated"]:
        ids = {node.accelerator for node in got.nodes}
        lacking = [
            w for w in words if not any(re.search(rf"\b{w}\b", n.description) for n in got.nodes)
        ]
        known = ids == set(want["ids"].split("+"))
        if "/" in want["ids"]:
            known = bool(ids) and ids <= set(want["ids"].split("/"))
        return None if known and not lacking else f"executed plan:\n{got.plan}"
    if want["reason"]:
        text = session.sql(f"EXPLAIN {query}").first()[0]  # type: ignore[index]
        reported = f"not accelerated, {want['reason']}\n" in text
        return None if reported and not got.nodes else f"{got.plan}\n{text}"
    return None
