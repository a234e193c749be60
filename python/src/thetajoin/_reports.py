"""The report on one join, and the reports on all joins of a DataFrame as one collection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from html import escape
from typing import TYPE_CHECKING, SupportsIndex, overload

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class JoinReport:
    """One join of a query, and what was seen if the DataFrame itself has run, on a classic session:
    see ``explain_joins``. The SQL function ``thetajoin_explain`` has columns of the same names, and
    ``advice`` for reason, remedy and what was passed over.

    Either ``accelerator``, ``exec`` and ``build_side`` are set, or ``reason_code``, ``reason`` and
    ``remedy``.
    """

    join_number: int
    """1 for the first join of the plan, from the top down."""
    join_type: str
    """As Spark names it: Inner, Cross, LeftOuter, RightOuter, FullOuter, LeftSemi, LeftAnti, ..."""
    condition: str
    """The join condition as SQL; ``true`` if there is none."""
    accelerator: str | None = None
    """What finds the candidates, e.g. ``piecewise``."""
    exec: str | None = None
    """The node that runs the join, e.g. ``BroadcastThetaJoin``."""
    build_side: str | None = None
    """The side that is indexed: ``BuildLeft`` or ``BuildRight``."""
    index: tuple[str, ...] = ()
    """The conjuncts that the index answers."""
    residual: tuple[str, ...] = ()
    """The conjuncts that are tested on each candidate."""
    estimated_build_rows: int | None = None
    """Rows expected of the side that is indexed, on which the plan was chosen."""
    estimated_probe_rows: int | None = None
    """Rows expected of the other side."""
    index_rows: int | None = None
    """Rows in the index, once the DataFrame has run."""
    candidates: int | None = None
    """Pairs that the index gave, once the DataFrame has run."""
    matches: int | None = None
    """Pairs of these that passed the residual, once the DataFrame has run."""
    reason_code: str | None = None
    """Why Spark runs the join itself, stable across releases, e.g. ``EQUI_KEYS``."""
    reason: str | None = None
    """The same as a sentence."""
    remedy: str | None = None
    """What to do about it."""
    passed_over: tuple[str, ...] = ()
    """Accelerators that were asked and would not serve the join, each with its code, why and what
    to do; empty if an index serves the join."""
    notes: tuple[str, ...] = ()
    """What else there is to know, e.g. that all pairs of rows are compared, or that a word of a
    hint is not used. What is about the query as a whole stands at its first join."""

    @property
    def accelerated(self) -> bool:
        """Whether thetajoin runs the join."""
        return self.accelerator is not None

    def __repr__(self) -> str:
        named = ((f.name, getattr(self, f.name)) for f in fields(self))
        shown = (f"{name}={value!r}" for name, value in named if value not in (None, ()))
        return f"JoinReport({', '.join(shown)})"

    def __str__(self) -> str:
        head = f"[{self.join_number}] {self.join_type} join ON {self.condition}"
        if not self.accelerated:
            return f"{head}: not accelerated, {self.reason_code}: {self.reason}. {self.remedy}"
        index, residual = ", ".join(self.index), ", ".join(self.residual)
        node = f"{self.accelerator} ({self.exec}, {self.build_side})"
        return f"{head}: accelerated by {node}, index: [{index}], residual: [{residual}]"


_WIDEST = 40  # characters of a cell of the plain table
_SHOWN = {
    "#": "join_number",
    "join type": "join_type",
    "condition": "condition",
    "accelerator": "accelerator",
    "exec": "exec",
    "build side": "build_side",
    "residual": "residual",
    "candidates": "candidates",
    "matches": "matches",
    "reason code": "reason_code",
}
_COUNTS = (
    "estimated_build_rows", "estimated_probe_rows", "index_rows", "candidates", "matches",
)  # fmt: skip


class JoinReports(tuple[JoinReport, ...]):
    """The joins of a DataFrame from the top of its plan down: a tuple that shows as a table.

    It equals a list or a tuple of the same reports. A notebook shows it with the reasons and
    remedies in full; the plain table cuts long conditions, and leaves out columns without a value.
    """

    __slots__ = ()

    def __new__(cls, reports: Iterable[JoinReport] = ()) -> JoinReports:
        return super().__new__(cls, reports)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each join, and a column for each field of `JoinReport`.

        Counts have pandas' type ``Int64``, which holds missing values. The lists of conjuncts and
        notes are tuples.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        import pandas

        names = [field.name for field in fields(JoinReport)]
        rows = [[getattr(report, name) for name in names] for report in self]
        frame = pandas.DataFrame(rows, columns=names)
        return frame.astype(dict.fromkeys(("join_number", *_COUNTS), "Int64"))

    @overload
    def __getitem__(self, key: SupportsIndex, /) -> JoinReport: ...
    @overload
    def __getitem__(self, key: slice, /) -> JoinReports: ...
    def __getitem__(self, key: SupportsIndex | slice, /) -> JoinReport | JoinReports:
        found = super().__getitem__(key)
        return found if isinstance(found, JoinReport) else JoinReports(found)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        if not self:
            return "no joins"
        # By hand: a library of tables would be the package's only dependency.
        lines = [list(_SHOWN), *([_cell(r, name) for name in _SHOWN.values()] for r in self)]
        kept = [column for column in zip(*lines, strict=True) if any(column[1:])]
        widths = [max(map(len, column)) for column in kept]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in zip(*kept, strict=True)
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        if not self:
            return "<p>no joins</p>"
        names = {**_SHOWN, "index": "index", "reason": "reason", "remedy": "remedy"}
        cells = [[_text(getattr(report, name)) for name in names.values()] for report in self]
        kept = [i for i in range(len(names)) if any(row[i] for row in cells)]
        heads = "".join(f"<th>{escape(list(names)[i])}</th>" for i in kept)
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(row[i])}</td>' for i in kept)}</tr>" for row in cells
        )
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(report: JoinReport, name: str) -> str:
    text = " ".join(_text(getattr(report, name)).split())
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
