"""Joins in two dimensions: points in boxes and polygons, boxes that overlap, what is near.

Coordinates are doubles of a square that is a thousand wide. The answer is the row count and the
sums of a whole number of each side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarks.polygons import Polygons
from benchmarks.queries import Suite, shapes_of
from benchmarks.suites.range import Condition, RangeQuery, random
from benchmarks.tables import Parquet, short

_SIDE = 1000

# The engines that know polygons.
_OF_GEOMETRIES = ("SedonaDB", "GeoPandas")
_OF_NUMBERS = ("DuckDB", "ClickHouse", "Polars")


@dataclass(frozen=True, kw_only=True)
class SpatialQuery(RangeQuery):
    """`spatial` is the condition in the words of engines that join geometries.

    With `nearest`, the condition is a distance, and each left row is joined with so many right
    ones. `frames` is the condition for frames of geometries: how the left one relates to the right
    one, and within which distance (None: there is no such join of frames).
    """

    spatial: str
    frames: tuple[str, float | None] | None = ("intersects", None)
    nearest: int | None = None

    def select(self, columns: str, engine: str) -> str:
        """The join."""
        if engine != "SedonaDB":
            if self.nearest is None:
                return super().select(columns, engine)
            return (
                f"SELECT {columns} FROM {self.left.name} JOIN {self.right.name} "
                f"EXACT NEAREST {self.nearest} BY DISTANCE {self.condition}"
            )
        condition = replace(self.condition, conjuncts=(self.spatial,))
        return RangeQuery.select(replace(self, condition=condition), columns, engine)


def _coordinate(column: str) -> str:
    return f"{random(column, _SIDE * 1_000_000)} / 1e6"


def _points(name: str, rows: int, x: str, y: str, number: str) -> Parquet:
    return Parquet(
        f"spatial_{name}_{short(rows).lower()}",
        rows,
        f"{_coordinate(x)} AS {x}, {_coordinate(y)} AS {y}, i AS {number}",
    )


def _length(column: str, mean: float, pareto: bool) -> str:
    """As often as not below the mean; by the Pareto distribution rarely far above it."""
    uniform = f"(1 + {random(column, 1_000_000)}) / 1000000.0"
    return f"{mean / 3} / pow({uniform}, 1 / 1.5)" if pareto else f"{2 * mean} * {uniform}"


def _boxes(
    name: str, rows: int, side: str, mean: float, number: str, pareto: bool = False
) -> Parquet:
    ends = ", ".join(
        f"{_coordinate(f'{side}{d}1')} AS {side}{d}1, "
        f"{side}{d}1 + {_length(f'{side}{d}2', mean, pareto)} AS {side}{d}2"
        for d in "xy"
    )
    return Parquet(f"spatial_{name}_{short(rows).lower()}", rows, f"{ends}, i AS {number}")


_SITES_500K = _points("sites", 500_000, "x", "y", "v")
_SITES_1M = _points("sites", 1_000_000, "x", "y", "v")
_SITES_20M = _points("sites", 20_000_000, "x", "y", "v")
_CENTERS = _points("centers", 100_000, "cx", "cy", "w")
# A point is in five boxes on average, and a box meets four others.
_ZONES = _boxes("zones", 20_000, "r", 15.8, "w")
_PLOTS = _boxes("plots", 1_000_000, "l", 1.0, "v", pareto=True)
_LOTS = _boxes("lots", 1_000_000, "r", 1.0, "w", pareto=True)
_ENDS = ("rx1", "rx2", "ry1", "ry2")

_IN_BOX = Condition(("x BETWEEN rx1 AND rx2", "y BETWEEN ry1 AND ry2"), ("x", "y"), _ENDS)
_OVERLAP = Condition(
    ("lx1 <= rx2", "rx1 <= lx2", "ly1 <= ry2", "ry1 <= ly2"), ("lx1", "lx2", "ly1", "ly2"), _ENDS
)
_NEAR = Condition(("(x - cx) * (x - cx) + (y - cy) * (y - cy) <= 16",), ("x", "y"), ("cx", "cy"))
_RIGHT_BOX = "ST_MakeEnvelope(rx1, ry1, rx2, ry2)"


def _in_boxes(name: str, left: Parquet, **case: object) -> SpatialQuery:
    return SpatialQuery(
        name=name,
        left=left,
        right=_ZONES,
        condition=_IN_BOX,
        spatial=f"ST_Intersects(ST_Point(x, y), {_RIGHT_BOX})",
        **case,  # type: ignore[arg-type]
    )


_POINTS = _in_boxes("in_boxes", _SITES_500K)
# Five centers are near a site on average.
_NEIGHBOURS = SpatialQuery(
    name="near",
    left=_SITES_1M,
    right=_CENTERS,
    condition=_NEAR,
    spatial="ST_DWithin(ST_Point(x, y), ST_Point(cx, cy), 4.0)",
    frames=("dwithin", 4.0),
)


def _places(name: str, rows: int, prefix: str, number: str) -> Parquet:
    """In a region that is ten degrees high and fifteen wide."""
    degrees = (
        f"{least} + {random(f'{prefix}{column}', most * 1_000_000)} / 1e6 AS {prefix}{column}"
        for column, least, most in (("lat", 40, 10), ("lon", 0, 15))
    )
    return Parquet(
        f"spatial_{name}_{short(rows).lower()}", rows, f"{', '.join(degrees)}, i AS {number}"
    )


# Each store has five of two million homes within a kilometre.
_STORES = _places("stores", 20_000, "s", "w")
_HAVERSINE = (
    "12742 * asin(sqrt(pow(sin(radians(slat - lat) / 2), 2)"
    " + cos(radians(lat)) * cos(radians(slat)) * pow(sin(radians(slon - lon) / 2), 2)))"
)
_BY_HAND = (
    "lat BETWEEN slat - 0.009 AND slat + 0.009",
    "lon BETWEEN slon - 0.009 / cos(radians(slat)) AND slon + 0.009 / cos(radians(slat))",
)
# A point is in two polygons on average, of 10 to 1,000 corners.
_AREAS = Polygons("spatial_areas_5k", 5_000, radius=11.3)
# Small ones, of which few corners are looked at.
_BLOCKS = Polygons("spatial_blocks_200k", 200_000, radius=1.3, corners=(5, 20))


def _in_polygons(name: str, left: Parquet, right: Polygons, **case: object) -> SpatialQuery:
    return SpatialQuery(
        name=name,
        left=left,
        right=right,
        condition=Condition(("st_contains(shape, st_point(x, y))",), ("x", "y"), ()),
        spatial="ST_Contains(ST_GeomFromWKB(shape), ST_Point(x, y))",
        frames=("within", None),
        peers=_OF_GEOMETRIES,
        **case,  # type: ignore[arg-type]
    )


def _nearest(name: str, condition: str) -> SpatialQuery:
    return SpatialQuery(
        name=name,
        left=_SITES_500K,
        right=_CENTERS,
        condition=Condition((condition,), ("x", "y"), ("cx", "cy")),
        spatial="ST_KNN(ST_Point(x, y), ST_Point(cx, cy), 3, false)",
        frames=None,
        nearest=3,
        peers=("SedonaDB",),
    )


def _on_earth(name: str, homes: int, *conjuncts: str, **case: object) -> SpatialQuery:
    return SpatialQuery(
        name=name,
        left=_places("homes", homes, "", "v"),
        right=_STORES,
        condition=Condition(conjuncts, ("lat", "lon"), ("slat", "slon")),
        spatial="",
        frames=None,
        **case,  # type: ignore[arg-type]
    )


_NEAREST = _nearest("nearest_3", "hypot(x - cx, y - cy)")
_IN_AREAS = _in_polygons("in_areas", _SITES_1M, _AREAS)
_QUERIES = (
    _POINTS,
    _in_boxes("in_boxes_large", _SITES_20M),
    _in_boxes("in_boxes_left", _SITES_500K, join_type="LEFT"),
    _in_boxes("in_boxes_anti", _SITES_500K, join_type="ANTI"),
    SpatialQuery(
        name="overlap",
        left=_PLOTS,
        right=_LOTS,
        condition=_OVERLAP,
        spatial=f"ST_Intersects(ST_MakeEnvelope(lx1, ly1, lx2, ly2), {_RIGHT_BOX})",
    ),
    _NEIGHBOURS,
    _IN_AREAS,
    _in_polygons("in_areas_left", _SITES_1M, _AREAS, join_type="LEFT"),
    _in_polygons("in_blocks", _SITES_1M, _BLOCKS),
    _in_polygons("in_blocks_large", _SITES_20M, _BLOCKS),
    SpatialQuery(
        name="areas_meet",
        left=Polygons("spatial_parks_20k", 20_000, columns="park, v", radius=4.0),
        right=_AREAS,
        condition=Condition(("st_intersects(shape, park)",), (), ()),
        spatial="ST_Intersects(ST_GeomFromWKB(shape), ST_GeomFromWKB(park))",
        off=False,
        peers=_OF_GEOMETRIES,
    ),
    _NEAREST,
    _on_earth("on_earth", 2_000_000, f"{_HAVERSINE} <= 1", peers=_OF_NUMBERS),
    _on_earth("on_earth_box", 2_000_000, *_BY_HAND, f"{_HAVERSINE} <= 1", peers=_OF_NUMBERS),
    _on_earth("on_earth_nearest_3", 100_000, _HAVERSINE, nearest=3, peers=()),
    _nearest("nearest_3_points", "st_distance(st_point(x, y), st_point(cx, cy))"),
    *shapes_of(_POINTS),
    *shapes_of(_NEIGHBOURS),
    *shapes_of(_IN_AREAS),
)

SUITE = Suite(
    name="spatial",
    title="Joins in two dimensions",
    data="All engines read the same Parquet files, none of which is sorted.",
    answer="the row count and the sums of a column of each side",
    queries=_QUERIES,
    peers=("DuckDB", "ClickHouse", "Polars", "SedonaDB", "GeoPandas"),
)
