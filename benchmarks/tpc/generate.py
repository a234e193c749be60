"""Write the tables of a scale as Parquet, and DuckDB's texts of all queries.

Runs in an environment of its own, that of requirements/tpc.txt, and imports nothing from here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb


def main(folder: Path, scale: str) -> None:
    """Fill an empty folder: `h/` and `ds/` with a file a table, and `queries.json`."""
    command = Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run([command, "parquet", "--quiet", "-s", scale, "-o", folder / "h"], check=True)
    (folder / "ds").mkdir()
    connection = duckdb.connect()
    connection.execute(f"CALL dsdgen(sf = {scale})")
    for (table,) in connection.execute("SHOW TABLES").fetchall():
        connection.execute(f"COPY {table} TO '{folder}/ds/{table}.parquet'")
    texts = {
        f"{suite}:{number}": text
        for suite in ("h", "ds")
        for number, text in connection.execute(
            f"SELECT query_nr, query FROM tpc{suite}_queries() ORDER BY query_nr"
        ).fetchall()
    }
    (folder / "queries.json").write_text(json.dumps(texts))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
