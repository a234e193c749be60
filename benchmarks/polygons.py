"""Polygons in well-known binary, as DuckDB alone can't write them."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa

from benchmarks.drawn import Drawn


@dataclass(frozen=True)
class Polygons(Drawn):
    """Stars of `corners` corners at random places of a square, as the column `shape`.

    The number of corners is between both, as often below their geometric mean as above it. Each
    star has about the area of a circle of this radius. `columns` are the names of the shape and of
    the row number.
    """

    kind: ClassVar[pa.DataType] = pa.binary()
    batch: ClassVar[int] = 1_000

    columns: str = field(default="shape, w")
    side: float = 1000.0
    radius: float = 1.0
    corners: tuple[int, int] = (10, 1_000)

    def _values(self, generator: np.random.Generator, numbers: range) -> list[bytes]:
        return [self._star(generator) for _ in numbers]

    def _star(self, generator: np.random.Generator) -> bytes:
        least, most = (math.log(corners) for corners in self.corners)
        corners = round(math.exp(generator.uniform(least, most)))
        middle = generator.uniform(0, self.side, 2)
        angles = np.linspace(0, 2 * math.pi, corners, endpoint=False)
        lengths = self.radius * generator.uniform(0.7, 1.25, corners)
        x = middle[0] + lengths * np.cos(angles)
        y = middle[1] + lengths * np.sin(angles)
        ring = np.column_stack([np.append(x, x[0]), np.append(y, y[0])])
        return struct.pack("<BIII", 1, 3, 1, corners + 1) + ring.astype("<f8").tobytes()
