"""What an index would save, by a model of a few constants.

The model knows the time that a join took, and how many rows would be looked up in its place. It
does not know how many candidates the index gives beyond the matches, nor what else its stage did.
"""

from __future__ import annotations

from dataclasses import dataclass

ROW_SECONDS = 1e-6
"""Task seconds to add a row to an index, or to look one up.

The queries of benchmarks/README.md took 0.2 to 0.8 microseconds of both cores for each row of both
sides: 21 million rows of points and intervals 2.31 s, 2 million rows of overlaps 0.74 s.
"""

SLOWER_ROW_SECONDS = {"patterns": 3e-6, "containment": 3e-6, "boxes": 4e-6, "vector": 40e-6}
"""The same for accelerators that measured more: 202,000 texts and patterns 0.28 s, 202,000 arrays
and elements 0.21 s, a million points and 5,000 polygons 1.79 s, 110,000 vectors 2.17 s."""

MATCH_SECONDS = 5e-7
"""Task seconds to give a match on, which the index does not save."""

START_SECONDS = 0.5
"""Task seconds of a stage with few rows, for code that is compiled and classes that are loaded.

Stages of the demo with fewer than 50,000 rows took 0.1 to 0.8 s.
"""

SLOWEST_PAIR_SECONDS = 5e-6
"""No comparison of a pair is believed to take longer: what a stage took beyond it is other work."""


def shown(seconds: float) -> str:
    """Seconds with two or three digits that count."""
    digits = 0 if seconds >= 100 else 1 if seconds >= 10 else 2 if seconds >= 0.1 else 3
    return f"{seconds:,.{digits}f} s"


@dataclass(frozen=True)
class Estimate:
    """Task seconds, summed over all cores."""

    before_seconds: float
    """Time that the join took of its stage."""
    after_seconds: float
    """Time expected with an index."""
    at_most: bool
    """Whether it may save less, since conjuncts stay that are tested on an unknown number of
    candidates."""
    how: str
    """How the numbers were made, in a sentence or two."""

    @property
    def saved_seconds(self) -> float:
        """Never negative."""
        return max(self.before_seconds - self.after_seconds, 0.0)


def estimate(
    *,
    accelerator: str,
    task_seconds: float,
    pairs: int | None,
    build_rows: int,
    probe_rows: int,
    matches: int,
    has_residual: bool,
    runs: int = 1,
) -> Estimate:
    """Compare the time of the pairs with the time of the rows that an index looks up.

    Parameters
    ----------
    accelerator
        The id of the accelerator that would serve the join.
    task_seconds
        Run time of the tasks of the stages that ran the join, summed over all cores.
    pairs
        Pairs of rows that were compared; None if the log does not tell, as for hash joins.
    build_rows, probe_rows
        Rows of the side that is indexed, and of the other one.
    matches
        Rows that came out of the join.
    has_residual
        Whether conjuncts stay that the index does not answer.
    runs
        How often the join ran; all numbers are sums over the runs.
    """
    before = task_seconds
    measured = "the log does not tell how many pairs of a key were compared"
    if pairs is not None:
        before = min(task_seconds, pairs * SLOWEST_PAIR_SECONDS)
        rate = pairs / before if before else 0.0
        measured = f"{pairs:,} pairs were compared, {rate / 1e6:,.1f} million a second"
    row = SLOWER_ROW_SECONDS.get(accelerator, ROW_SECONDS)
    after = runs * START_SECONDS + (build_rows + probe_rows) * row + matches * MATCH_SECONDS
    left_out = ""
    if before < task_seconds:
        left_out = f" Its stage took {shown(task_seconds)}, mostly for other work."
    return Estimate(
        before_seconds=before,
        after_seconds=after,
        at_most=has_residual,
        how=(
            f"Before: {shown(before)} of task time; {measured}.{left_out} After: "
            f"{shown(after)} of task time; {build_rows:,} build rows and {probe_rows:,} probe rows "
            f"at {row * 1e6:g} microseconds, {matches:,} matches at {MATCH_SECONDS * 1e6:g}, and "
            f"{START_SECONDS:g} s to start."
        ),
    )
