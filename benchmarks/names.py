"""Names with typing errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from benchmarks.drawn import Drawn
from benchmarks.texts import common_words

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Names(Drawn):
    """Texts, and the row number: each is one `of` so many names, with `edits` at most.

    A name is two English words, or so many `letters`. Files of the same `of` share their names.
    """

    kind: ClassVar[pa.DataType] = pa.string()
    batch: ClassVar[int] = 50_000

    of: int = 50_000
    letters: int = 0
    edits: int = 2

    def _values(self, generator: np.random.Generator, numbers: range) -> list[str]:
        # The generator of two files with as many rows is the same.
        own = np.random.default_rng([numbers.start, len(self.name), ord(self.name[-1])])
        chosen = own.integers(0, self.of, len(numbers))
        counts = own.integers(0, self.edits + 1, len(numbers))
        return [
            self._edited(own, self._name(int(name)), int(count))
            for name, count in zip(chosen, counts, strict=True)
        ]

    def _name(self, number: int) -> str:
        if self.letters:
            drawn = np.random.default_rng([number, self.letters]).integers(0, 26, self.letters)
            return "".join(_LETTERS[letter] for letter in drawn)
        words = common_words(20_000)
        return f"{words[number * 7919 % 20_000]} {words[number * 104_729 // 7 % 20_000]}"

    def _edited(self, generator: np.random.Generator, text: str, edits: int) -> str:
        for _ in range(edits):
            place, kind, letter = generator.integers(0, (len(text), 3, 26))
            put = _LETTERS[letter] if kind else ""
            text = text[:place] + put + text[place + (kind < 2) :]
        return text
