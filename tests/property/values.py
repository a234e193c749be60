"""Types with their awkward values, as text that Spark and DuckDB cast alike, and random tables of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st


@dataclass(frozen=True)
class Type:
    """A column type. `duckdb` names it there, if both systems order its values alike."""

    sql: str
    values: tuple[str, ...]
    cast: str = "CAST({text} AS {sql})"
    duckdb: str | None = None
    since: tuple[int, int] = (4, 0)

    def expression(self, text: str, sql: str | None = None) -> str:
        return self.cast.format(text=text, sql=sql or self.sql)


@dataclass(frozen=True)
class Family:
    """Types that are compared with each other, with conditions that fit them.

    In a condition `{l}` and `{r}` are columns of the two sides, `{op}` is an order comparison. `indexed`
    says whether `{l} {op} {r}` must run on an index. DuckDB decides
    the first `portable` of the conditions as Spark does. `weight` is how often one of the conditions is
    drawn, a comparison being drawn twice.
    """

    types: tuple[Type, ...]
    conditions: tuple[str, ...] = ()
    indexed: bool = True
    portable: int = 0
    weight: int = 1


def _integer(sql: str, bits: int) -> Type:
    top = 2 ** (bits - 1)
    small = tuple(str(n) for n in range(-4, 9))
    extremes = (-top, -top + 1, top - 1, top - 2, top // 2, -top // 2)
    return Type(sql, small + tuple(map(str, extremes)), duckdb=sql)


INTEGERS = (
    _integer("INT", 32),
    _integer("BIGINT", 64),
    _integer("SMALLINT", 16),
    _integer("TINYINT", 8),
)
_DECIMAL_TEXTS = ("0", "1.25", "1.2", "-1.25", "-0.01", "3", "1.3")
DECIMALS = (
    Type("DECIMAL(9,2)", (*_DECIMAL_TEXTS, "9999999.99", "-9999999.99"), duckdb="DECIMAL(9,2)"),
    Type(
        "DECIMAL(18,4)", (*_DECIMAL_TEXTS, "99999999999999.9999", "1.2501"), duckdb="DECIMAL(18,4)"
    ),
    Type(
        "DECIMAL(38,10)",
        (*_DECIMAL_TEXTS, "9999999999999999999999999999.9999999999", "1.2500000001"),
    ),
    Type(
        "DECIMAL(38,0)",
        ("0", "1", "-1", "99999999999999999999999999999999999999", "9223372036854775808"),
    ),
)
_FLOAT_TEXTS = ("NaN", "-0.0", "0.0", "Infinity", "-Infinity", "1.5", "-1.5", "0.1", "3")
FLOATS = (
    Type(
        "DOUBLE", (*_FLOAT_TEXTS, "4.9E-324", "1.7976931348623157E308", "16777217"), duckdb="DOUBLE"
    ),
    Type("FLOAT", (*_FLOAT_TEXTS, "1.4E-45", "3.4028235E38", "16777216"), duckdb="FLOAT"),
)
TEXT = (
    "",
    "a",
    "A",
    "ab",
    "b",
    "ä",
    "a ",
    "💡",
    "0123456789abcdef",
    "0123456789abcdeg",
    "abc",
    "%",
)
STRING = Type("STRING", TEXT, duckdb="VARCHAR")
PATTERN = Type(
    "STRING",
    (
        "",
        "a",
        "b",
        "ab",
        "aab",
        "abab",
        "aXb",
        "A",
        "ä",
        "bäa",
        "💡",
        "a💡b",
        "%",
        "_",
        "a%",
        "%b",
        "%a%b%",
        "a_b",
        "__",
        "%💡%",
        "_💡_",
        "a|%b",
        "%||%",
        "a%b",
        "||",
        "[ab]+",
        "(a|b)b",
        "a{2}b?",
        "^a",
        "b$",
        "(?i)AB",
        ".",
        "a.b|💡",
        "(ab)*X?b",
    ),
)
FOLDED = Type("STRING COLLATE UTF8_LCASE", TEXT)
PADDED = Type("STRING COLLATE UNICODE_CI_RTRIM", (*TEXT, "a ", "A  ", "Ä", " "))
FOLDED_STRUCT = Type(
    "STRUCT<p: INT, q: STRING COLLATE UTF8_LCASE>", ('{"p":1,"q":"a"}', '{"p":1,"q":"A"}', '{"p":1}', '{"q":"ä"}', '{"q":"Ä"}'),
    cast="CAST(from_json({text}, 'p INT, q STRING') AS {sql})",
)  # fmt: skip
BINARY = Type("BINARY", ("", "00", "FF", "7F", "80", "0000", "7FFF", "8000"), cast="unhex({text})")
_DAYS = (
    "2024-02-29",
    "2024-03-01",
    "1969-12-31",
    "1970-01-01",
    "0001-01-01",
    "9999-12-31",
    "2024-03-10",
)
_TIMES = tuple(
    f"{day} {time}" for day in _DAYS for time in ("00:00:00", "02:30:00", "23:59:59.999999")
)
DATE = Type("DATE", _DAYS, duckdb="DATE")
TIMESTAMP = Type("TIMESTAMP", _TIMES)
NTZ = Type("TIMESTAMP_NTZ", _TIMES, duckdb="TIMESTAMP")
TIME = Type("TIME", ("00:00:00", "12:00:00.5", "12:00:00", "23:59:59.999999"), since=(4, 1))
DAY_TIME = Type(
    "INTERVAL DAY TO SECOND", ("0", "1", "-1", "86400", "-86400.5", "0.000001"),
    cast="make_dt_interval(0, 0, 0, CAST({text} AS DECIMAL(18, 6)))",
)  # fmt: skip
YEAR_MONTH = Type(
    "INTERVAL YEAR TO MONTH", ("0", "1", "-1", "12", "2147483647"),
    cast="make_ym_interval(0, CAST({text} AS INT))",
)  # fmt: skip
BOOLEAN = Type("BOOLEAN", ("true", "false"), duckdb="BOOLEAN")
STRUCT = Type(
    "STRUCT<p: INT, q: STRING>", ('{"p":1,"q":"a"}', '{"p":1}', '{"p":1,"q":"b"}', '{"q":"a"}', '{"p":-2,"q":""}'),
    cast="from_json({text}, 'p INT, q STRING')",
)  # fmt: skip
ARRAY = Type(
    "ARRAY<INT>", ("[]", "[1]", "[1,2]", "[null]", "[1,null]", "[0,5,6]"),
    cast="from_json({text}, 'ARRAY<INT>')",
)  # fmt: skip
VECTOR = Type(
    "ARRAY<FLOAT>",
    ("[1,0]", "[0,1]", "[0.6,0.8]", "[-1,0]", "[3,4]", "[0,0]", "[0.1,-0.2]", "[null,1]", "[NaN,1]", "[1e30,1]", "[1e-30,-1e-30]", "[-1e10,2e9]", "[5e-11,0]"),
    cast="from_json({text}, 'ARRAY<FLOAT>')",
)  # fmt: skip
VECTOR_OF_DOUBLES = Type(
    "ARRAY<DOUBLE>",
    (*VECTOR.values, "[1e-40,1e-41]", "[1e-60,0]", "[1e60,-1e60]", "[1e300,1]", "[0.1,0.30000000000000004]"),
    cast="from_json({text}, 'ARRAY<DOUBLE>')",
)  # fmt: skip
VECTOR_OF_ANY_LENGTH = Type(
    "ARRAY<FLOAT>", (*VECTOR.values, *VECTOR.values, "[]", "[1]"), cast=VECTOR.cast
)

_SUMS = (
    "{l} - {r} {op} 3",
    "{l} + {r} {op} -1",
    "{r} - {l} {op} -2",
    "-{l} {op} {r}",
    "{l} - 3 {op} {r}",
    "{l} {op} {r} * 2",
)
_DISTANCES = (
    "({l} - {r}) * ({l} - {r}) {op} 4",
    "pow({l} - {r}, 2) + 0.25D * pow({r} - {l}, 2) {op} 4.5D",
    "sqrt(pow({r} - 2 - {l}, 2) + 1) {op} 2",
    "hypot({l} - {r}, {r} - {l} + 1) {op} {r} + {l}",
    "abs({l} - {r}) + abs({r} - {l}) {op} 3D",
    "2 * abs({l} - {r}) {op} {l}",
)
# Forms that imply bounds, one step at a time.
_STEPS = (
    "{l} - {r} IN (-1, 0, 2)",
    "{l} - {r} = 1",
    "greatest(abs({l} - {r}), abs({r} - 1)) {op} 3",
    "greatest({l} - {r}, {r} - {l} - 3) {op} 1",
    "abs(round({l} - {r}, 0)) {op} 2",
    "try_divide({l}, {r}) {op} 1.5",
    "abs(try_divide({l}, {r}) - 1) {op} 0.5",
    "try_divide({l} - {r}, {r}) {op} 0.25",
    "try_divide(abs({l} - {r}), {r}) {op} 0.5",
    "try_divide(abs({l} - {r}), {r}) {op} {r}",
    "floor(try_divide({l} - {r}, 3)) {op} 1",
)
_OF_DOUBLES = (
    "sqrt(pow(greatest({l} - {r}, 0D, {r} - 2 - {l}), 2) + pow({l} - {r}, 2)) {op} 2.5D",
    "6371 * acos(sin(radians({l})) * sin(radians({r})) + cos(radians({l})) * cos(radians({r})) * cos(radians({l} - {r}))) {op} 200",
)
_TIMES_APART = (
    "abs(timestampdiff(HOUR, {l}, {r})) {op} 30",
    "timestampdiff(MICROSECOND, {l}, {r}) {op} day({r})",
    "timestampdiff(MINUTE, {l}, {r}) {op} day({l})",
    "timestampdiff(DAY, {l}, {r}) {op} day({r})",
)
_GEOMETRIES = (
    "{t}st_intersects(st_point({l}, 0), st_point({r}, 0))",
    "{t}st_dwithin(st_point({l}, 2 * {l}), st_point({r}, {r}), 2.5)",
    "{t}st_distance(st_point({l}, 1), st_point({r}, {l})) {op} 3",
    "{t}st_distance(st_point({l}, 1), st_point({r}, 2)) {op} abs({r})",
    "{t}st_dwithin(st_point(179D * {l}, least(90D, greatest(-90D, 45D * {l}))), st_point(179D * {r}, least(90D, greatest(-90D, 45D * {r}))), 2e6 * abs({r}), true)",
    "{t}st_distancespheroid(st_point(90D * {l}, 90 * sin({l})), st_point(90D * {r} + 180, -90 * sin({r}))) {op} 2.0003e7",
)
_MATCHES = (
    "{l} LIKE {r}",
    "{l} LIKE '%' || {r} || '%'",
    "{l} LIKE {r} || '_%'",
    "{l} NOT LIKE {r} ESCAPE '|'",
    "{l} LIKE {r} ESCAPE '|'",
    "{l} ILIKE {r}",
    "{l} RLIKE {r}",
    "'-' || {l} || '-' RLIKE '.' || {r}",
    "contains({l}, {r})",
    "startswith({l}, {r})",
    "endswith({l}, {r})",
    "instr({l}, {r}) > 0",
    "locate({r}, {l}, 2) >= 1",
    "left({l}, length({r})) = {r}",
    "contains({l} || {l}, {r}) AND NOT contains({l}, {r})",
    "substring({l}, 1, length({r}) + 1) = {r}",
    "replace({l}, {r}, 'z') <> {l}",
    "substring_index({l}, {r}, 1) <> {l}",
    "substring_index({l}, 'b', length({r}) - 1) = {r}",
    "split_part({l}, {r}, 2) <> ''",
    "(length({l}) - length(replace({l}, {r}, ''))) / length({r} || '.') > 0.25",
    "size(regexp_extract_all({l}, {r}, 0)) > 1",
    "regexp_substr({l}, {r}) IS NOT NULL",
    "{l} RLIKE '(?i)' || {r}",
)
_SIMILARITIES = (
    "vector_cosine_similarity({l}, {r}) > 0.9",
    "vector_cosine_similarity({l}, {r}) {op} 0.25F",
    "1 - vector_cosine_similarity({r}, {l}) {op} 0.5D",
    "vector_inner_product({l}, {r}) {op} 0.75",
    "vector_l2_distance({r}, {l}) {op} 1.5",
    "vector_l2_distance({l}, {r}) {op} {l}[0]",
    "{r}[1] {op} vector_inner_product({l}, {r})",
)
_TERMS = {
    "{l}, {r}, (x, y) -> x * y": "{sum} {op} 0.75",
    "{r}, {l}, (x, y) -> CAST(y AS DOUBLE) * CAST(x AS DOUBLE)": "1 - {sum} {op} 0.2D",
    "{l}, {r}, (x, y) -> (x - y) * (x - y)": "{sum} {op} 2",
    "{l}, {r}, (x, y) -> pow(y - x, 2)": "sqrt({sum}) {op} 1.5",
}
_WRITTEN_OUT = tuple(
    condition.replace("{sum}", f"aggregate(zip_with({terms}), {zero}, (s, z) -> s + z)")
    for zero in ("0D", "0F")
    for terms, condition in _TERMS.items()
    if zero == "0D" or ("pow" not in terms and "DOUBLE" not in terms)
)
_READABLE, _TRIED = (tuple(g.replace("{t}", t) for g in _GEOMETRIES) for t in ("", "try_"))
FAMILIES = (
    *[Family(INTEGERS)] * 6,  # what the loops in Python can check
    *[Family(INTEGERS, (*_SUMS, "abs({l} - {r}) {op} 2", "({l} + {r}) % 3 {op} 1", "{l} - {r} {op} {l}", "{l} - ({r} - 4) {op} 2147483647", *_DISTANCES, *_READABLE))] * 3,
    *[Family(INTEGERS, (*_STEPS, "({l} - {r}) DIV 2 {op} 1", "greatest({l} - {r}, 0) * greatest({l} - {r}, 0) {op} 4"), weight=3)] * 2,
    Family(DECIMALS, (*_SUMS, "{l} * {r} {op} 1", "round({l}, 1) {op} {r}")),
    Family(DECIMALS, _STEPS, weight=3),
    *[Family(FLOATS, (*_STEPS, *_OF_DOUBLES), weight=3)] * 2,
    Family(FLOATS, (*_SUMS, *_DISTANCES, *_TRIED, "isnan({l} + {r})", "{l} * {r} {op} 0")),
    Family((*INTEGERS, *DECIMALS, *FLOATS), _SUMS, indexed=False),
    Family((STRING,), ("{l} LIKE {r} || '%'", "length({l}) {op} length({r})", "{l} || 'b' {op} {r}", "upper({l}) {op} {r}", "contains({l}, {r})"), portable=5),
    *[Family((PATTERN,), _MATCHES, weight=6)] * 3,
    Family((FOLDED,), ("startswith({l}, {r})", "length({l}) {op} length({r})"), indexed=False),
    Family((BINARY,), ("{l} || {r} {op} X'40'",)),
    Family((DATE,), ("add_months({l}, 1) {op} {r}", "date_add({r}, 3) {op} {l}", "datediff({l}, {r}) {op} 3", "datediff({l}, {r}) IN (1, 29)", "datediff({l}, {r}) DIV 7 {op} 2", "{l} - {r} {op} INTERVAL '3' DAY")),
    Family((NTZ,), ("{l} {op} {r} - INTERVAL 5 MINUTES", "{l} - {r} {op} INTERVAL '1' HOUR", "{l} + INTERVAL 1 MONTH {op} {r}", *_TIMES_APART)),
    Family((TIMESTAMP,), ("{l} {op} {r} - INTERVAL 5 MINUTES", "{l} - {r} {op} INTERVAL '1' HOUR", "{l} + INTERVAL 1 DAY {op} {r}", *_TIMES_APART)),
    Family((DATE, NTZ, TIMESTAMP), ("{l} - {r} {op} INTERVAL '36' HOUR",), indexed=False),
    Family((TIME,)),
    Family((DAY_TIME,), ("{l} - {r} {op} INTERVAL '1' SECOND", "{l} * 2 {op} {r}", "-{l} {op} {r}")),
    Family((YEAR_MONTH,), ("{l} + {r} {op} INTERVAL '2' MONTH",)),
    Family((BOOLEAN,), ("NOT {l} {op} {r}", "{l} AND {r}"), portable=2),
    Family((STRUCT,), ("{l}.p {op} {r}.p", "{l}.p + {r}.p {op} 0", "{l}.q || {r}.q {op} 'a'")),
    *[Family((VECTOR,), _SIMILARITIES, indexed=False, weight=6)] * 2,
    Family((VECTOR_OF_ANY_LENGTH,), _SIMILARITIES, indexed=False, weight=6),
    Family((VECTOR, VECTOR_OF_DOUBLES, VECTOR_OF_ANY_LENGTH), _WRITTEN_OUT, indexed=False, weight=6),
    Family((ARRAY,), ("array_contains({l}, size({r}))", "size({l}) {op} size({r})")),
)  # fmt: skip

# Those of one of these are compared as keys.
KEYS = (*[f for f in FAMILIES if f.types[0] not in (PATTERN, VECTOR, VECTOR_OF_ANY_LENGTH)], Family((PADDED,)), Family((FOLDED_STRUCT,)))  # fmt: skip

SMALL_INT = Type("INT", tuple(map(str, range(6))), duckdb="INT")
ID = Type("BIGINT", (), duckdb="BIGINT")


@dataclass(frozen=True)
class Table:
    """Rows as texts. Columns: `id` (unique), `x` and `y` of the drawn types, `n` (a small whole number)."""

    name: str
    x: Type
    y: Type
    rows: tuple[tuple[str | None, ...], ...]

    @property
    def columns(self) -> list[tuple[str, Type]]:
        return [("id", ID), ("x", self.x), ("y", self.y), ("n", SMALL_INT)]

    def sql(self, duckdb: bool = False) -> str:
        """A query that gives the table."""
        casts = [
            f"{t.expression(f'c{i}', t.duckdb if duckdb else None)} AS {name}"
            for i, (name, t) in enumerate(self.columns)
        ]
        rows = [f"({', '.join(map(_literal, row))})" for row in self.rows]
        rows = rows or [f"({', '.join(['CAST(NULL AS STRING)'] * 4)})"]
        values = ",\n  ".join(rows)
        return (
            f"SELECT {', '.join(casts)} FROM (VALUES\n  {values}\n) AS t(c0, c1, c2, c3) "
            "WHERE c0 IS NOT NULL"
        )

    def python(self) -> list[dict[str, Any]]:
        """The rows, with whole numbers as such; other columns are left as text."""
        whole = (*INTEGERS, SMALL_INT, ID)
        return [
            {
                name: int(v) if v is not None and t in whole else v
                for (name, t), v in zip(self.columns, row, strict=True)
            }
            for row in self.rows
        ]


def _literal(text: str | None) -> str:
    return "CAST(NULL AS STRING)" if text is None else f"'{text}'"


@st.composite
def tables(draw: st.DrawFn, name: str, x: Type, y: Type, most: int = 30) -> Table:
    def column(t: Type) -> st.SearchStrategy[str | None]:
        return st.sampled_from((*t.values, None, *t.values[: len(t.values) // 2], None))

    cells = st.tuples(column(x), column(y), column(SMALL_INT))
    sizes = [size for size in (0, 1, 3, 6, 10, 16) if size <= most]
    rows = draw(st.lists(cells, min_size=draw(st.sampled_from(sizes)), max_size=most))
    return Table(name, x, y, tuple((str(i), *row) for i, row in enumerate(rows)))
