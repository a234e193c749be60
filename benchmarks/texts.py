"""Texts of English words, some of them frequent and most of them rare."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from english_words import get_english_words_set

from benchmarks.tables import FILES, Parquet

_BATCH = 50_000


@dataclass(frozen=True)
class Texts(Parquet):
    """Rows of text and the row number, the columns being named so.

    Each row is one of the `forms` in turn, in which `{}` is a word and `{n}` a number, or so many
    words if there are no forms. Words are drawn by u ** skew, of which u is uniform, as a part of
    the vocabulary.
    """

    columns: str = field(default="txt, v")
    forms: tuple[str, ...] = ()
    words: tuple[int, int] = (1, 1)
    vocabulary: int = 20_000
    skew: float = 1.0

    def write(self) -> None:
        """Make the file unless it is there."""
        if self.path.exists():
            return
        FILES.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".unfinished")
        text, number = self.columns.split(", ")
        schema = pa.schema([(text, pa.string()), (number, pa.int64())])
        generator = np.random.default_rng(self.rows)
        with pq.ParquetWriter(unfinished, schema) as writer:
            for start in range(0, self.rows, _BATCH):
                numbers = range(start, min(start + _BATCH, self.rows))
                texts = self._texts(generator, numbers)
                writer.write_batch(
                    pa.record_batch([pa.array(texts), pa.array(numbers)], schema=schema)
                )
        unfinished.rename(self.path)

    def _texts(self, generator: np.random.Generator, numbers: range) -> list[str]:
        words = _words(self.vocabulary)
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
def _words(vocabulary: int) -> list[str]:
    """Of four to ten letters, in random order."""
    known = get_english_words_set(["gcide"], alpha=True, lower=True)
    words = sorted(word for word in known if 4 <= len(word) <= 10 and word.isascii())
    return list(np.random.default_rng(1).permutation(words)[:vocabulary])
