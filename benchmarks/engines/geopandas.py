"""GeoPandas, which joins on one thread by the R-tree of shapely."""

from __future__ import annotations

import geopandas as gpd
import pandas as pd
import shapely

from benchmarks.engines import Runner, UnsupportedJoinError
from benchmarks.engines.pandas import FramesRunner
from benchmarks.queries import Query
from benchmarks.suites.spatial import SpatialQuery

# How GeoPandas names the joins that it has.
_JOINS = {"INNER": "inner", "LEFT": "left"}


class GeoPandasRunner(FramesRunner):
    """Joins points, boxes and polygons."""

    def _joined(self, query: Query) -> pd.DataFrame:
        if not isinstance(query, SpatialQuery) or query.frames is None:
            raise UnsupportedJoinError("GeoPandas has no such join")
        if query.join_type not in _JOINS:
            raise UnsupportedJoinError(f"GeoPandas has no {query.join_type} join")
        left, right = (_of_geometries(frame) for frame in self._frames())
        predicate, distance = query.frames
        return left.sjoin(right, _JOINS[query.join_type], predicate, distance=distance)


def _of_geometries(frame: pd.DataFrame) -> gpd.GeoDataFrame:
    """Its row number, with the points, boxes or shapes that its other columns say."""
    *columns, number = frame.columns
    if len(columns) == 1:
        geometries = shapely.from_wkb(frame[columns[0]])
    elif len(columns) == 2:
        geometries = shapely.points(*(frame[column] for column in columns))
    else:
        x1, x2, y1, y2 = (frame[column] for column in columns)
        geometries = shapely.box(x1, y1, x2, y2)
    return gpd.GeoDataFrame(frame[[number]], geometry=geometries)


def start(threads: int) -> dict[str, Runner]:
    """The engine by name; it has one thread, whatever there are."""
    return {"GeoPandas": GeoPandasRunner()}
