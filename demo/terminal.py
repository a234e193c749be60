"""What the demo prints, in plain text that reads the same on a terminal and in a log file."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread


@contextmanager
def ticking() -> Iterator[None]:
    """Print a dot a second, as a sign of life."""
    done = Event()
    ticker = Thread(target=_tick, args=(done,))
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()


def _tick(done: Event) -> None:
    while not done.wait(1):
        print(".", end="", flush=True)


def paragraph(text: str, indent: int, hanging: int = 0) -> str:
    """Text broken at the width of the terminal; lines after the first hang deeper."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    return textwrap.fill(
        text,
        width,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + hanging),
        break_long_words=False,
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int) -> str:
    """Aligned columns: the first few are text, the others numbers."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if position < text_columns else cell.rjust(width)
            for position, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
