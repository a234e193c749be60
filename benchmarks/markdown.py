"""Tables in Markdown.

By hand, since tabulate and pandas pad each cell to its column: one new figure would change every
line of a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], lines: Iterable[Iterable[str]], texts: int) -> list[str]:
    """So many columns of text on the left, and columns of figures, which are set to the right."""
    rules = ["---"] * texts + ["---:"] * (len(head) - texts)
    return [f"| {' | '.join(cells)} |" for cells in (head, rules, *lines)]
