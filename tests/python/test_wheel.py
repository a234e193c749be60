"""The wheel beside pyspark alone, in an empty virtual environment."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path

import pyspark
import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow

PROGRAM = """
import thetajoin
from pyspark.sql import SparkSession
print("jar:", thetajoin.jar_path())
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = thetajoin.configure(builder).getOrCreate()
df = spark.sql("SELECT count(*) FROM range(50) AS a JOIN range(50) AS b ON a.id > b.id")
print("pairs:", df.first()[0], *thetajoin.explain_joins(df))
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command outside of the checkout's own paths; its output."""
    ours = ("PYTHONPATH", "SPARK_HOME", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    env = {name: value for name, value in os.environ.items() if name not in ours}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel and what pyspark needs."""
    run("make", "wheel", cwd=ROOT)
    wheel = max(ROOT.glob("dist/thetajoin-*.whl"), key=lambda path: path.stat().st_mtime)
    folder = tmp_path_factory.mktemp("wheel")
    venv.create(folder, with_pip=True)
    interpreter = folder / "bin" / "python"
    # A pip that has this pyspark in its cache takes it from there.
    run(interpreter, "-m", "pip", "install", wheel, f"pyspark=={pyspark.__version__}", cwd=folder)
    return interpreter


def test_nothing_else_is_installed(python: Path) -> None:
    listed = run(python, "-m", "pip", "list", "--format=freeze", cwd=python.parent)
    names = {line.partition("==")[0] for line in listed.splitlines()}
    assert names - {"pip", "setuptools"} == {"thetajoin", "pyspark", "py4j"}


def test_configure_gives_an_accelerated_session(python: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    out = run(python, "program.py", cwd=tmp_path)
    jar = Path(out.partition("jar: ")[2].splitlines()[0])
    assert jar.is_relative_to(python.parent.parent)
    assert "pairs: 1225" in out
    assert "accelerated by piecewise" in out


def test_doctor_finds_it_healthy(python: Path, tmp_path: Path) -> None:
    out = run(python, "-m", "thetajoin", "doctor", cwd=tmp_path)
    assert "ok    join     ran as BroadcastThetaJoin" in out
    assert not list(tmp_path.iterdir())


def test_types_are_there_for_type_checkers(python: Path) -> None:
    (marker,) = python.parent.parent.glob("lib/python*/site-packages/thetajoin/py.typed")
    assert marker.is_file()
