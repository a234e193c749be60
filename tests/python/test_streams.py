"""A stream joined with a table: the rows of Spark, by our joins, with an index that is kept."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import thetajoin
from differential import ENABLED
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery
from streaming import BUILT, KEPT, Events, Run, rows, run, run_steps

TABLES = {
    "ranges": "SELECT id AS no, id * 30 AS lo, id * 30 + 40 AS hi, id % 3 AS g FROM range(30)",
    "levels": "SELECT id AS no, id * 300 AS y FROM range(4)",
    "areas": """SELECT id AS no, st_geomfromtext(concat('POLYGON((', id, ' 0, ', id + 2, ' 0, ', id + 1, ' 9, ',
        id, ' 0))')) AS shape, id AS x1, id + 3 AS x2, id / 2 AS y1, id AS y2 FROM range(9)""",
    "patterns": "SELECT * FROM VALUES ('%amber%'), ('%cedar delta%'), ('hazel%'), ('%flint') AS p(pattern)",
    "wanted": "SELECT * FROM VALUES (1, array('amber', 'ember')), (2, array('hazel')), (3, array()) AS w(no, words)",
    "prices": "SELECT id AS no, timestamp'2024-01-01 00:00:00Z' + make_dt_interval(0, 0, id * 3) AS since FROM range(20)",
    "none": "SELECT id AS no, id AS lo, id AS hi FROM range(0)",
}
BETWEEN = "e.x BETWEEN r.lo AND r.hi"
# The accelerator and the type of the join of each.
JOINS = {
    "interval": (f"SELECT e.*, r.no FROM events e JOIN ranges r ON {BETWEEN}", "interval", "Inner"),
    "left": (f"SELECT e.*, r.no FROM events e LEFT JOIN ranges r ON {BETWEEN}", "interval", "LeftOuter"),
    "right": (f"SELECT e.*, r.no FROM ranges r RIGHT JOIN events e ON {BETWEEN}", "interval", "RightOuter"),
    "semi": (f"SELECT * FROM events e LEFT SEMI JOIN ranges r ON {BETWEEN} AND r.no % 2 = 0", "interval", "LeftSemi"),
    "anti": (f"SELECT * FROM events e LEFT ANTI JOIN ranges r ON {BETWEEN} AND r.no % 2 = 0", "interval", "LeftAnti"),
    "mark": (f"SELECT * FROM events e WHERE id % 5 = 0 OR EXISTS (SELECT 1 FROM ranges r WHERE {BETWEEN} AND r.no < 9)",
             "interval", "ExistenceJoin"),
    "absent": (f"SELECT e.* FROM events e LEFT JOIN ranges r ON {BETWEEN} AND r.no < 20 WHERE r.lo IS NULL", "interval", "LeftAnti"),
    "keys": (f"SELECT e.*, r.no FROM events e JOIN ranges r ON e.k = r.g AND {BETWEEN}", "interval", "Inner"),
    "inequality": ("SELECT e.*, l.no FROM events e LEFT JOIN levels l ON e.x < l.y", "piecewise", "LeftOuter"),
    "boxes": ("SELECT e.*, a.no FROM events e JOIN areas a ON e.px BETWEEN a.x1 AND a.x2 AND e.py BETWEEN a.y1 AND a.y2",
              "boxes", "Inner"),
    "polygons": ("SELECT e.*, a.no FROM events e LEFT JOIN areas a ON st_contains(a.shape, st_point(e.px, e.py))",
                 "boxes", "LeftOuter"),
    "patterns": ("SELECT e.*, p.pattern FROM events e JOIN patterns p ON e.s LIKE p.pattern", "patterns", "Inner"),
    "arrays": ("SELECT e.*, w.no FROM events e JOIN wanted w ON arrays_overlap(e.tags, w.words)", "containment", "Inner"),
    "empty": ("SELECT e.*, r.no FROM events e LEFT JOIN none r ON e.x BETWEEN r.lo AND r.hi", "interval", "LeftOuter"),
}  # fmt: skip
FAST = ["left", "anti", "patterns"]


@pytest.fixture
def draw(request: pytest.FixtureRequest) -> random.Random:
    return random.Random(f"{request.config.option.seed}-{request.node.name}")


@pytest.fixture
def events(tmp_path: Path, draw: random.Random) -> Events:
    return Events(tmp_path / "events", draw)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    for name, query in TABLES.items():
        spark.sql(query).coalesce(1).write.parquet(str(folder / name))
    return folder


@pytest.fixture
def session(spark: SparkSession, tables: Path) -> Iterator[SparkSession]:
    session = spark.newSession()
    for name in TABLES:
        session.read.parquet(str(tables / name)).createOrReplaceTempView(name)
    yield session


def of_stream(session: SparkSession, sql: str, events: Events, files: int = 1) -> DataFrame:
    events.stream(session, files).createOrReplaceTempView("events")
    return session.sql(sql)


def off(
    session: SparkSession, sql: str, events: Events, folder: Path, mode: str = "append"
) -> Counter[str]:
    """What the query writes with the extension off."""
    session.conf.set(ENABLED, "false")
    try:
        done = run(of_stream(session, sql, events, files=1000), folder, mode=mode)
        assert not done.joins
        return rows(session, folder)
    finally:
        session.conf.set(ENABLED, "true")


@pytest.mark.parametrize(
    "name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in JOINS]
)
def test_rows_are_those_of_spark_whenever_it_is_stopped(
    session: SparkSession,
    events: Events,
    draw: random.Random,
    tmp_path: Path,
    name: str,
    request: pytest.FixtureRequest,
) -> None:
    sql, accelerator, join_type = JOINS[name]
    batches = 200 if request.config.option.whole else 8
    runs: list[Run] = []
    while events.files < batches - 2:
        events.add(draw.randrange(3, 6 + batches // 10))
        frame = of_stream(session, sql, events)
        runs.append(run(frame, tmp_path / "on", stop_after=draw.randrange(1, 4 + batches // 10)))
    events.add(2)
    runs.append(run(of_stream(session, sql, events), tmp_path / "on"))
    for done in runs:
        assert {(a, t.split("(")[0]) for a, t in done.joins} == {(accelerator, join_type)}, (
            done.plan
        )
        assert done.count(BUILT) == 1, done.plans
        assert done.count(KEPT) == len(done.plans) - 1
    got = rows(session, tmp_path / "on")
    assert got == off(session, sql, events, tmp_path / "off")
    assert got or name == "absent"


@pytest.mark.parametrize("adaptive", ["false", "true"])
@pytest.mark.parametrize("name", ["interval", "anti", "keys"])
def test_with_adaptive_execution_and_without(
    session: SparkSession, events: Events, tmp_path: Path, name: str, adaptive: str
) -> None:
    """Spark has it for streams without state, from 4.1 on."""
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    session.conf.set("spark.sql.adaptive.streaming.stateless.enabled", adaptive)
    sql, accelerator, _ = JOINS[name]
    events.add(3)
    done = run(of_stream(session, sql, events), tmp_path / "on")
    assert {a for a, _ in done.joins} == {accelerator}, done.plan
    assert (done.count(BUILT), done.count(KEPT)) == (1, 2), done.plans
    assert rows(session, tmp_path / "on") == off(session, sql, events, tmp_path / "off")


@pytest.mark.parametrize("adaptive", ["false", "true"])
@pytest.mark.parametrize(
    "table",
    [
        "SELECT r.no, r.lo, min(l.y) + 40 AS hi FROM ranges r JOIN levels l ON r.no % 4 = l.no GROUP BY r.no, r.lo",
        "SELECT no, lo, hi FROM ranges UNION ALL SELECT no, y, y + 9 FROM levels",
        "SELECT r.no, r.lo, r.hi FROM ranges r JOIN levels l ON r.lo < l.y",
        "SELECT DISTINCT no, lo, hi FROM ranges ORDER BY hi LIMIT 9",
        "SELECT * FROM VALUES (1, 0, 50), (2, 20, 900) AS v(no, lo, hi)",
        "SELECT id AS no, id AS lo, id + 30 AS hi FROM range(0, 900, 90)",
    ],
    ids=["aggregate", "union", "join", "limit", "values", "range"],
)
def test_the_table_may_be_any_query(
    session: SparkSession, events: Events, tmp_path: Path, table: str, adaptive: str
) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    sql = f"SELECT e.*, r.no FROM events e LEFT JOIN ({table}) r ON {BETWEEN}"
    events.add(3)
    done = run(of_stream(session, sql, events), tmp_path / "on")
    assert ("interval", "LeftOuter") in done.joins, done.plan
    assert (done.count(BUILT), done.count(KEPT)) == (1, 2), done.plans
    assert rows(session, tmp_path / "on") == off(session, sql, events, tmp_path / "off")


@pytest.mark.parametrize(
    "table",
    [
        "SELECT no, lo + CAST(rand() * 3 AS INT) AS lo, hi FROM ranges",
        "SELECT no, lo, hi FROM ranges WHERE no < (SELECT max(no) FROM levels) * 5",
        "SELECT no, lo, hi FROM ranges WHERE current_timestamp() > TIMESTAMP'2024-01-01 00:00:00'",
    ],
    ids=["random", "subquery", "clock"],
)
def test_an_index_of_other_rows_each_time_is_not_kept(
    session: SparkSession, events: Events, tmp_path: Path, table: str
) -> None:
    sql = f"SELECT e.*, r.no FROM events e JOIN ({table}) r ON {BETWEEN}"
    events.add(3)
    done = run(of_stream(session, sql, events), tmp_path / "on")
    assert {a for a, _ in done.joins} == {"interval"}, done.plan
    assert done.count(KEPT) == 0, done.plans


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT e.*, p.no FROM events e, LATERAL (SELECT no FROM prices WHERE since <= e.t ORDER BY since DESC LIMIT 1) p",
        """SELECT e.*, p.no FROM events e LEFT JOIN LATERAL
        (SELECT no FROM prices p WHERE p.since <= e.t AND p.no % 3 = e.k ORDER BY since DESC LIMIT 2) p ON true""",
        "SELECT e.*, (SELECT max_by(no, since) FROM prices p WHERE p.since <= e.t) AS no FROM events e",
    ],
    ids=["lateral", "left-lateral", "max-by"],
)
def test_the_row_before_where_spark_refuses_the_query(
    session: SparkSession, events: Events, tmp_path: Path, sql: str
) -> None:
    """Spark would keep state to find it. The rows are those of a table of events."""
    events.add(4)
    done = run(of_stream(session, sql, events), tmp_path / "on")
    assert {a for a, _ in done.joins} == {"nearest"}, done.plan
    assert (done.count(BUILT), done.count(KEPT)) == (1, 3), done.plans
    events.table(session).createOrReplaceTempView("events")
    session.conf.set(ENABLED, "false")
    expected = Counter(str(tuple(row)) for row in session.sql(sql).collect())
    assert rows(session, tmp_path / "on") == expected
    with pytest.raises(StreamingQueryException, match="WITHOUT_WATERMARK"):
        run(of_stream(session, sql, events), tmp_path / "off")


def test_the_row_before_is_left_to_spark_where_it_keeps_state(
    session: SparkSession, events: Events, tmp_path: Path
) -> None:
    events.add(4)
    sql = "SELECT e.id, (SELECT max_by(no, since) FROM prices p WHERE p.since <= e.t) AS no FROM late e"
    for enabled in ("false", "true"):
        session.conf.set(ENABLED, enabled)
        events.stream(session).withWatermark("t", "5 minutes").createOrReplaceTempView("late")
        done = run(session.sql(sql), tmp_path / enabled)
        assert "nearest" not in {a for a, _ in done.joins} and "StateStore" in done.plan
    assert rows(session, tmp_path / "true") == rows(session, tmp_path / "false")


def test_several_joins_of_a_query_keep_an_index_each(
    session: SparkSession, events: Events, tmp_path: Path
) -> None:
    sql = f"""SELECT e.*, r.no, l.no AS level, p.pattern FROM events e LEFT JOIN ranges r ON {BETWEEN}
        LEFT JOIN levels l ON e.x < l.y LEFT JOIN patterns p ON e.s LIKE p.pattern
        WHERE NOT EXISTS (SELECT 1 FROM ranges o WHERE e.id BETWEEN o.lo AND o.lo + 2)"""
    events.add(4)
    done = run(of_stream(session, sql, events), tmp_path / "on")
    assert {a for a, _ in done.joins} == {"interval", "piecewise", "patterns"}, done.plan
    assert KEPT not in done.plans[0] and all(BUILT not in plan for plan in done.plans[1:])
    assert done.count(BUILT) == 1 and done.count(KEPT) == 3
    assert rows(session, tmp_path / "on") == off(session, sql, events, tmp_path / "off")


def test_state_above_a_join_is_that_of_spark(
    session: SparkSession, events: Events, tmp_path: Path
) -> None:
    """A query that began with the extension off goes on with it on, and the other way around."""
    sql = f"""SELECT window(t, '10 minutes') AS w, no, count(*) AS n, max(hi) AS hi, sum(id) AS s
        FROM late e JOIN ranges r ON {BETWEEN} GROUP BY window(t, '10 minutes'), no"""
    events.add(9)

    def written(folder: Path, *steps: tuple[str, int | None]) -> Counter[str]:
        for enabled, stop in steps:
            events.stream(session).withWatermark("t", "5 minutes").createOrReplaceTempView("late")
            session.conf.set(ENABLED, enabled)
            done = run(session.sql(sql), folder, stop)
            assert bool(done.joins) == (enabled == "true"), done.plan
        return rows(session, folder)

    off = written(tmp_path / "off", ("false", None))
    assert off
    assert off == written(tmp_path / "on", ("true", None))
    assert off == written(tmp_path / "off-on", ("false", 3), ("true", 2), ("false", None))
    assert off == written(tmp_path / "on-off", ("true", 3), ("false", 2), ("true", None))


def test_input_rows_are_reported_as_before(
    session: SparkSession, events: Events, tmp_path: Path
) -> None:
    """All of the file, since a left join needs every row: an inner one would not read those without a key."""
    events.add(4)
    frame = of_stream(session, JOINS["left"][0], events)
    assert run(frame, tmp_path / "on").input_rows == len(events.rows)


def lines(path: Path, low: int) -> None:
    path.write_text("".join(f"{n},{low + n},{low + n + 300}\n" for n in range(9)))


def test_a_file_that_changes_is_read_anew(
    session: SparkSession, events: Events, tmp_path: Path
) -> None:
    """Spark lists the files of a DataFrame once. Of those it reads what they hold now."""
    events.add(1)
    found = {}
    for enabled in ("false", "true"):
        table = tmp_path / f"table-{enabled}"
        table.mkdir()
        lines(table / "a.csv", 100)
        session.conf.set(ENABLED, enabled)
        ranges = session.read.schema("no LONG, lo LONG, hi LONG").csv(str(table))
        ranges.createOrReplaceTempView("changing")
        sql = f"SELECT e.*, r.no FROM events e LEFT JOIN changing r ON {BETWEEN}"
        changes = [
            lambda: None,
            lambda: None,
            partial(lines, table / "b.csv", 0),
            partial(lines, table / "a.csv", 500),
            lambda: None,
        ]
        source = Events(tmp_path / f"events-{enabled}", random.Random(5))
        done = run_steps(of_stream(session, sql, source), tmp_path / enabled, source, changes)
        found[enabled] = rows(session, tmp_path / enabled)
        if enabled == "true":
            assert {a for a, _ in done.joins} == {"interval"}
            assert [BUILT in plan for plan in done.plans] == [True, False, False, True, False]
    assert found["true"] == found["false"]


def test_a_cached_table_is_kept_until_it_is_cached_anew(
    session: SparkSession, events: Events, tmp_path: Path
) -> None:
    found = {}
    for enabled in ("false", "true"):
        session.conf.set(ENABLED, enabled)
        path = str(tmp_path / f"table-{enabled}")
        session.table("ranges").write.parquet(path)
        cached = session.read.parquet(path).where("no % 2 = 0").cache()
        cached.createOrReplaceTempView("cached")
        sql = f"SELECT e.*, r.no FROM events e LEFT JOIN cached r ON {BETWEEN}"

        more = session.table("ranges").where("no < 20").write.mode("append")
        changes = [lambda: None, lambda: None, partial(more.parquet, path), lambda: None]
        source = Events(tmp_path / f"events-{enabled}", random.Random(6))
        done = run_steps(of_stream(session, sql, source), tmp_path / enabled, source, changes)
        found[enabled] = rows(session, tmp_path / enabled)
        cached.unpersist()
        if enabled == "true":
            assert {a for a, _ in done.joins} == {"interval"}, done.plan
            kept = [KEPT in plan for plan in done.plans if "KeptBroadcast" in plan]
            assert kept == [False, True, False, True], done.plans
    assert found["true"] == found["false"]


def test_a_stream_of_no_rows(session: SparkSession, events: Events, tmp_path: Path) -> None:
    events.add(3, rows=0)
    events.add(1)
    for name in ("left", "anti", "empty"):
        sql, accelerator, _ = JOINS[name]
        done = run(of_stream(session, sql, events), tmp_path / name)
        assert {a for a, _ in done.joins} == {accelerator}
        assert rows(session, tmp_path / name) == off(session, sql, events, tmp_path / f"off-{name}")


def test_two_streams_are_joined_by_spark(
    session: SparkSession, events: Events, tmp_path: Path
) -> None:
    events.add(3)
    for name in ("a", "b"):
        events.stream(session).withWatermark("t", "1 minute").createOrReplaceTempView(name)
    sql = """SELECT a.id, b.id AS other FROM a JOIN b
        ON a.k = b.k AND a.t BETWEEN b.t AND b.t + INTERVAL 9 SECONDS"""
    # Spark has no EXPLAIN of a query in SQL that reads a stream.
    joined = session.table("a").join(session.table("b").select("k", "id"), "k")
    (report,) = thetajoin.explain_joins(joined)
    assert report.reason_code == "STREAMING" and report.join_type == "Inner"
    done = run(session.sql(sql), tmp_path / "on")
    assert not done.joins and "StreamingSymmetricHashJoin" in done.plan
    session.conf.set(ENABLED, "false")
    run(session.sql(sql), tmp_path / "off")
    assert rows(session, tmp_path / "on") == rows(session, tmp_path / "off")


def test_explain_says_that_an_index_is_kept(
    session: SparkSession, events: Events, tmp_path: Path
) -> None:
    events.add(2)
    told: list[str] = []

    def look(query: StreamingQuery) -> None:
        query.awaitTermination()
        execution = query._jsq.streamingQuery().lastExecution()
        mode = session._jvm.org.apache.spark.sql.execution.ExplainMode.fromString("simple")
        told.append(execution.explainString(mode))

    run(of_stream(session, JOINS["interval"][0], events), tmp_path / "on", during=look)
    assert re.search(
        rf"KeptBroadcast ThetaBroadcastMode\(interval, .*\), {KEPT}\n.*UnreadRows", told[0]
    )
    assert f"note: the index is {KEPT}" in told[0]
