"""Vectors in clusters, as the embeddings of a model are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa

from benchmarks.drawn import Drawn

_CLUSTERS = 1_000
# How far vectors are from the middle of their cluster, which is 1 from the origin.
_SPREAD = 0.7


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


def _unit(vectors: np.ndarray) -> np.ndarray:
    unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
