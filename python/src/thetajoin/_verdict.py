"""What one check of the doctor came to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """Whether a check passed and what it found; if it failed, why that is wrong and the way out."""

    ok: bool
    what: str
    why: str = ""
    mend: str = ""


def passed(what: str) -> Verdict:
    return Verdict(True, what)


def failed(what: str, why: str, mend: str) -> Verdict:
    return Verdict(False, what, why, mend)
