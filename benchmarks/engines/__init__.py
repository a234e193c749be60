"""One module an engine. Each has `start(threads)`, which runs in the engine's own process.

Those that can be limited have `start(threads, memory)` as well."""

from __future__ import annotations

from abc import ABC, abstractmethod

from benchmarks.executed_plan import ExecutedJoin
from benchmarks.queries import ON, Query, scan_of

Answer = tuple[int, ...]


class UnsupportedJoinError(Exception):
    """The engine has no such join; the message says which."""


class Runner(ABC):
    """Runs queries on one engine."""

    @abstractmethod
    def prepare(self, query: Query) -> None:
        """Make the query's tables; not timed."""

    @abstractmethod
    def run(self, query: Query) -> Answer:
        """Run the query, from its text to its answer."""

    def write(self, query: Query) -> None:
        """Make every row of the query, to keep them all or to drop them."""
        raise UnsupportedJoinError("it hands out no rows")

    def written(self) -> int:
        """How many rows the last `write` made, which are let go of; not timed."""
        raise NotImplementedError

    def cancel(self) -> None:  # noqa: B027 (an engine that can't cancel has its process killed)
        """Stop the running query; called from another thread at the time limit."""

    @abstractmethod
    def read(self, scan: str) -> None:
        """Run a query's `scan`."""

    def join(self) -> ExecutedJoin | None:
        """The executed join of the last query, where the engine tells."""
        return None

    def theta_joins(self) -> tuple[str, ...]:
        """What ran of thetajoin in the last query: the node and the accelerator of each join."""
        return ()

    def cpu_seconds(self) -> float:
        """The CPU time of the engine's process so far; 0 if the engine does not tell."""
        return 0.0


class ScanRunner(Runner):
    """An engine that reads what a query reads, and joins nothing; its answer is of no use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def prepare(self, query: Query) -> None:
        """As for the query."""
        self._runner.prepare(query)

    def run(self, query: Query) -> Answer:
        """Read the tables."""
        if query.scan is None:
            raise UnsupportedJoinError("its tables are made as they are read")
        self.read(query.scan)
        return ()

    def read(self, scan: str) -> None:
        """As the engine does."""
        self._runner.read(scan)

    def cancel(self) -> None:
        """As the query."""
        self._runner.cancel()


def with_scans(runners: dict[str, Runner]) -> dict[str, Runner]:
    """The engines, and each of them as one that only reads."""
    scans = {scan_of(engine): ScanRunner(r) for engine, r in runners.items() if engine != ON}
    return runners | scans


def summed(scan: str) -> str:
    """A scan for engines that take a maximum from the metadata of a file, and need not read it."""
    return scan.replace("max(", "sum(")
