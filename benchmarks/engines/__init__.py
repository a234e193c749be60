"""One module an engine. Each has `start(threads)`, which runs in the engine's own process."""

from __future__ import annotations

from abc import ABC, abstractmethod

from benchmarks.executed_plan import ExecutedJoin
from benchmarks.queries import Query

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

    def cancel(self) -> None:  # noqa: B027 (an engine that can't cancel has its process killed)
        """Stop the running query; called from another thread at the time limit."""

    def join(self) -> ExecutedJoin | None:
        """The executed join of the last query, where the engine tells."""
        return None
