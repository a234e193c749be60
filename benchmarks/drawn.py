"""Files of values that Python draws at random, as DuckDB alone can't."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.tables import FILES, Parquet


class Drawn(Parquet):
    """A value and the row number: `columns` are their names."""

    kind: ClassVar[pa.DataType]
    batch: ClassVar[int]

    def write(self) -> None:
        """Make the file unless it is there."""
        if self.path.exists():
            return
        FILES.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".unfinished")
        value, number = self.columns.split(", ")
        schema = pa.schema([(value, self.kind), (number, pa.int64())])
        generator = np.random.default_rng(self.rows)
        with pq.ParquetWriter(unfinished, schema) as writer:
            for start in range(0, self.rows, self.batch):
                numbers = range(start, min(start + self.batch, self.rows))
                values = self._values(generator, numbers)
                writer.write_batch(
                    pa.record_batch([pa.array(values, self.kind), pa.array(numbers)], schema=schema)
                )
        unfinished.rename(self.path)

    @abstractmethod
    def _values(
        self, generator: np.random.Generator, numbers: range
    ) -> list[str] | list[bytes] | list[np.ndarray]:
        """Those of the rows with these numbers."""
