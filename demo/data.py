"""Writes the demo's tables as Parquet, once: `python -m demo.data`."""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.sql import SparkSession

FOLDER = Path("build/demo")
FILES = 8

# Written last: the tables are complete if it is there. It has their numbers of rows.
_COUNTS = FOLDER / "data" / "tables.json"


def write() -> None:
    """Write all tables. Each is dealt out to several files, so that all cores have rows of it."""
    from demo import addresses, flights, names, places

    makers = (
        *(flights.flights, flights.weather, flights.rules),
        *(addresses.ranges, addresses.visits),
        *(places.airports, places.cities, places.towns, places.zones),
        *(names.register, names.entries),
    )
    counts = {}
    for make in makers:
        name, table = make.__name__, make()
        path = _COUNTS.parent / name
        path.mkdir(parents=True, exist_ok=True)
        for file in range(FILES):
            rows = table.iloc[file::FILES]
            rows.to_parquet(path / f"{file}.parquet", index=False, coerce_timestamps="us")
        counts[name] = len(table)
    _COUNTS.write_text(json.dumps(counts))


def load(spark: SparkSession) -> dict[str, int]:
    """Make the tables Spark's views; the result is their numbers of rows."""
    if not _COUNTS.exists():
        raise SystemExit("The tables are not there. Write them first: python -m demo.data")
    counts: dict[str, int] = json.loads(_COUNTS.read_text())
    for name in counts:
        spark.read.parquet(str(_COUNTS.parent / name)).createOrReplaceTempView(name)
    return counts


if __name__ == "__main__":
    write()
