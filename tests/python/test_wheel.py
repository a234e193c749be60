"""Wheel and sdist: what is in them, and each beside pyspark alone in an empty virtual environment."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pyspark
import pytest
import thetajoin

ROOT = Path(__file__).resolve().parents[2]
VERSION = thetajoin.__version__
OLDEST_SPARK = "4.0.5"
LICENCES = (
    "LICENSE",
    "NOTICE",
    "licenses/LICENSE-geographiclib.txt",
    "licenses/LICENSE-jts-core.txt",
)
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
def wheel() -> Path:
    run("make", "wheel", cwd=ROOT)
    return ROOT / "dist" / f"thetajoin-{VERSION}-py3-none-any.whl"


@pytest.fixture(scope="module")
def sdist(wheel: Path) -> Path:
    return wheel.with_name(f"thetajoin-{VERSION}.tar.gz")


def contents(package: Path) -> dict[str, bytes]:
    """The files of a wheel by name, or of an sdist without its top folder."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    with tarfile.open(package) as archive:
        files = [(member, archive.extractfile(member)) for member in archive]
        return {member.name.partition("/")[2]: file.read() for member, file in files if file}


def test_licences_are_in_wheel_and_jar(wheel: Path, sdist: Path) -> None:
    in_wheel, in_sdist = contents(wheel), contents(sdist)
    with zipfile.ZipFile(io.BytesIO(in_wheel["thetajoin/jars/thetajoin.jar"])) as jar:
        names = jar.namelist()
        for name in LICENCES:
            text = (ROOT / name).read_bytes()
            assert in_wheel[f"thetajoin-{VERSION}.dist-info/licenses/{name}"] == text
            assert in_sdist[name] == text
            assert jar.read(f"META-INF/{name}") == text
    # All that is not ours is of projects that NOTICE names.
    ours = ("thetajoin/", "org/apache/spark/sql/execution/thetabridge/", "META-INF/")
    assert [name for name in names if not name.endswith("/") and not name.startswith(ours)] == []
    shaded = {
        "/".join(name.split("/")[:3]) for name in names if name.startswith("thetajoin/shaded/")
    }
    assert shaded - {"thetajoin/shaded/"} == {
        "thetajoin/shaded/geographiclib",
        "thetajoin/shaded/jts",
    }


@pytest.mark.parametrize("name", ["jts-core", "GeographicLib-Java"])
def test_the_notice_names_the_version(name: str) -> None:
    version = re.search(rf'"{name}" % "([\d.]+)"', (ROOT / "build.sbt").read_text())
    assert version
    assert f"{name} {version[1]})" in (ROOT / "NOTICE").read_text()


def test_the_jar_is_in_the_sdist(wheel: Path, sdist: Path) -> None:
    jar = contents(wheel)["thetajoin/jars/thetajoin.jar"]
    assert contents(sdist)["src/thetajoin/jars/thetajoin.jar"] == jar


def test_both_pass_the_check_of_the_index(wheel: Path, sdist: Path) -> None:
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist, cwd=ROOT)


def test_metadata_say_what_an_index_shows(wheel: Path) -> None:
    metadata = message_from_bytes(contents(wheel)[f"thetajoin-{VERSION}.dist-info/METADATA"])
    assert metadata["License-Expression"] == "Apache-2.0 AND BSD-3-Clause AND MIT"
    assert set(metadata.get_all("License-File", [])) == set(LICENCES)
    labels = {url.partition(",")[0] for url in metadata.get_all("Project-URL", [])}
    assert {"Repository", "Issues", "Changelog"} <= labels
    assert metadata["Keywords"] and metadata["Author"]
    # A plain dependency would put another Spark beside that of a cluster.
    needed = metadata.get_all("Requires-Dist", [])
    assert needed and all("; extra == '" in line for line in needed)
    assert all(line.endswith("extra == 'spark'") for line in needed if "pyspark" in line)


@pytest.fixture(
    scope="module",
    params=[(p, v) for p in ("wheel", "sdist") for v in (pyspark.__version__, OLDEST_SPARK)],
    ids="-".join,
)
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the package and what pyspark needs."""
    kind, spark = request.param
    package = request.getfixturevalue(kind)
    folder = tmp_path_factory.mktemp(kind)
    venv.create(folder, with_pip=True)
    interpreter = folder / "bin" / "python"
    # A pip that has this pyspark in its cache takes it from there.
    run(interpreter, "-m", "pip", "install", package, f"pyspark=={spark}", cwd=folder)
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
    out = run(python.parent / "thetajoin", "doctor", cwd=tmp_path)
    assert "ok    join     ran as BroadcastThetaJoin" in out
    assert not list(tmp_path.iterdir())


def test_the_command_is_the_module(python: Path, tmp_path: Path) -> None:
    versions = {
        run(*command, "--version", cwd=tmp_path)
        for command in ([python.parent / "thetajoin"], [python, "-m", "thetajoin"])
    }
    assert versions == {f"{VERSION}\n"}


def test_types_are_there_for_type_checkers(python: Path) -> None:
    (marker,) = python.parent.parent.glob("lib/python*/site-packages/thetajoin/py.typed")
    assert marker.is_file()
