"""What other forms of a condition cost beside the form that an index serves: `python -m benchmarks.forms`.

Each pair of queries asks for the same rows. A line gives the seconds of both (medians of the runs) and
their ratio, which is to be 1.5 at the most. The rows of both are checked to be the same.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import thetajoin
from pyspark.sql import SparkSession

MOST = 1.5
WORDS = "substr(sha2(string({}), 256), 1, 6)"
TABLES = {
    "events": "SELECT id, id % 5000 AS k, timestamp_seconds(1700000000 + pmod(xxhash64(id), 30000000)) AS ts, "
    "pmod(xxhash64(id, 1), 1000000000) AS t, 1.0D + pmod(xxhash64(id, 2), 1000000007) / 3 AS x, "
    "decode(unhex(lpad(hex(pmod(xxhash64(id, 3), 4294967296)), 8, '0')), 'ISO-8859-1') AS code, "
    "pmod(xxhash64(id, 4), 100000) AS p, pmod(xxhash64(id, 5), 100000) AS q, pmod(xxhash64(id, 6), 100000) AS r, "
    "-60 + pmod(xxhash64(id, 7), 120000000) / 1000000D AS lat, -180 + pmod(xxhash64(id, 8), 360000000) / 1000000D AS lon "
    "FROM range(1000000)",
    "spans": "SELECT id, id % 5000 AS k, timestamp_seconds(1700000000 + pmod(xxhash64(id, 9), 30000000)) AS ts, "
    "id * 10000L AS lo, CAST(if(id % 50 = 0, NULL, id * 10000L + 9000) AS BIGINT) AS hi, "
    "if(id % 50 = 0, 9223372036854775807L, id * 10000L + 9000) AS end, 1.0D + pmod(xxhash64(id, 2), 1000000007) / 3 AS x, "
    "pmod(xxhash64(id, 10), 100000) AS p, pmod(xxhash64(id, 11), 100000) AS q, pmod(xxhash64(id, 12), 100000) AS r, "
    "CAST(if(id % 2 = 0, NULL, pmod(xxhash64(id, 10), 100000)) AS BIGINT) AS star, if(id % 2 = 0, 'p', 'q') AS kind, "
    "-60 + pmod(xxhash64(id, 13), 120000000) / 1000000D AS lat, -180 + pmod(xxhash64(id, 14), 360000000) / 1000000D AS lon "
    "FROM range(100000)",
    "texts": f"SELECT id, concat_ws(' ', transform(sequence(1, 12), i -> {WORDS.format('pmod(xxhash64(id, i), 200000)')})) "
    "AS text FROM range(200000)",
    "words": f"SELECT id, {WORDS.format('id * 40')} AS word, id % 17 AS priority FROM range(5000)",
    "carts": "SELECT id, transform(sequence(1, 6), i -> named_struct('sku', pmod(xxhash64(id, i), 1000000), 'n', i)) AS items, "
    "transform(sequence(1, 6), i -> pmod(xxhash64(id, i), 1000000)) AS skus, "
    "map_from_arrays(sequence(1, 6), transform(sequence(1, 6), i -> pmod(xxhash64(id, i), 1000000))) AS m, "
    "array_join(transform(sequence(1, 6), i -> string(pmod(xxhash64(id, i), 1000000))), ',') AS list FROM range(300000)",
    "offers": "SELECT id, id * 10 AS sku, CAST(id % 6 + 1 AS INT) AS place FROM range(100000)",
}


@dataclass(frozen=True)
class Form:
    """Two conditions of a join of two tables, `a` and `b`, with the same rows."""

    name: str
    tables: tuple[str, str]
    written: str
    served: str
    select: str = "SELECT count(*), sum(a.id), sum(b.id) FROM {a} a JOIN {b} b ON {on}"

    def sql(self, on: str) -> str:
        """The query with one of the conditions."""
        return self.select.format(a=self.tables[0], b=self.tables[1], on=on)


EVENTS, TEXTS, CARTS = ("events", "spans"), ("texts", "words"), ("carts", "offers")
FIRST = (
    "SELECT count(*), sum(id), sum(x) FROM (SELECT a.id, b.lo AS x, {on} FROM {a} a JOIN {b} b "
    "ON a.k = b.k AND b.ts <= a.ts) WHERE rn = 1"
)
FORMS = [
    Form(
        "greatest and least",
        EVENTS,
        "greatest(a.t, b.lo) <= least(a.t + 50, b.hi)",
        "a.t <= b.hi AND b.lo <= a.t + 50",
    ),
    Form(
        "open end",
        EVENTS,
        "a.t >= b.lo AND (b.hi IS NULL OR a.t < b.hi) AND a.t < 50000000",
        "a.t >= b.lo AND a.t < b.end AND a.t < 50000000",
    ),
    Form(
        "CASE as an open end",
        EVENTS,
        "a.t >= b.lo AND CASE WHEN b.hi IS NULL THEN true ELSE a.t < b.hi END AND a.t < 50000000",
        "a.t >= b.lo AND a.t < b.end AND a.t < 50000000",
    ),
    Form(
        "coalesce as an open end",
        EVENTS,
        "a.t >= b.lo AND a.t < coalesce(b.hi, 9223372036854775807) AND a.t < 50000000",
        "a.t >= b.lo AND a.t < b.end AND a.t < 50000000",
    ),
    Form(
        "seconds next to a key",
        EVENTS,
        "a.k = b.k AND unix_timestamp(a.ts) - unix_timestamp(b.ts) BETWEEN 0 AND 18000",
        "a.k = b.k AND a.ts >= b.ts AND a.ts <= b.ts + INTERVAL 5 HOURS",
    ),
    Form(
        "timestampdiff",
        EVENTS,
        "timestampdiff(SECOND, b.ts, a.ts) BETWEEN 1 AND 5",
        "a.ts >= b.ts + INTERVAL 1 SECOND AND a.ts < b.ts + INTERVAL 6 SECONDS",
    ),
    Form(
        "absolute difference next to a key",
        EVENTS,
        "a.k = b.k AND abs(unix_timestamp(a.ts) - unix_timestamp(b.ts)) <= 9000",
        "a.k = b.k AND a.ts >= b.ts - INTERVAL 9000 SECONDS AND a.ts <= b.ts + INTERVAL 9000 SECONDS",
    ),
    Form(
        "relative tolerance",
        EVENTS,
        "abs(a.x - b.x) / b.x <= 1e-7",
        "a.x >= b.x - b.x * 1e-7 AND a.x <= b.x + b.x * 1e-7 AND abs(a.x - b.x) / b.x <= 1e-7",
    ),
    Form(
        "quotient",
        EVENTS,
        "a.x / b.x BETWEEN 0.9999999 AND 1.0000001",
        "a.x >= b.x * 0.9999998 AND a.x <= b.x * 1.0000002 AND a.x / b.x BETWEEN 0.9999999 AND 1.0000001",
    ),
    Form(
        "two of three",
        EVENTS,
        "CAST(a.p = b.p AS INT) + CAST(a.q = b.q AS INT) + CAST(a.r = b.r AS INT) >= 2",
        "a.p = b.p AND a.q = b.q OR a.p = b.p AND a.r = b.r OR a.q = b.q AND a.r = b.r",
    ),
    Form(
        "CASE as a key",
        EVENTS,
        "b.p = CASE b.kind WHEN 'p' THEN a.p WHEN 'q' THEN a.q END",
        "b.kind = 'p' AND a.p = b.p OR b.kind = 'q' AND a.q = b.p",
    ),
    Form(
        "own value as a wildcard",
        EVENTS,
        "a.p = coalesce(b.star, a.p) AND a.q = b.q",
        "(b.star IS NULL OR a.p = b.star) AND a.q = b.q",
    ),
    Form(
        "null-safe by hand",
        EVENTS,
        "(a.p = b.star OR a.p IS NULL AND b.star IS NULL) AND a.t >= b.lo",
        "a.p <=> b.star AND a.t >= b.lo",
    ),
    Form(
        "anti join by a null",
        EVENTS,
        "LEFT JOIN {b} b ON a.t >= b.lo AND a.t < b.hi WHERE b.id IS NULL",
        "WHERE NOT EXISTS (SELECT 1 FROM {b} b WHERE a.t >= b.lo AND a.t < b.hi)",
        "SELECT count(*), sum(a.id) FROM {a} a {on}",
    ),
    Form(
        "haversine",
        EVENTS,
        "12742 * asin(sqrt(pow(sin(radians(b.lat - a.lat) / 2), 2) + cos(radians(a.lat)) * cos(radians(b.lat)) * pow(sin(radians(b.lon - a.lon) / 2), 2))) <= 3",
        "a.lat BETWEEN b.lat - 0.027 AND b.lat + 0.027 AND 12742 * asin(sqrt(pow(sin(radians(b.lat - a.lat) / 2), 2) + cos(radians(a.lat)) * cos(radians(b.lat)) * pow(sin(radians(b.lon - a.lon) / 2), 2))) <= 3",
    ),
    Form(
        "order by two values",
        EVENTS,
        "row_number() OVER (PARTITION BY a.id ORDER BY b.ts DESC, b.id DESC) AS rn",
        "row_number() OVER (PARTITION BY a.id ORDER BY b.ts DESC) AS rn",
        FIRST,
    ),
    Form(
        "rank",
        EVENTS,
        "rank() OVER (PARTITION BY a.id ORDER BY b.ts DESC) AS rn",
        "row_number() OVER (PARTITION BY a.id ORDER BY b.ts DESC) AS rn",
        FIRST,
    ),
    Form(
        "GROUP BY with max_by",
        EVENTS,
        "(SELECT a.id, max_by(b.lo, b.ts) AS x FROM {a} a JOIN {b} b ON a.k = b.k AND b.ts <= a.ts GROUP BY a.id)",
        "(SELECT a.id, max(c.x) AS x FROM {a} a, LATERAL (SELECT b.lo AS x FROM {b} b WHERE a.k = b.k AND b.ts <= a.ts ORDER BY b.ts DESC LIMIT 1) c GROUP BY a.id)",
        "SELECT count(*), sum(id), sum(x) FROM {on}",
    ),
    Form(
        "elements with fields",
        CARTS,
        "exists(a.items, i -> i.sku = b.sku AND i.n >= b.place)",
        "array_contains(a.skus, b.sku) AND exists(a.items, i -> i.sku = b.sku AND i.n >= b.place)",
    ),
    Form(
        "position in an array",
        CARTS,
        "array_position(a.skus, b.sku) > 0",
        "array_contains(a.skus, b.sku)",
    ),
    Form(
        "size of a filter",
        CARTS,
        "size(filter(a.skus, s -> s = b.sku)) > 0",
        "array_contains(a.skus, b.sku)",
    ),
    Form(
        "value of a map",
        CARTS,
        "a.m[b.place] = b.sku",
        "array_contains(map_entries(a.m), named_struct('key', b.place, 'value', b.sku))",
    ),
    Form(
        "find_in_set",
        CARTS,
        "find_in_set(string(b.sku), a.list) > 0",
        "array_contains(split(a.list, ','), string(b.sku))",
    ),
    Form("regexp_count", TEXTS, "regexp_count(a.text, b.word) > 0", "a.text RLIKE b.word"),
    Form(
        "length of a replaced text",
        TEXTS,
        "length(replace(a.text, b.word, '')) < length(a.text)",
        "contains(a.text, b.word)",
    ),
    Form("pieces of a text", TEXTS, "size(split(a.text, b.word)) > 1", "a.text RLIKE b.word"),
    Form(
        "word boundaries",
        TEXTS,
        r"a.text RLIKE concat('\\b', b.word, '\\b')",
        "concat(' ', a.text, ' ') LIKE concat('% ', b.word, ' %')",
    ),
    Form(
        "flag in a pattern",
        TEXTS,
        "a.text RLIKE concat('(?i)', b.word)",
        "a.text ILIKE concat('%', b.word, '%')",
    ),
    Form(
        "start of a text",
        TEXTS,
        "substring(a.text, 1, length(b.word)) = b.word",
        "startswith(a.text, b.word)",
    ),
]


def main() -> int:
    """Print a line for each form; 1 if a ratio is too high or rows differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="a part of the names")
    options = parser.parse_args()
    spark = thetajoin.configure(
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.session.timeZone", "UTC")
    ).getOrCreate()
    forms = [form for form in FORMS if options.only in form.name]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for table in sorted({table for form in forms for table in form.tables}):
            path = str(Path(folder) / table)
            spark.sql(TABLES[table]).write.parquet(path)
            spark.read.parquet(path).createOrReplaceTempView(table)
        for form in forms:
            failed += not _measured(spark, form, options.runs)
    return int(failed > 0)


def _measured(spark: SparkSession, form: Form, runs: int) -> bool:
    queries = [
        form.sql(on.format(a=form.tables[0], b=form.tables[1]))
        for on in (form.written, form.served)
    ]
    seconds: list[list[float]] = [[], []]
    rows: list[object] = [None, None]
    for _ in range(runs + 1):
        for i, query in enumerate(queries):
            started = time.perf_counter()
            rows[i] = spark.sql(query).collect()
            seconds[i].append(time.perf_counter() - started)
    written, served = (statistics.median(times[1:]) for times in seconds)
    same = "" if rows[0] == rows[1] else f"  OTHER ROWS {rows[0]} {rows[1]}"
    print(f"{form.name:36s} {written:6.2f} {served:6.2f} {written / served:5.2f}{same}", flush=True)
    return rows[0] == rows[1] and written / served <= MOST


if __name__ == "__main__":
    sys.exit(main())
