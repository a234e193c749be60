"""Pairs of queries for the same rows: as people write them, and as an index serves them."""

from __future__ import annotations

from dataclasses import dataclass


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
CALLS, VECTORS = ("calls", "prefixes"), ("vectors", "centres")
ALL = "SELECT count(*), sum(a.id), sum(b.id) FROM {on}"
GROUPED = "SELECT count(*), sum(id), sum(x) FROM {on}"
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
        GROUPED,
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
    Form(
        "texts between texts",
        EVENTS,
        "a.account BETWEEN b.first AND b.last",
        "a.t BETWEEN b.lo AND b.hi",
    ),
    Form(
        "DECIMAL(38) between",
        EVENTS,
        "a.wide BETWEEN b.wide_lo AND b.wide_hi",
        "a.t BETWEEN b.lo AND b.hi",
    ),
    Form(
        "nvl with a column of the other side",
        EVENTS,
        "nvl(a.t, b.lo) >= b.lo AND a.t <= nvl(b.hi, a.t) AND a.t < 50000000",
        "a.t >= b.lo AND a.t <= b.end AND a.t < 50000000",
    ),
    Form(
        "length of the overlap",
        EVENTS,
        "least(a.t + 50, b.end) - greatest(a.t, b.lo) > 0 AND a.t < 50000000",
        "a.t < b.end AND b.lo < a.t + 50 AND a.t < 50000000",
    ),
    Form(
        "difference of decimals",
        EVENTS,
        "abs(a.amount - b.amount) <= 0.01",
        "a.amount BETWEEN b.amount - 0.01 AND b.amount + 0.01",
    ),
    Form(
        "differences of decimals and of days",
        EVENTS,
        "abs(a.amount - b.amount) <= 0.5 AND abs(datediff(a.day, b.day)) <= 3",
        "a.amount BETWEEN b.amount - 0.5 AND b.amount + 0.5 AND a.day BETWEEN date_sub(b.day, 3) AND date_add(b.day, 3)",
    ),
    Form(
        "date minus date next to a key",
        EVENTS,
        "a.k = b.k AND a.day - b.day BETWEEN INTERVAL '0' DAY AND INTERVAL '3' DAY",
        "a.k = b.k AND a.day BETWEEN b.day AND date_add(b.day, 3)",
    ),
    Form(
        "column of intervals",
        EVENTS,
        "a.ts BETWEEN b.ts - b.w AND b.ts + b.w",
        "a.ts BETWEEN b.ts_lo AND b.ts_hi",
    ),
    Form(
        "dates of timestamps next to a key",
        EVENTS,
        "a.k = b.k AND to_date(a.ts) BETWEEN to_date(b.ts) AND date_add(b.ts, 1)",
        "a.k = b.k AND a.day BETWEEN b.day AND date_add(b.day, 1)",
    ),
    Form(
        "structs between structs",
        EVENTS,
        "struct(a.p, a.q) BETWEEN struct(b.p, b.q) AND struct(b.p, b.q + 200)",
        "a.p * 1000000 + a.q BETWEEN b.p * 1000000 + b.q AND b.p * 1000000 + b.q + 200",
    ),
    Form(
        "lexicographic OR next to a key",
        EVENTS,
        "a.k = b.k AND (a.p < b.p OR a.p = b.p AND a.q < b.q)",
        "a.k = b.k AND a.p * 1000000 + a.q < b.p * 1000000 + b.q",
    ),
    Form(
        "one of two flags",
        EVENTS,
        "CASE WHEN a.p = b.p THEN 1 ELSE 0 END + CASE WHEN a.q = b.q THEN 1 ELSE 0 END >= 1",
        "a.p = b.p OR a.q = b.q",
    ),
    Form(
        "CASE = 1",
        EVENTS,
        "CASE WHEN a.p = b.p THEN 1 WHEN a.p = b.q THEN 1 ELSE 0 END = 1",
        "a.p = b.p OR a.p = b.q",
    ),
    Form(
        "IF as a wildcard",
        EVENTS,
        "a.p = if(b.kind = 'p', a.p, b.q) AND a.q = b.r",
        "(b.kind = 'p' OR a.p = b.q) AND a.q = b.r",
    ),
    Form(
        "sequence",
        EVENTS,
        "array_contains(sequence(b.lo, b.lo + 20), a.t)",
        "a.t BETWEEN b.lo AND b.lo + 20",
    ),
    Form(
        "array of ranges",
        EVENTS,
        "{a} a JOIN {b} b ON exists(b.parts, r -> a.t BETWEEN r.lo AND r.hi)",
        "{a} a JOIN (SELECT id, explode(parts) AS part FROM {b}) b ON a.t BETWEEN b.part.lo AND b.part.hi",
        ALL,
    ),
    Form(
        "gap by GROUP BY",
        EVENTS,
        "(SELECT a.id, min(greatest(b.lo - a.t, a.t - b.end, 0)) AS x FROM {a} a JOIN {b} b ON a.k = b.k GROUP BY a.id)",
        "(SELECT a.id, min(c.x) AS x FROM {a} a, LATERAL (SELECT greatest(b.lo - a.t, a.t - b.end, 0) AS x FROM {b} b WHERE a.k = b.k ORDER BY x LIMIT 1) c GROUP BY a.id)",
        GROUPED,
    ),
    Form("regexp_extract", TEXTS, "regexp_extract(a.text, b.word, 0) <> ''", "a.text RLIKE b.word"),
    Form("regexp_instr", TEXTS, "regexp_instr(a.text, b.word) > 0", "a.text RLIKE b.word"),
    Form(
        "left of a length",
        TEXTS,
        "left(a.text, length(b.word)) = b.word",
        "startswith(a.text, b.word)",
    ),
    Form("locate at the start", TEXTS, "locate(b.word, a.text) = 1", "startswith(a.text, b.word)"),
    Form(
        "right of a length",
        TEXTS,
        "right(a.text, length(b.word)) = b.word",
        "endswith(a.text, b.word)",
    ),
    Form(
        "suffix after a separator",
        TEXTS,
        "a.text = b.word OR a.text LIKE concat('% ', b.word)",
        "endswith(concat(' ', a.text), concat(' ', b.word))",
    ),
    Form(
        "glob",
        TEXTS,
        "a.text LIKE replace(concat('*', b.word, '*'), '*', '%')",
        "contains(a.text, b.word)",
    ),
    Form(
        "longest word",
        TEXTS,
        "(SELECT * FROM (SELECT a.id, b.id AS x, row_number() OVER (PARTITION BY a.id ORDER BY b.priority DESC, b.id) AS rn FROM {a} a JOIN {b} b ON contains(a.text, b.word)) WHERE rn = 1)",
        "(SELECT * FROM (SELECT a.id, c.x, row_number() OVER (PARTITION BY a.id ORDER BY c.x) AS rn FROM {a} a, LATERAL (SELECT b.id AS x FROM {b} b WHERE contains(a.text, b.word) ORDER BY b.priority DESC, b.id LIMIT 1) c) WHERE rn = 1)",
        GROUPED,
    ),
    Form(
        "longest prefix",
        CALLS,
        "(SELECT id, max(x) AS x FROM (SELECT a.id, b.id AS x, rank() OVER (PARTITION BY a.id ORDER BY length(b.prefix) DESC) AS rk FROM {a} a JOIN {b} b ON a.number LIKE concat(b.prefix, '%')) WHERE rk = 1 GROUP BY id)",
        "(SELECT id, max(x) AS x FROM (SELECT a.id, c.x, rank() OVER (PARTITION BY a.id ORDER BY c.x DESC) AS rk FROM {a} a, LATERAL (SELECT b.id AS x FROM {b} b WHERE startswith(a.number, b.prefix) ORDER BY length(b.prefix) DESC, b.id DESC LIMIT 1) c) WHERE rk = 1 GROUP BY id)",
        GROUPED,
    ),
    Form(
        "longest prefix by max_by",
        CALLS,
        "(SELECT a.id, (SELECT max_by(b.id, length(b.prefix) * 100000L + b.id) FROM {b} b WHERE a.number LIKE concat(b.prefix, '%')) AS x FROM {a} a)",
        "(SELECT a.id, c.x FROM {a} a LEFT JOIN LATERAL (SELECT b.id AS x FROM {b} b WHERE startswith(a.number, b.prefix) ORDER BY length(b.prefix) DESC, b.id DESC LIMIT 1) c)",
        GROUPED,
    ),
    Form(
        "key and value of a map",
        CARTS,
        "map_contains_key(a.m, b.place) AND a.m[b.place] = b.sku",
        "array_contains(map_entries(a.m), named_struct('key', b.place, 'value', b.sku))",
    ),
    Form(
        "field of elements",
        CARTS,
        "array_contains(a.items.sku, b.sku)",
        "array_contains(a.skus, b.sku)",
    ),
    Form(
        "sizes of sets",
        CARTS,
        "cardinality(array_intersect(a.skus, b.needs)) = cardinality(array_distinct(b.needs))",
        "size(array_except(b.needs, a.skus)) = 0",
    ),
    Form(
        "cosine written out",
        VECTORS,
        "aggregate(zip_with(a.v, b.v, (x, y) -> CAST(x * y AS DOUBLE)), 0D, (s, z) -> s + z) / (sqrt(aggregate(a.v, 0D, (s, x) -> s + CAST(x * x AS DOUBLE))) * sqrt(aggregate(b.v, 0D, (s, x) -> s + CAST(x * x AS DOUBLE)))) > 0.4",
        "vector_cosine_similarity(a.v, b.v) > 0.4",
    ),
    Form(
        "inner product written out",
        VECTORS,
        "aggregate(zip_with(a.v, b.v, (x, y) -> CAST(x * y AS DOUBLE)), 0D, (s, z) -> s + z) > 8",
        "vector_inner_product(a.v, b.v) > 8",
    ),
]
