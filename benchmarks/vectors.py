"""Vectors: drawn ones in clusters, as the embeddings of a model are, and those of photographs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa
from sklearn.datasets import load_sample_image

from benchmarks.drawn import Drawn

_CLUSTERS = 1_000
# How far vectors are from the middle of their cluster, which is 1 from the origin.
_SPREAD = 0.7

# Pixels on a side of a square, and how much one of its colours deviates at least.
_SQUARE = 8
_LEAST_CONTRAST = 0.02


@dataclass(frozen=True)
class Vectors(Drawn):
    """Vectors of length 1 and the row number, the columns being named so."""

    kind: ClassVar[pa.DataType] = pa.list_(pa.float32())
    batch: ClassVar[int] = 10_000

    columns: str = field(default="x, v")
    dimensions: int = 128

    def _values(self, generator: np.random.Generator, numbers: range) -> list[np.ndarray]:
        middles = _unit(np.random.default_rng(1).normal(size=(_CLUSTERS, self.dimensions)))
        noise = generator.normal(size=(len(numbers), self.dimensions)) / np.sqrt(self.dimensions)
        clusters = generator.integers(0, _CLUSTERS, len(numbers))
        return list(_unit(middles[clusters] + _SPREAD * noise).astype(np.float32))


@dataclass(frozen=True)
class Patches(Drawn):
    """Squares of a photograph that scikit-learn ships, evenly chosen of those with contrast.

    A vector has the differences of all pixels from the mean colour.
    """

    kind: ClassVar[pa.DataType] = pa.list_(pa.float32())
    batch: ClassVar[int] = 1_000_000
    dimensions: ClassVar[int] = 3 * _SQUARE**2

    columns: str = field(default="x, v")
    photograph: str = "china.jpg"

    def _values(self, generator: np.random.Generator, numbers: range) -> list[np.ndarray]:
        pixels = load_sample_image(self.photograph).astype(np.float32) / 255
        windows = np.lib.stride_tricks.sliding_window_view(pixels, (_SQUARE, _SQUARE), (0, 1))
        windows = windows.reshape(-1, 3, _SQUARE**2)
        contrast = (windows.std(axis=2) > _LEAST_CONTRAST).any(axis=1)
        chosen = np.linspace(0, contrast.sum() - 1, self.rows).astype(np.int64)[numbers]
        squares = windows[np.nonzero(contrast)[0][chosen]]
        return list((squares - squares.mean(axis=2, keepdims=True)).reshape(len(numbers), -1))


def _unit(vectors: np.ndarray) -> np.ndarray:
    unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
