"""An engine's process: queries go in, timings come out, and past the time limit it is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Timer
from typing import Any

from benchmarks.engines import Answer, Runner, UnsupportedJoinError, with_scans
from benchmarks.executed_plan import ExecutedJoin
from benchmarks.queries import Query, Shape

# What an engine gets past the limit to stop a query by itself, before its process is killed.
CANCEL_SECONDS = 8.0


@dataclass(frozen=True)
class Execution:
    """A query that ran within the limit.

    `cpu` is what the engine's process took meanwhile on all threads, and `theta_joins` what ran of
    thetajoin; 0 and nothing if the engine does not tell.
    """

    seconds: float
    answer: Answer
    join: ExecutedJoin | None
    cpu: float = 0.0
    theta_joins: tuple[str, ...] = ()


@dataclass(frozen=True)
class OverLimit:
    """A query that was stopped."""

    limit: float


@dataclass(frozen=True)
class NotSupported:
    """A query that the engine has no join for."""

    reason: str


Outcome = Execution | OverLimit | NotSupported


class Worker:
    """The process of one engine module, started again when it is needed after a kill."""

    def __init__(self, module: str, threads: int, memory: int | None = None) -> None:
        self._module = module
        self._threads = threads
        self._memory = memory
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None

    def measure(self, engine: str, query: Query, limit: float) -> Outcome:
        """Run a query once."""
        connection = self._connection or self.start()
        connection.send((engine, query, limit))
        if not connection.poll(limit + CANCEL_SECONDS):
            self.kill()
            return OverLimit(limit)
        outcome: Outcome = _receive(connection, f"{engine} on {query.name}")
        return outcome

    def kill(self) -> None:
        """End the process and what it started; harmless when there is none."""
        if self._process is not None and self._process.pid is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.join()
        self._process = self._connection = None

    def start(self) -> Connection:
        """Start the process and wait until its engine is ready."""
        context = multiprocessing.get_context("spawn")
        connection, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(theirs, self._module, self._threads, self._memory), daemon=True
        )
        self._process.start()
        theirs.close()
        self._connection = connection
        _receive(connection, f"the start of {self._module}")
        return connection


def _receive(connection: Connection, what: str) -> Any:
    try:
        return connection.recv()
    except EOFError:
        raise RuntimeError(f"process ended, its own error is above: {what}") from None


def serve(connection: Connection, module: str, threads: int, memory: int | None) -> None:
    """Answer requests until the parent goes away; runs in a process group of its own."""
    os.setsid()
    bounds = (threads,) if memory is None else (threads, memory)
    runners: dict[str, Runner] = with_scans(import_module(module).start(*bounds))
    connection.send("ready")
    while True:
        try:
            engine, query, limit = connection.recv()
        except EOFError:
            return
        connection.send(_execute(runners[engine], query, limit))


def _execute(runner: Runner, query: Query, limit: float) -> Outcome:
    runner.prepare(query)
    canceller = Timer(limit, runner.cancel)
    canceller.start()
    answer: Answer | None = None
    cpu = runner.cpu_seconds()
    started = time.perf_counter()
    try:
        if query.shape is Shape.WRITTEN:
            runner.write(query)
        else:
            answer = runner.run(query)
    except UnsupportedJoinError as unsupported:
        return NotSupported(str(unsupported))
    except Exception:
        if time.perf_counter() - started < limit:
            raise
        return OverLimit(limit)
    finally:
        seconds = time.perf_counter() - started
        cpu = runner.cpu_seconds() - cpu
        canceller.cancel()
        canceller.join()
    if seconds > limit:
        return OverLimit(limit)
    return Execution(
        seconds,
        (runner.written(),) if answer is None else answer,
        runner.join(),
        cpu,
        runner.theta_joins(),
    )
