"""Polygons in well-known binary, as DuckDB alone can't write them."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.tables import FILES, Parquet

_BATCH = 1_000


@dataclass(frozen=True)
class Polygons(Parquet):
    """Stars of `corners` corners at random places of a square, as the column `shape`.

    The number of corners is between both, as often below their geometric mean as above it. Each
    star has about the area of a circle of this radius. `columns` are the names of the shape and of
    the row number.
    """

    columns: str = field(default="shape, w")
    side: float = 1000.0
    radius: float = 1.0
    corners: tuple[int, int] = (10, 1_000)

    def write(self) -> None:
        """Make the file unless it is there."""
        if self.path.exists():
            return
        FILES.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".unfinished")
        shape, number = self.columns.split(", ")
        schema = pa.schema([(shape, pa.binary()), (number, pa.int64())])
        generator = np.random.default_rng(self.rows)
        with pq.ParquetWriter(unfinished, schema) as writer:
            for start in range(0, self.rows, _BATCH):
                numbers = range(start, min(start + _BATCH, self.rows))
                shapes = [self._star(generator) for _ in numbers]
                batch = pa.record_batch([pa.array(shapes), pa.array(numbers)], schema=schema)
                writer.write_batch(batch)
        unfinished.rename(self.path)

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
