"""Matrix products of all vectors: NumPy (OpenBLAS) and the flat index of faiss."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import faiss
import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from benchmarks.engines import Runner, UnsupportedJoinError
from benchmarks.engines.pandas import FramesRunner
from benchmarks.queries import Query
from benchmarks.suites.vector import VectorQuery

# Products that are held at once.
_PRODUCTS = 50_000_000


class MatrixRunner(FramesRunner):
    """Joins matrices of which each row is a vector."""

    def read(self, scan: str) -> None:
        """Read the files."""
        for path in self._paths:
            _read(path)

    def _joined(self, query: Query) -> pd.DataFrame:
        if not isinstance(query, VectorQuery):
            raise UnsupportedJoinError("these are no vectors")
        (left, v), (right, w) = (_read(path) for path in self._paths)
        if query.nearest is None:
            assert query.least is not None
            rows, found = self._similar(left, right, query.least)
        else:
            nearest = self._nearest(left, right, query.nearest)
            rows, found = np.repeat(np.arange(len(left)), query.nearest), nearest.ravel()
        return pd.DataFrame({"v": v[rows], "w": w[found]})

    def _nearest(self, left: np.ndarray, right: np.ndarray, k: int) -> np.ndarray:
        last = len(right) - k
        products = _products(left, right)
        return np.concatenate([np.argpartition(p, last, axis=1)[:, -k:] for _, p in products])

    def _similar(
        self, left: np.ndarray, right: np.ndarray, least: float
    ) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = [], []
        for start, products in _products(left, right):
            found = np.nonzero(products > np.float32(least))
            rows.append(found[0] + start)
            columns.append(found[1])
        return np.concatenate(rows), np.concatenate(columns)


class FaissRunner(MatrixRunner):
    """The same by faiss."""

    def _nearest(self, left: np.ndarray, right: np.ndarray, k: int) -> np.ndarray:
        return _flat(right).search(left, k)[1]  # type: ignore[no-any-return]

    def _similar(
        self, left: np.ndarray, right: np.ndarray, least: float
    ) -> tuple[np.ndarray, np.ndarray]:
        limits, _, found = _flat(right).range_search(left, least)
        return np.repeat(np.arange(len(left)), np.diff(limits.astype(np.int64))), found


def _products(left: np.ndarray, right: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Of some left vectors with all right ones, with the number of the first of the left ones."""
    step = max(1, _PRODUCTS // len(right))
    for start in range(0, len(left), step):
        yield start, left[start : start + step] @ right.T


def _flat(vectors: np.ndarray) -> faiss.IndexFlatIP:
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return index


def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of length 1, and row numbers."""
    vectors, numbers = pq.read_table(path).columns
    flat = vectors.combine_chunks().flatten().to_numpy()
    matrix = flat.reshape(len(numbers), -1)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.ascontiguousarray(matrix / lengths), numbers.to_numpy()


def start(threads: int) -> dict[str, Runner]:
    """Both by name; NumPy's threads are those of the environment."""
    faiss.omp_set_num_threads(threads)
    return {"NumPy": MatrixRunner(), "faiss": FaissRunner()}
