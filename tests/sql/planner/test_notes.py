"""What EXPLAIN says beside the accelerator of a join: all pairs compared, words that are not used."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import thetajoin
from pyspark.sql import SparkSession
from sessions import release


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    session = spark.newSession()
    session.sql("SELECT id AS x FROM range(5)").createOrReplaceTempView("a")
    session.sql("SELECT id AS y FROM range(8)").createOrReplaceTempView("b")
    session.sql("CREATE TABLE c USING parquet AS SELECT id AS z FROM range(9)")
    yield session
    session.sql("DROP TABLE c")


def notes(session: SparkSession, sql: str) -> list[str]:
    """Of all joins of the query, as EXPLAIN has them; the SQL function says the same."""
    text = sql.replace("'", "\\'")
    rows = session.sql(f"SELECT * FROM thetajoin_explain('{text}') ORDER BY join_number").collect()
    reports = thetajoin.explain_joins(session.sql(sql))
    assert [tuple(row.notes) for row in rows] == [report.notes for report in reports]
    return [note for report in reports for note in report.notes]


@pytest.mark.parametrize(
    ("select", "on", "why"),
    [
        ("count(*), sum(x * y)", "x < y", "reads the side that is not built"),
        ("collect_list(y)", "x < y", "has no buffers of a fixed length"),
        ("max(string(y))", "x < y", "has no buffers of a fixed length"),
        ("count(y)", "x < y AND (x + y) % 3 = 0", "is tested on each pair"),
        ("y, count(*)", "x < y", "of the side that is built"),
    ],
)
def test_an_aggregate_that_takes_pairs_says_why(
    session: SparkSession, select: str, on: str, why: str
) -> None:
    group = f"GROUP BY {'y' if select.startswith('y') else 'x'}"
    query = f"SELECT /*+ BROADCAST(b) */ {select} FROM a JOIN b ON {on} {group}"
    (note,) = [note for note in notes(session, query) if "PAIRS_LISTED" in note]
    assert why in note
    session.conf.set("spark.thetajoin.aggregate.enabled", "false")
    assert notes(session, query)[-1:] == [note]


def test_an_aggregate_of_runs_has_no_reason(session: SparkSession) -> None:
    query = "SELECT /*+ BROADCAST(b) */ x, sum(y) FROM a JOIN b ON x < y GROUP BY x"
    assert not [note for note in notes(session, query) if "PAIRS_LISTED" in note]
    frame = session.sql(query)
    frame.collect()
    assert not [n for report in thetajoin.explain_joins(frame) for n in report.notes]


def test_all_pairs_and_what_would_save_them_are_told(session: SparkSession) -> None:
    (report,) = thetajoin.explain_joins(session.sql("SELECT * FROM a JOIN b ON x <> y"))
    assert report.notes == (
        "all pairs of rows are compared one by one, 40 by estimate: no index serves the condition",
    )
    told = {line.split(",")[0]: line for line in report.passed_over}
    others = {"existence", "containment", "wildcard", "patterns", "vector", "similar", "anyof"}
    assert told.keys() == {"interval", "boxes", "piecewise"} | others
    assert told["piecewise"].endswith(
        "Rewrite the condition so that each side of a comparison reads one table."
    )


@pytest.mark.parametrize("kind", ["EXACT", "APPROX"])
def test_that_approximate_matches_are_exact_is_told(session: SparkSession, kind: str) -> None:
    if release(session) < (4, 2):
        pytest.skip("NEAREST BY came with Spark 4.2")
    session.conf.set("spark.sql.crossJoin.enabled", "true")
    nearest = f"SELECT * FROM a JOIN b {kind} NEAREST 1 BY DISTANCE abs(x - y)"
    assert notes(session, nearest) == ["APPROX is answered exactly"] * (kind == "APPROX")


@pytest.mark.parametrize(
    "join",
    [
        "a JOIN b ON x > y",
        "a JOIN b ON x > y AND x <> y",
        "a LEFT SEMI JOIN b ON x = y",
        "a LEFT ANTI JOIN b ON x = y AND x + y > 3",
        "a CROSS JOIN b",
    ],
)
def test_joins_that_an_index_serves_have_no_losers(session: SparkSession, join: str) -> None:
    (report,) = thetajoin.explain_joins(session.sql(f"SELECT * FROM {join}"))
    assert report.accelerated and (report.passed_over, report.notes) == ((), ())


def test_joins_left_to_spark_have_losers(session: SparkSession) -> None:
    session.conf.set("spark.thetajoin.accelerator.nestedloop.enabled", "false")
    (report,) = thetajoin.explain_joins(session.sql("SELECT * FROM a JOIN b ON x <> y"))
    assert report.reason_code == "NO_ACCELERATOR" and len(report.passed_over) == 11


MISSPELT = {
    "THETA_JOIN(intervall)": ["intervall"],
    "theta_join(nix)": ["nix"],
    "THETA_JOIN(a, 3)": ["3"],
    "THETA_JOIN(a, nix, 'text')": ["nix", "text"],
    "NO_THETA_JOIN(nix)": ["nix"],
    "RANGE_JOIN(nix, 10)": ["nix"],
    "THETA_JOIN(s.a)": ["s.a"],
}

QUERIES = [
    "SELECT {} * FROM a JOIN b ON x > y",
    "SELECT {} * FROM a, b WHERE x > y AND x < 4 AND y + 1 > 2",
    "SELECT {} count(*) FROM a LEFT JOIN b ON x > y",
    "SELECT {} x, z FROM a JOIN c ON x > z WHERE z % 2 = 0",
    "SELECT {} a.x FROM a WHERE EXISTS (SELECT 1 FROM b WHERE y > x)",
    "SELECT * FROM (SELECT {} x + y AS s FROM a FULL JOIN b ON x > y) WHERE s > 3 ORDER BY s LIMIT 2",
    "SELECT {} * FROM a JOIN b ON x > y JOIN c ON z = x JOIN b AS d ON d.y = x",
]


@pytest.mark.parametrize("hint", MISSPELT)
@pytest.mark.parametrize("query", QUERIES)
def test_words_of_hints_that_name_nothing_are_noted(
    session: SparkSession, query: str, hint: str
) -> None:
    told = notes(session, query.format(f"/*+ {hint} */"))
    name = hint.split("(")[0].upper()
    words = [note.split(" in the hint ")[0] for note in told if f"in the hint {name} " in note]
    assert words == MISSPELT[hint]


@pytest.mark.parametrize("query", QUERIES)
def test_a_hint_that_names_nothing_does_not_change_the_plan(
    session: SparkSession, query: str
) -> None:
    def plan(hint: str) -> str:
        optimized = session.sql(query.format(hint))._jdf.queryExecution().optimizedPlan()
        return str(optimized.canonicalized().toString())

    for hint in ("THETA_JOIN(nix)", "NO_THETA_JOIN(nix)", "RANGE_JOIN(nix, 10)"):
        assert plan(f"/*+ {hint} */") == plan("")


def test_notes_stay_with_their_query(session: SparkSession) -> None:
    a, b = session.table("a"), session.table("b")
    hinted = a.join(b.hint("THETA_JOIN", "nix"), a.x > b.y)
    (note,) = thetajoin.explain_joins(hinted)[0].notes
    assert note.startswith("nix in the hint THETA_JOIN is not used")
    assert notes(session, "SELECT /*+ THETA_JOIN(nix) */ * FROM a JOIN b ON x > y")
    assert thetajoin.explain_joins(a.join(b, a.x > b.y))[0].notes == ()
    assert notes(session, "SELECT * FROM a JOIN b ON x > y") == []


def test_hints_that_name_something_have_no_note(session: SparkSession) -> None:
    for hint in ("THETA_JOIN(a)", "THETA_JOIN(interval)", "NO_THETA_JOIN", "NO_THETA_JOIN(b)"):
        assert (
            notes(session, f"SELECT /*+ {hint} */ * FROM a JOIN b ON x BETWEEN y AND y + 1") == []
        )


def test_unknown_settings_are_noted(session: SparkSession) -> None:
    session.conf.set("spark.thetajoin.enable", "false")
    session.conf.set("spark.thetajoin.accelerator.intervall.enabled", "false")
    session.conf.set("spark.thetajoin.accelerator.interval.enabled", "true")
    sql = "SELECT * FROM a JOIN b ON x > y JOIN c ON z < x"
    assert [note.split(" is set, but")[0] for note in notes(session, sql)] == [
        "spark.thetajoin.accelerator.intervall.enabled",
        "spark.thetajoin.enable",
    ]
    session.conf.set("spark.thetajoin.enabled", "false")
    assert notes(session, sql) == []


def test_node_lines_hold_keys_and_no_internals(session: SparkSession) -> None:
    for on in ("x BETWEEN y AND y + 1", "x > y", "x - y > 3", "x <> y"):
        rows = session.sql(f"EXPLAIN FORMATTED SELECT * FROM a JOIN b ON {on}").collect()
        (mode,) = (line for line in rows[0][0].splitlines() if "ThetaBroadcastMode" in line)
        assert "Spec" not in mode and "orderedlong" not in mode and "boundedsum" not in mode
        assert "[]" in mode or "input[0, bigint, true]" in mode


def test_the_entry_of_a_map_is_looked_up_in_place_of_its_key(session: SparkSession) -> None:
    session.sql("SELECT map(x, x + 1) AS m FROM a").createOrReplaceTempView("maps")
    session.sql("SELECT y, y + 2 AS z FROM b").createOrReplaceTempView("entries")
    query = "SELECT * FROM maps JOIN entries ON map_contains_key(m, y) AND m[y] = z"
    (report,) = thetajoin.explain_joins(session.sql(query))
    assert report.accelerator == "containment"
    assert [("map_entries" in index, "map_keys" in index) for index in report.index] == [
        (True, False)
    ]


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_explain_ahead_of_the_run_shows_aggregates_in_place_of_pairs(
    session: SparkSession, adaptive: str
) -> None:
    session.conf.set("spark.sql.adaptive.enabled", adaptive)
    query = "EXPLAIN SELECT x, count(*), sum(y) FROM a JOIN b ON y <= x GROUP BY x"
    assert "aggregated: [count(1), sum(y" in session.sql(query).head()[0]
    session.conf.set("spark.thetajoin.aggregate.enabled", "false")
    assert "aggregated: [" not in session.sql(query).head()[0]
