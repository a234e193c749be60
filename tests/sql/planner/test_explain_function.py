"""`thetajoin_explain` explains a query, and runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

STATEMENTS = [
    "DROP TABLE kept",
    "DROP TABLE IDENTIFIER('kept')",
    "TRUNCATE TABLE kept",
    "ALTER TABLE kept RENAME TO lost",
    "INSERT INTO kept VALUES (7)",
    "INSERT INTO IDENTIFIER('kept') VALUES (7)",
    "INSERT OVERWRITE kept SELECT 7",
    "INSERT OVERWRITE DIRECTORY '{folder}' USING parquet SELECT 7 AS x",
    "WITH seven AS (SELECT 7) INSERT INTO kept SELECT * FROM seven",
    "FROM kept INSERT INTO kept SELECT x + 1",
    "FROM kept INSERT INTO kept SELECT 7 INSERT INTO kept SELECT 8",
    "FROM kept INSERT OVERWRITE DIRECTORY '{folder}' USING parquet SELECT x",
    "CREATE TABLE made USING parquet AS SELECT 7 AS x",
    "CREATE TABLE IDENTIFIER('made') (x INT) USING parquet",
    "CREATE VIEW made AS SELECT 7 AS x",
    "CREATE TEMP VIEW made AS SELECT 7 AS x",
    "CREATE DATABASE made",
    "CREATE TEMP FUNCTION made AS 'no.such.Class'",
    "CACHE TABLE kept",
    "SET spark.sql.shuffle.partitions=9",
    "SET VAR counted = 9",
    "RESET spark.sql.shuffle.partitions",
    "USE another",
    "ADD JAR '{folder}/some.jar'",
    "EXECUTE IMMEDIATE 'DROP TABLE kept'",
    "EXECUTE IMMEDIATE 'SELECT 9' INTO counted",
    "EXECUTE IMMEDIATE 'SELECT 7'",
    "BEGIN DROP TABLE kept; END",
    "BEGIN IF true THEN INSERT INTO kept VALUES (7); END IF; SELECT 1; END",
    "CALL some.procedure(1)",
    "EXPLAIN SELECT * FROM kept AS a JOIN kept AS b ON a.x > b.x",
    "EXPLAIN DROP TABLE kept",
    "SHOW TABLES",
    "SELECT * FROM thetajoin_explain('DROP TABLE kept')",
]


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    session = spark.newSession()
    session.conf.set("spark.sql.scripting.enabled", "true")
    session.conf.set("spark.sql.shuffle.partitions", "3")
    session.sql("DECLARE VARIABLE counted INT DEFAULT 1")
    session.sql("CREATE DATABASE another")
    session.sql("CREATE TABLE kept USING parquet AS SELECT 1 AS x")
    yield session
    session.sql("USE default")
    session.sql("DROP TABLE IF EXISTS kept")
    session.sql("DROP DATABASE another")


def state(session: SparkSession, folder: Path) -> list[object]:
    """All that the statements would change."""
    queries = [
        "SELECT * FROM default.kept",
        "SHOW TABLES IN default",
        "SHOW DATABASES",
        "SHOW USER FUNCTIONS",
        "SELECT current_database(), counted",
        "SET spark.sql.shuffle.partitions",
        "LIST JARS",
    ]
    cached = session.catalog.isCached("default.kept")
    return [*(session.sql(query).collect() for query in queries), cached, list(folder.iterdir())]


def answer(session: SparkSession, sql: str) -> str:
    """The rows or the error as text: EXPLAIN gives an error in a row."""
    try:
        return str(session.sql(sql).collect())
    except PySparkException as e:
        return str(e)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_is_no_query_is_refused_and_not_run(
    session: SparkSession, tmp_path: Path, statement: str
) -> None:
    text = statement.format(folder=tmp_path).replace("'", "\\'")
    call = f"SELECT * FROM thetajoin_explain('{text}')"
    before = state(session, tmp_path)
    for sql in (call, f"EXPLAIN {call}", f"CREATE VIEW v AS {call}", f"CACHE TABLE v AS {call}"):
        told = answer(session, sql)
        assert state(session, tmp_path) == before
        assert "INVALID_EXPLAIN_CALL" in told and "it is no query and was not run" in told


def test_queries_of_any_form_are_explained(session: SparkSession) -> None:
    for query in (
        "SELECT * FROM kept AS a JOIN kept AS b ON a.x > b.x;",
        "WITH a AS (SELECT * FROM kept) SELECT * FROM a JOIN kept AS b ON a.x > b.x -- the end",
        "FROM kept AS a JOIN kept AS b ON a.x > b.x SELECT a.x",
        "SELECT * FROM IDENTIFIER('kept') AS a JOIN kept AS b ON a.x > b.x",
        "SELECT * FROM (VALUES (1)) AS a(x) JOIN (TABLE kept) AS b ON a.x > b.x",
    ):
        text = query.replace("'", "\\'")
        (row,) = session.sql(f"SELECT * FROM thetajoin_explain('{text}')").collect()
        assert row.accelerator == "piecewise"
