"""Texts of English words, some of them frequent and most of them rare."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar

import numpy as np
import pyarrow as pa
from english_words import get_english_words_set

from benchmarks.drawn import Drawn


@dataclass(frozen=True)
class Texts(Drawn):
    """Rows of text and the row number, the columns being named so.

    Each row is one of the `forms` in turn, in which `{}` is a word and `{n}` a number, or so many
    words if there are no forms. Words are drawn by u ** skew, of which u is uniform, as a part of
    the vocabulary.
    """

    kind: ClassVar[pa.DataType] = pa.string()
    batch: ClassVar[int] = 50_000

    columns: str = field(default="txt, v")
    forms: tuple[str, ...] = ()
    words: tuple[int, int] = (1, 1)
    vocabulary: int = 20_000
    skew: float = 1.0

    def _values(self, generator: np.random.Generator, numbers: range) -> list[str]:
        words = common_words(self.vocabulary)
        least, most = self.words
        counts = generator.integers(least, most + 1, len(numbers))
        drawn = generator.random((len(numbers), most)) ** self.skew * self.vocabulary
        digits = generator.integers(0, 100_000, len(numbers))
        texts = []
        for row, places, count, n in zip(numbers, drawn.astype(int), counts, digits, strict=True):
            chosen = [words[place] for place in places[:count]]
            if self.forms:
                texts.append(self.forms[row % len(self.forms)].format(*chosen, n=n))
            else:
                texts.append(" ".join(chosen))
        return texts


@cache
def common_words(vocabulary: int) -> list[str]:
    """Of four to ten letters, in random order."""
    known = get_english_words_set(["gcide"], alpha=True, lower=True)
    words = sorted(word for word in known if 4 <= len(word) <= 10 and word.isascii())
    return list(np.random.default_rng(1).permutation(words)[:vocabulary])
