"""The suites by name."""

from __future__ import annotations

from benchmarks.suites import (
    aggregate,
    asof,
    containment,
    existence,
    grid,
    nlj,
    range,
    scale,
    similar,
    spatial,
    text,
    vector,
)

SUITES = {
    suite.name: suite
    for suite in (
        nlj.SUITE,
        existence.SUITE,
        range.SUITE,
        containment.SUITE,
        asof.SUITE,
        aggregate.SUITE,
        scale.SUITE,
        spatial.SUITE,
        text.SUITE,
        vector.SUITE,
        similar.SUITE,
        grid.SUITE,
    )
}
