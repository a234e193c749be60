"""The suites by name; the first of a query's words is its suite's."""

from __future__ import annotations

from benchmarks.suites import existence, nlj

SUITES = {suite.name: suite for suite in (nlj.SUITE, existence.SUITE)}
