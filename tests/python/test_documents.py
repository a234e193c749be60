"""The SQL of README.md, docs/*.md and docs/limits runs as it stands there, on what the page says: blocks, and the forms in tables."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest
import thetajoin
from differential import ENABLED, GENERATED, difference, execute
from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
ACCELERATORS = sorted(
    p.name for p in (ROOT / "scala/src/main/scala/thetajoin/accelerator").iterdir() if p.is_dir()
)


def square(x: float, y: float, side: float) -> str:
    """A polygon in well-known binary."""
    corners = ((0, 0), (side, 0), (side, side), (0, side), (0, 0))
    points = b"".join(struct.pack("<dd", x + dx, y + dy) for dx, dy in corners)
    return f"X'{(struct.pack('<BIII', 1, 3, 1, 5) + points).hex()}'"


SQUARES = ", ".join(square(n % 4, n % 3, 1.5) for n in range(12))
VECTOR = "array(float(sin(id)), float(cos(id)), float(id % 3))"
WORDS = "array('disk', 'net', 'fan', 'cpu', 'ram')"
# What the forms read: sides `a` and `b`, and the tables of the examples. Values are such that each form has matches and others.
TABLES = f"""
a AS SELECT id, int(id % 4) AS k, int(id % 7) AS x, int(id % 5) AS y, int(id % 3) AS z, id * 1.5D AS t,
  id % 2 = 0 AS vip, int(id % 7) AS x1, int(id % 7 + 2) AS x2, int(id % 5) AS y1, int(id % 5 + 1) AS y2,
  id * 2.0D AS lo, id * 2.0D + 3 AS hi, timestamp_seconds(id * 100) AS ts, date_from_unix_date(int(id)) AS d,
  array_join(slice({WORDS}, int(id % 3) + 1, 3), ',') AS list, id * 37 AS bits, id * 12D - 60 AS lat, id * 30D - 150 AS lon,
  array(named_struct('kind', {WORDS}[id % 5], 'n', id), named_struct('kind', {WORDS}[id % 4], 'n', 2 * id)) AS items,
  slice({WORDS}, int(id % 3) + 1, 3) AS tags, map('disk', id, 'net', nullif(id, 3)) AS m,
  concat({WORDS}[id % 5], ',the ', {WORDS}[id % 4]) AS text, element_at({WORDS}, int(id % 5) + 1) AS kind,
  {VECTOR} AS v, float(0.5) AS least, st_point(id % 4, id % 3) AS place, array({SQUARES})[id] AS shape,
  concat({WORDS}[id % 5], if(id % 2 = 0, '', 's')) AS name, concat('198.51.100.', id * 20) AS ip
  FROM range(12);
b AS SELECT id, int(id % 3) AS k, nullif(int(id % 6), 5) AS x, int(id % 4) AS y, id * 2.0D + 0.25 AS t,
  id % 2 = 0 AS active, int(id % 6) AS x1, int(id % 6 + 1) AS x2, int(id % 4) AS y1, int(id % 4 + 3) AS y2,
  id * 3.0D AS lo, id * 3.0D + 2 AS hi, timestamp_seconds(id * 150) AS ts, date_from_unix_date(int(id * 2)) AS d,
  double(id % 3 + 1) AS r, id * 36 AS bits, id * 13D - 58 AS lat, id * 29D - 140 AS lon,
  array(named_struct('lo', id * 1.5D, 'hi', id * 1.5D + 1), named_struct('lo', id * 2D, 'hi', id * 2D + 1)) AS ranges,
  {WORDS}[id % 5] AS tag, slice({WORDS}, int(id % 4) + 1, 2) AS tags,
  slice({WORDS}, int(id % 4) + 1, 2) AS needs, {WORDS}[id % 5] AS key, {WORDS}[id % 5] AS name,
  concat('%', {WORDS}[id % 5], '%') AS pattern, concat({WORDS}[id % 5], '|time(out|d)') AS regex,
  if(id % 3 = 0, '*', {WORDS}[id % 5]) AS kind, {VECTOR.replace("id", "(id + 0.1)")} AS v,
  st_point(id % 4 + 0.25, id % 3 + 0.25) AS place, array({SQUARES})[id] AS shape,
  int(id % 3) AS most, concat('198.51.100.', id * 20, '/27') AS cidr,
  named_struct('xmin', id % 4, 'xmax', id % 4 + 1.5D) AS bbox
  FROM range(10);
points AS SELECT double(id) AS t FROM range(12);
ranges AS SELECT id * 3.0D AS lo, id * 3.0D + 4 AS hi FROM range(5);
trips AS SELECT id, timestamp_seconds(id * 600) AS at, id % 4 + 0.1D AS lon, id % 3 + 0.2D AS lat FROM range(20);
outages AS SELECT id AS no, timestamp_seconds(id * 3600) AS started, timestamp_seconds(id * 3600 + 900) AS ended FROM range(4);
zones AS SELECT id AS name, array({SQUARES})[id] AS shape FROM range(6);
hotels AS SELECT id, st_point(id % 4, id % 3) AS place FROM range(12);
stations AS SELECT id AS name, st_point(id * 0.7D, id * 0.3D) AS place FROM range(9);
questions AS SELECT id, {VECTOR} AS v FROM range(5);
passages AS SELECT id, {VECTOR.replace("id", "(id + 0.1)")} AS v FROM range(20);
f AS SELECT id, if(id % 2 = 0, 'DE', 'FR') AS country, int(id % 4) AS size FROM range(10);
r AS SELECT id, if(id % 3 = 0, NULL, 'DE') AS country, int(id % 3) AS size FROM range(6)
"""


@dataclass(frozen=True)
class Form:
    """A piece of SQL of a page, and by what it is to run."""

    page: str
    sql: str
    accelerator: str

    @property
    def query(self) -> str:
        """The piece as a query: pages show conditions, what follows FROM, and whole queries."""
        if re.match(r"SELECT\b", self.sql):
            return self.sql
        if re.match(r"a (\w+ )*JOIN\b", self.sql):
            return f"SELECT * FROM {self.sql}"
        # Of rows that are equally near any may come.
        if self.sql.startswith("LATERAL"):
            return (
                f"SELECT a.id, {'q.away' if 'away' in self.sql else 'q.t'} FROM a, {self.sql} AS q"
            )
        if self.sql.startswith("NEAREST"):
            rank = re.sub(r"^NEAREST \d+ BY \w+ ", "", self.sql)
            return f"SELECT a.id, {rank} FROM a JOIN b EXACT {self.sql}"
        if self.sql.startswith(("row_number", "rank")):
            numbered = f"SELECT a.id, b.id AS no, {self.sql} AS n FROM a JOIN b ON a.t >= b.t"
            return f"SELECT * FROM ({numbered}) WHERE n = 1"
        sides = sorted(set(re.findall(r"\b([a-z])\.", self.sql)), key="abfr".index)
        left, right = sides or ("points", "ranges")
        hint = f"/*+ BROADCAST({right}) */" if self.accelerator == "wildcard" else ""
        return f"SELECT {hint} * FROM {left} JOIN {right} ON {self.sql}"


def forms() -> Iterator[Form]:
    """Blocks of SQL, and forms in tables and lists. What runs one is named beside it, or else before it, or else first on the page."""
    for path in [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs/limits").glob("*.md")),
    ]:
        if path.name == "other-forms.md":
            continue
        page = re.sub(r"<!-- benchmark:begin.*?benchmark:end -->", "", path.read_text(), flags=re.S)
        named = next((code for code in codes(page) if code in ACCELERATORS), "")
        for part in re.findall(r"^```(?s:.*?)^```|^.+(?:\n  .+)*", page, flags=re.M):
            beside = [code for code in codes(part) if code in ACCELERATORS]
            named = beside[-1] if beside else named
            if part.startswith("```sql"):
                queries = re.split(r";\n", part[6:-3])
                yield from (Form(path.name, " ".join(query.split()), named) for query in queries)
            elif named and (part[0] == "|" or (part[0] == "-" and beside)):
                yield from (Form(path.name, code, named) for code in codes(part) if is_form(code))


def codes(text: str) -> list[str]:
    """What stands in it as code, not in blocks."""
    return [" ".join(code.split()) for code in re.findall(r"(?<!`)`([^`]+)`", text)]


def is_form(code: str) -> bool:
    """Whether it reads both sides, and is no call in Python."""
    both = {"a", "b"} <= set(re.findall(r"\b([ab])\.", code)) or "BETWEEN lo" in code
    return both and not code.startswith("thetajoin.")


FORMS = list(dict.fromkeys(forms()))


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    for key, value in {**GENERATED, "spark.sql.join.asofJoin.enabled": "true"}.items():
        session.conf.set(key, value)
    for table in TABLES.split(";"):
        session.sql(f"CREATE TEMP VIEW {table}")
    return session


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.page}: {form.sql}")
def test_a_form_runs_as_its_page_says(session: SparkSession, form: Form) -> None:
    session.conf.set(ENABLED, "false")
    off = execute(session, form.query)
    session.conf.set(ENABLED, "true")
    on = execute(session, form.query)
    assert difference(session, form.query, off, on) is None
    assert off.rows, "a form without a match shows nothing"
    # The ties of a rank are looked up by its value.
    ties = {"interval"} if form.sql.startswith("rank") else set()
    assert {node.accelerator for node in on.nodes} == {form.accelerator} | ties, on.plan


def readings() -> Iterator[tuple[str, str]]:
    """The rows of docs/other-forms.md: a condition, and the condition that it is read as."""
    for line in (ROOT / "docs/other-forms.md").read_text().splitlines():
        if line.startswith("| `"):
            form, becomes, *_ = codes(line)
            yield form, becomes


@pytest.mark.parametrize(("form", "becomes"), list(readings()), ids=lambda sql: sql)
def test_another_form_runs_as_the_form_that_it_is_read_as(
    session: SparkSession, form: str, becomes: str
) -> None:
    accelerators = []
    for condition in (form, becomes):
        query = f"SELECT /*+ BROADCAST(b) */ * FROM a JOIN b ON {condition}"
        session.conf.set(ENABLED, "false")
        off = execute(session, query)
        session.conf.set(ENABLED, "true")
        on = execute(session, query)
        assert difference(session, query, off, on) is None
        assert off.rows, "a form without a match shows nothing"
        accelerators.append({node.accelerator for node in on.nodes})
    assert accelerators[0] == accelerators[1] != {"nestedloop"}


def test_forms_are_found() -> None:
    assert len(list(readings())) > 20
    # Python's forms call functions that a program has registered: test_python_accelerators.py.
    without_forms = {"existence", "nestedloop", "python"}
    assert {form.accelerator for form in FORMS} == set(ACCELERATORS) - without_forms
    assert len([form for form in FORMS if form.page == "conditions.md"]) > 30
    assert len([form for form in FORMS if form.page == "README.md"]) > 10


def test_the_page_of_python_has_all_public_names() -> None:
    members = re.findall(r"^        - (\w+)$", (ROOT / "docs/python.md").read_text(), re.M)
    assert set(members) == set(thetajoin.__all__) - {"settings"}


def test_the_matrix_of_versions_has_those_that_make_test_runs() -> None:
    (others,) = re.findall(r"^OTHER_SPARKS := (.*)$", (ROOT / "Makefile").read_text(), re.M)
    rows = re.findall(
        r"^\| ([\d.]+) \| 17 \| 3.11 \|.*`make test` \|$",
        (ROOT / "docs/versions.md").read_text(),
        re.M,
    )
    assert sorted(rows) == sorted([*others.split(), pyspark.__version__])
