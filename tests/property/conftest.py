"""Tells at the end of the run what the property tests covered."""

from __future__ import annotations

from collections import Counter

import pytest

COVERED = pytest.StashKey[Counter[str]]()


@pytest.fixture
def covered(request: pytest.FixtureRequest) -> Counter[str]:
    """Counts what a test looked at."""
    counts: Counter[str] = Counter()
    request.config.stash[COVERED] = counts
    return counts


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    counts = config.stash.get(COVERED, None)
    if counts:
        told = ", ".join(f"{name} {count}" for name, count in counts.items())
        terminalreporter.write_line(f"random joins: {told}; seed {config.option.seed}")
