"""The queries: DuckDB's texts, what is replaced in them for Spark, and the tables they read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tables import FILES

REQUIREMENTS = Path("requirements/tpc.txt")
PYTHON = Path("build/tpc/bin/python")
SUITES = {"h": "TPC-H", "ds": "TPC-DS"}
NAMES = (*(f"h:{number}" for number in range(1, 23)), *(f"ds:{number}" for number in range(1, 100)))

# What is replaced in all texts: a name that is a keyword since DuckDB 2.0.
SUBSTITUTIONS = ((") AT,", ") morning,"),)
# And for Spark: the quotes of names.
SPARK_SUBSTITUTIONS = (('"', "`"),)


@dataclass(frozen=True)
class TpcQuery:
    """A query of one of the suites; `text` is for DuckDB."""

    name: str
    text: str

    @property
    def suite(self) -> str:
        """The key of its suite, which is also the folder of its tables."""
        return self.name.partition(":")[0]

    @property
    def spark(self) -> str:
        """The text for Spark."""
        return _replace(self.text, SPARK_SUBSTITUTIONS)


def _replace(text: str, substitutions: tuple[tuple[str, str], ...]) -> str:
    for old, new in substitutions:
        text = text.replace(old, new)
    return text


def unlimited(text: str) -> str:
    """A text without the LIMIT at its end."""
    return re.sub(r"\bLIMIT \d+\s*;?\s*$", "", text)


def files(scale: float) -> Path:
    """The folder with the tables and texts; it is made if it is not there."""
    folder = FILES / f"tpc-{scale:g}"
    if not folder.exists():
        print(f"Writing {folder.name}", flush=True)
        unfinished = FILES / f"{folder.name}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        script = Path(__file__).with_name("generate.py")
        subprocess.run([PYTHON, script, unfinished, f"{scale:g}"], check=True)
        unfinished.rename(folder)
    return folder


def generators() -> str:
    """The packages that made them."""
    lines = REQUIREMENTS.read_text().splitlines()
    return ", ".join(line.replace("==", " ") for line in lines if not line.startswith("#"))


def read(folder: Path, names: list[str]) -> list[TpcQuery]:
    """The queries of these names."""
    texts = json.loads((folder / "queries.json").read_text())
    return [TpcQuery(name, _replace(texts[name], SUBSTITUTIONS)) for name in names]
