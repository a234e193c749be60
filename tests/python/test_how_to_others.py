"""What pages of docs/how-to say of other systems runs there, on the tables of the page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import chdb
import duckdb
import how_to
import pandas
import polars
import pyarrow
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

Tables = dict[str, pyarrow.Table]
PAGES = [how_to.read(path) for path in how_to.PAGES]
# What needs an extension that DuckDB fetches from its own server.
FETCHED = {"points-in-polygons"}


def in_duckdb(form: str, tables: Tables, folder: Path) -> int:
    with duckdb.connect() as connection:
        for name, rows in tables.items():
            connection.register("rows", rows)
            connection.execute(f"CREATE TABLE {name} AS FROM rows")
        return len(connection.execute(form).fetchall())


def in_polars(form: str, tables: Tables, folder: Path) -> int:
    frames = {name: polars.from_arrow(rows) for name, rows in tables.items()}
    rows = eval(form, {"pl": polars, "timedelta": timedelta, **frames})
    assert isinstance(rows, polars.DataFrame)
    return rows.height


def in_pandas(form: str, tables: Tables, folder: Path) -> int:
    frames = {name: rows.to_pandas().sort_values("at") for name, rows in tables.items()}
    rows = eval(form, {"pandas": pandas, **frames})
    return len(rows)


def in_clickhouse(form: str, tables: Tables, folder: Path) -> int:
    with chdb.connect(":memory:") as connection:
        for name, rows in tables.items():
            file = folder / f"{name}.parquet"
            parquet.write_table(rows, file)
            # A key of an ASOF join can't be null.
            connection.query("SET schema_inference_make_columns_nullable = 0")
            connection.query(f"CREATE VIEW {name} AS SELECT * FROM file('{file}', Parquet)")
        return len(str(connection.query(form, "CSV")).splitlines())


SYSTEMS: dict[str, Callable[[str, Tables, Path], int]] = {
    "DuckDB": in_duckdb,
    "Polars": in_polars,
    "ClickHouse": in_clickhouse,
    "pandas": in_pandas,
}
FORMS = [
    (page, system)
    for page in PAGES
    for system in page.others
    if system in SYSTEMS and (system != "DuckDB" or page.path.stem not in FETCHED)
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "system"), FORMS, ids=lambda v: v if isinstance(v, str) else v.path.stem
)
def test_the_form_of_another_system_runs(
    spark: SparkSession, page: how_to.Page, system: str, tmp_path: Path
) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    for statement in page.setup:
        session.sql(statement)
    tables = {
        view.name: session.table(view.name).toArrow() for view in session.catalog.listTables()
    }
    assert SYSTEMS[system](page.others[system], tables, tmp_path) > 0


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if "RANGE_JOIN" in p.others.get("Databricks", "")],
    ids=lambda p: p.path.stem,
)
def test_the_hint_of_databricks_is_read(spark: SparkSession, page: how_to.Page) -> None:
    session = spark.newSession()
    for statement in page.setup:
        session.sql(statement)
    assert session.sql(page.others["Databricks"]).count() > 0


def test_systems_are_found() -> None:
    assert {system for _, system in FORMS} == set(SYSTEMS)
    assert len(FORMS) > 40
