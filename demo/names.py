"""Names of large towns in lower case, and made-up entries of a form: such names with errors."""

from __future__ import annotations

import numpy as np
import pandas as pd

from demo import places

ENTRIES = 1_000
LEAST_PEOPLE = 100_000
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def register() -> pd.DataFrame:
    """One row a name, in lower case."""
    towns = places.towns()
    large = towns[towns["people"] >= LEAST_PEOPLE]
    return pd.DataFrame({"name": sorted(set(large["town"].str.lower()))})


def entries() -> pd.DataFrame:
    """One row an entry: a name of the register with up to two errors, and with capital letters."""
    generator = np.random.default_rng(2013)
    drawn = register().sample(ENTRIES, replace=True, random_state=2013)
    typed = [_typed(name, generator).title() for name in drawn["name"]]
    return pd.DataFrame({"entry": range(1, ENTRIES + 1), "name": typed})


def _typed(name: str, generator: np.random.Generator) -> str:
    """Each error leaves a letter out, doubles it, takes another one, or swaps it with the next."""
    for _ in range(generator.integers(3)):
        place = generator.integers(len(name))
        before, letter, after = name[:place], name[place], name[place + 1 :]
        other = LETTERS[generator.integers(len(LETTERS))]
        forms = ("", letter * 2, other, after[:1] + letter)
        kind = generator.integers(len(forms))
        name = before + forms[kind] + (after[1:] if kind == 3 else after)
    return name
