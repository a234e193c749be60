"""Which country an IPv4 address is in, from PyPI's `geoip2fast`, and made-up visits to look up.

The package holds GeoLite2 data created by MaxMind, available from https://www.maxmind.com.
"""

from __future__ import annotations

import gzip
import pickle
from importlib.metadata import distribution

import numpy as np
import pandas as pd

VISITS = 300


def ranges() -> pd.DataFrame:
    """One row a range of a country: its first and its last address, as numbers.

    No two ranges overlap. Reserved addresses, whose code is a number and no country's, are left
    out. The package's data is read without importing it, which would change the environment.
    """
    file = distribution("geoip2fast").locate_file("geoip2fast/geoip2fast.dat.gz")
    with gzip.open(str(file)) as data:
        _, _, _, (_, labels, *columns) = pickle.load(data)
    first, label, prefix = (np.concatenate(chunks) for chunks in columns)
    last = first + 2 ** (32 - prefix) - 1
    names = pd.Series(labels).str.partition(":")
    table = pd.DataFrame({"first": first, "last": last, "country": names[2].to_numpy()[label]})
    return table[~names[0].str.isdigit().to_numpy()[label]]


def visits() -> pd.DataFrame:
    """One row a visit; multiples of the golden ratio spread the addresses over all there are."""
    number = np.arange(1, VISITS + 1)
    return pd.DataFrame({"id": number, "address": number * 2_654_435_761 % 2**32})
