"""Joins of similar values by libraries: texts by RapidFuzz, sets by SetSimilaritySearch."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein
from SetSimilaritySearch import SearchIndex

from benchmarks.engines import Runner, UnsupportedJoinError
from benchmarks.engines.pandas import FramesRunner
from benchmarks.queries import Query
from benchmarks.suites.similar import SimilarQuery

# Distances that are held at once.
_DISTANCES = 20_000_000


class RapidFuzzRunner(FramesRunner):
    """Computes the distances of all pairs."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self._threads = threads

    def _joined(self, query: Query) -> pd.DataFrame:
        if not isinstance(query, SimilarQuery) or query.edits is None:
            raise UnsupportedJoinError("it has no join of these")
        (left, v), (right, w) = (pq.read_table(path).columns for path in self._paths)
        texts, others = left.to_pylist(), right.to_pylist()
        rows, columns = [], []
        step = max(1, _DISTANCES // len(others))
        for start in range(0, len(texts), step):
            distances = process.cdist(
                texts[start : start + step],
                others,
                scorer=Levenshtein.distance,
                score_cutoff=query.edits,
                dtype=np.uint8,
                workers=self._threads,
            )
            found = np.nonzero(distances <= query.edits)
            rows.append(found[0] + start)
            columns.append(found[1])
        at, of = np.concatenate(rows), np.concatenate(columns)
        return pd.DataFrame({"v": v.to_numpy()[at], "w": w.to_numpy()[of]})


class SetSimilarityRunner(FramesRunner):
    """Builds an index of the right sets, and asks it for each left one."""

    def _joined(self, query: Query) -> pd.DataFrame:
        if not isinstance(query, SimilarQuery) or query.jaccard is None:
            raise UnsupportedJoinError("it has no join of these")
        (left, v), (right, w) = (pq.read_table(path).columns for path in self._paths)
        index = SearchIndex(
            [set(tags) for tags in right.to_pylist()],
            similarity_func_name="jaccard",
            similarity_threshold=query.jaccard,
        )
        rows, columns = [], []
        for row, tags in enumerate(left.to_pylist()):
            found = index.query(set(tags))
            rows += [row] * len(found)
            columns += [column for column, _ in found]
        return pd.DataFrame({"v": v.to_numpy()[rows], "w": w.to_numpy()[columns]})


def start(threads: int) -> dict[str, Runner]:
    """Both by name."""
    return {"RapidFuzz": RapidFuzzRunner(threads), "SetSimilaritySearch": SetSimilarityRunner()}
