"""The tables that the forms read, as SQL."""

from __future__ import annotations

WORDS = "substr(sha2(string({}), 256), 1, 6)"
TABLES = {
    "events": "SELECT *, lpad(string(t), 10, '0') AS account, CAST(t AS DECIMAL(38, 0)) * 10000000000 AS wide, "
    "CAST(t / 100 AS DECIMAL(12, 2)) AS amount, to_date(ts) AS day FROM (SELECT id, id % 5000 AS k, timestamp_seconds(1700000000 + pmod(xxhash64(id), 30000000)) AS ts, "
    "pmod(xxhash64(id, 1), 1000000000) AS t, 1.0D + pmod(xxhash64(id, 2), 1000000007) / 3 AS x, "
    "decode(unhex(lpad(hex(pmod(xxhash64(id, 3), 4294967296)), 8, '0')), 'ISO-8859-1') AS code, "
    "pmod(xxhash64(id, 4), 100000) AS p, pmod(xxhash64(id, 5), 100000) AS q, pmod(xxhash64(id, 6), 100000) AS r, "
    "-60 + pmod(xxhash64(id, 7), 120000000) / 1000000D AS lat, -180 + pmod(xxhash64(id, 8), 360000000) / 1000000D AS lon "
    "FROM range(1000000))",
    "spans": "SELECT *, lpad(string(lo), 10, '0') AS first, lpad(string(hi), 10, '0') AS last, "
    "CAST(lo AS DECIMAL(38, 0)) * 10000000000 AS wide_lo, CAST(hi AS DECIMAL(38, 0)) * 10000000000 AS wide_hi, "
    "CAST(lo / 100 AS DECIMAL(12, 2)) AS amount, to_date(ts) AS day, make_dt_interval(0, 0, 0, 1 + id % 9) AS w, "
    "ts - make_dt_interval(0, 0, 0, 1 + id % 9) AS ts_lo, ts + make_dt_interval(0, 0, 0, 1 + id % 9) AS ts_hi, "
    "array(named_struct('lo', lo, 'hi', lo + 900), named_struct('lo', lo + 5000, 'hi', lo + 5900)) AS parts "
    "FROM (SELECT id, id % 5000 AS k, timestamp_seconds(1700000000 + pmod(xxhash64(id, 9), 30000000)) AS ts, "
    "id * 10000L AS lo, CAST(if(id % 50 = 0, NULL, id * 10000L + 9000) AS BIGINT) AS hi, "
    "if(id % 50 = 0, 9223372036854775807L, id * 10000L + 9000) AS end, 1.0D + pmod(xxhash64(id, 2), 1000000007) / 3 AS x, "
    "pmod(xxhash64(id, 10), 100000) AS p, pmod(xxhash64(id, 11), 100000) AS q, pmod(xxhash64(id, 12), 100000) AS r, "
    "CAST(if(id % 2 = 0, NULL, pmod(xxhash64(id, 10), 100000)) AS BIGINT) AS star, if(id % 2 = 0, 'p', 'q') AS kind, "
    "-60 + pmod(xxhash64(id, 13), 120000000) / 1000000D AS lat, -180 + pmod(xxhash64(id, 14), 360000000) / 1000000D AS lon "
    "FROM range(100000))",
    "texts": f"SELECT id, concat_ws(' ', transform(sequence(1, 12), i -> {WORDS.format('pmod(xxhash64(id, i), 200000)')})) "
    "AS text FROM range(200000)",
    "words": f"SELECT id, {WORDS.format('id * 40')} AS word, id % 17 AS priority FROM range(5000)",
    "calls": "SELECT id, string(10000000000 + pmod(xxhash64(id), 89999999999)) AS number FROM range(500000)",
    "prefixes": "SELECT id, substr(string(10000000000 + pmod(xxhash64(id, 1), 89999999999)), 1, CAST(2 + id % 5 AS INT)) AS prefix "
    "FROM range(20000)",
    "vectors": "SELECT id, transform(sequence(1, 64), i -> CAST(pmod(xxhash64(id, i), 2001) / 1000.0 - 1 AS FLOAT)) AS v "
    "FROM range(20000)",
    "centres": "SELECT id, transform(sequence(1, 64), i -> CAST(pmod(xxhash64(id * 10, i), 2001) / 1000.0 - 1 AS FLOAT)) AS v "
    "FROM range(2000)",
    "carts": "SELECT id, transform(sequence(1, 6), i -> named_struct('sku', pmod(xxhash64(id, i), 1000000), 'n', i)) AS items, "
    "transform(sequence(1, 6), i -> pmod(xxhash64(id, i), 1000000)) AS skus, "
    "map_from_arrays(sequence(1, 6), transform(sequence(1, 6), i -> pmod(xxhash64(id, i), 1000000))) AS m, "
    "array_join(transform(sequence(1, 6), i -> string(pmod(xxhash64(id, i), 1000000))), ',') AS list FROM range(300000)",
    "offers": "SELECT id, id * 10 AS sku, CAST(id % 6 + 1 AS INT) AS place, array(id * 10, id * 10) AS needs FROM range(100000)",
}
