"""What configure(builder) and jar_path() do, on builders that start no session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest
import thetajoin
from pyspark import SparkContext
from pyspark.sql import SparkSession
from thetajoin import _inherited, _session
from thetajoin._properties import properties
from thetajoin._session import supports

ROOT = Path(__file__).resolve().parents[2]
OURS = {
    "spark.jars": "/lib/thetajoin.jar",
    "spark.sql.extensions": "thetajoin.ThetaJoinExtensions",
    "spark.sql.extendedExplainProviders": "thetajoin.ThetaJoinExplain",
}
OTHERS = {
    "spark.jars": "/lib/other.jar",
    "spark.sql.extensions": "other.Extension",
    "spark.sql.extendedExplainProviders": "other.Explain",
}
BOTH = {key: f"{OTHERS[key]},{OURS[key]}" for key in OURS}


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of the machine, no running JVM, and a jar that need not be built."""
    monkeypatch.setattr(_inherited, "running_jvm", lambda: None)
    monkeypatch.setattr(_session, "load_jar", lambda _: None)
    monkeypatch.setattr(_session, "jar_path", lambda: OURS["spark.jars"])
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    for name in ("SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.delenv(name, raising=False)


def held(builder: Any) -> dict[str, str]:
    return dict(builder._options)


def test_an_empty_builder_gets_three_confs() -> None:
    assert held(thetajoin.configure(SparkSession.Builder())) == OURS


def test_what_the_builder_holds_stays() -> None:
    builder = SparkSession.Builder().config(map=dict(OTHERS)).master("local[2]")
    assert thetajoin.configure(builder) is builder
    assert held(builder) == {**BOTH, "spark.master": "local[2]"}


def test_calling_it_twice_adds_nothing() -> None:
    builder = SparkSession.Builder().config(map=dict(OTHERS))
    assert held(thetajoin.configure(thetajoin.configure(builder))) == BOTH


def test_what_the_defaults_file_holds_stays(tmp_path: Path) -> None:
    lines = ["# spark.jars /no", f"spark.jars={OTHERS['spark.jars']}", ""]
    lines += [f"  {key} \t {OTHERS[key]}  " for key in OTHERS if key != "spark.jars"]
    (tmp_path / "spark-defaults.conf").write_text("\n".join(lines))
    assert held(thetajoin.configure(SparkSession.Builder())) == BOTH


def test_what_the_submit_arguments_hold_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    confs = " ".join(f"--conf {key}={OTHERS[key]}" for key in OTHERS if key != "spark.jars")
    arguments = f"--jars {OTHERS['spark.jars']} {confs} pyspark-shell"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    assert held(thetajoin.configure(SparkSession.Builder())) == BOTH


OTHER = f"spark.sql.extensions={OTHERS['spark.sql.extensions']}"
UNUSED = "spark.sql.extensions=unused.Extension"


@pytest.mark.parametrize(
    "arguments",
    [
        f"--conf {OTHER} pyspark-shell",
        f"--conf={OTHER} pyspark-shell",
        f"-c {OTHER} pyspark-shell",
        f"'--conf={OTHER}' --conf='spark.a=b c' pyspark-shell",
        f"--verbose --supervise --conf={OTHER} pyspark-shell",
        f"--name --conf --conf={OTHER} pyspark-shell",
        f"--name=--conf --conf {OTHER} pyspark-shell",
        f"--conf={UNUSED} --conf={OTHER} pyspark-shell --conf={UNUSED}",
        "--properties-file other.conf pyspark-shell",
        "--properties-file=other.conf pyspark-shell",
        "--properties-file 'folder of confs/other.conf' pyspark-shell",
        f"--properties-file unused.conf --conf={OTHER} pyspark-shell",
        "--properties-file unused.conf --properties-file=other.conf pyspark-shell",
        "--properties-file=empty.conf --load-spark-defaults pyspark-shell",
        "--load-spark-defaults --properties-file=other.conf pyspark-shell",
    ],
)
def test_an_extension_is_kept_however_spark_submit_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder of confs").mkdir()
    for file, line in (
        ("other.conf", OTHER),
        ("folder of confs/other.conf", OTHER),
        ("unused.conf", UNUSED),
        ("empty.conf", ""),
        ("spark-defaults.conf", OTHER if "empty.conf" in arguments else UNUSED),
    ):
        Path(file).write_text(line)
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    extensions = held(thetajoin.configure(SparkSession.Builder()))["spark.sql.extensions"]
    assert extensions == BOTH["spark.sql.extensions"]


def test_a_properties_file_takes_the_place_of_the_defaults(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "spark-defaults.conf").write_text(UNUSED)
    (tmp_path / "empty.conf").touch()
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--properties-file {tmp_path}/empty.conf -")
    assert held(thetajoin.configure(SparkSession.Builder())) == OURS


@pytest.mark.parametrize(
    "arguments",
    [
        "--jars=/lib/other.jar --conf spark.jars=/no.jar pyspark-shell",
        "--conf=spark.jars=/lib/other.jar --packages a:b:1 pyspark-shell",
    ],
)
def test_jars_are_kept_however_spark_submit_is_told(
    monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    assert held(thetajoin.configure(SparkSession.Builder()))["spark.jars"] == BOTH["spark.jars"]


PROPERTIES = r"""
# a comment \
! another
spark.a b
spark.b=c = d
spark.c : e\
  ,f,\
\tg \\
spark.d	h~~
spark.e\ f\=g\:h i
   spark.f = \u0041\tj\n
spark.g
spark.h=
spark.i==k
spark.j = l\
# m

spark.k \
spark.l = \q\"n\"
\
spark.m o
spark.n=p
spark.n=q
spark.o=r\
""".replace("~", " ")


def test_files_are_read_as_java_reads_them(spark: SparkSession) -> None:
    for text in (PROPERTIES, PROPERTIES.replace("\n", "\r\n"), PROPERTIES.rstrip("\n")):
        jvm: Any = spark._jvm
        expected = jvm.java.util.Properties()
        expected.load(jvm.java.io.StringReader(text))
        # Spark takes white space off a value, but for ends of lines.
        of_java = {k: expected.getProperty(k).strip(" \t") for k in expected.stringPropertyNames()}
        assert properties(text) == of_java
        assert of_java["spark.c"] == "e,f,\tg \\"


@pytest.mark.parametrize("key", list(OURS))
def test_a_conf_that_is_replaced_later_is_told(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", lambda self: self)
    builder: Any = thetajoin.configure(thetajoin.configure(SparkSession.Builder()))
    builder.config(key, OTHERS[key])
    with pytest.warns(thetajoin.SettingsReplacedWarning) as told:
        assert builder.getOrCreate() is builder
    assert len(told) == 1 and told[0].filename == __file__
    assert f"{key}={OTHERS[key]}, in place" in str(told[0].message)


def test_a_builder_that_still_has_ours_starts_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", lambda self: self)
    builder: Any = thetajoin.configure(SparkSession.Builder())
    builder.config(map=BOTH).config("spark.a", "b").getOrCreate()
    assert held(thetajoin.configure(builder)) == {**BOTH, "spark.a": "b"}


def test_nothing_is_said_where_the_session_runs_already(spark: SparkSession) -> None:
    builder = thetajoin.configure(SparkSession.Builder())
    builder.config("spark.sql.extensions", OTHERS["spark.sql.extensions"])
    assert builder.getOrCreate() is not None


@pytest.mark.parametrize("by", ["builder", "environment"])
def test_a_builder_of_a_server_is_left_alone(monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    builder = SparkSession.Builder()
    if by == "builder":
        builder.remote("sc://localhost:15002")
    else:
        monkeypatch.setenv("SPARK_REMOTE", "sc://localhost:15002")
    before = held(builder)
    with pytest.warns(thetajoin.RemoteBuilderWarning, match=r"thetajoin\.ThetaJoinExtensions"):
        assert thetajoin.configure(builder) is builder
    assert held(builder) == before


def test_a_connect_server_in_this_process_is_set_up() -> None:
    builder = SparkSession.Builder().remote("local[2]")
    assert held(thetajoin.configure(builder)) == {"spark.remote": "local[2]", **OURS}


def test_other_objects_are_an_error() -> None:
    not_a_builder: Any = SparkSession
    with pytest.raises(thetajoin.ConfigureError, match=r"session builder, not: type.\nHint: Call"):
        thetajoin.configure(not_a_builder)


def test_a_running_session_without_us_is_an_error(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    thetajoin.configure(SparkSession.Builder())
    monkeypatch.setattr(_session, "extension_loaded", lambda _: False)
    with pytest.raises(thetajoin.ConfigureError, match="is running"):
        thetajoin.configure(SparkSession.Builder())


def test_an_old_spark_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "3.5.7")
    with pytest.raises(thetajoin.ConfigureError, match=r"PySpark is: 3\.5\.7"):
        thetajoin.configure(SparkSession.Builder())


def test_supported_versions_are_compared_as_numbers() -> None:
    supported = ["4.0.0", "4.3.2", "4.1.0.dev1"]
    others = ["3.5.7", "4.4.0", "4.10.0", "5.0.0"]
    assert [v for v in supported + others if supports(v)] == supported


def test_jar_path_prefers_what_was_built_in_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "python" / "src" / "thetajoin"
    built = tmp_path / "target" / "scala-2.13" / "thetajoin.jar"
    packaged = package / "jars" / "thetajoin.jar"
    monkeypatch.undo()
    monkeypatch.setattr(_session, "__file__", str(package / "_session.py"))
    for jar in (built, packaged):
        jar.parent.mkdir(parents=True)
    with pytest.raises(thetajoin.JarNotFoundError, match="\nHint: Install the package"):
        thetajoin.jar_path()
    packaged.touch()
    built.touch()
    assert thetajoin.jar_path() == str(packaged)
    (tmp_path / "build.sbt").touch()
    assert thetajoin.jar_path() == str(built)
    built.unlink()
    assert thetajoin.jar_path() == str(packaged)


PROGRAM = """
import sys, thetajoin
from pyspark.sql import SparkSession
if "restart" in sys.argv:
    SparkSession.builder.getOrCreate().stop()
spark = thetajoin.configure(SparkSession.builder).getOrCreate()
df = spark.sql("SELECT * FROM range(5) AS a JOIN range(5) AS b ON a.id > b.id")
print("extensions:", spark.conf.get("spark.sql.extensions"))
print(len(df.collect()), *thetajoin.explain_joins(df))
"""


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [[], ["restart"]])
def test_a_jvm_that_runs_already_is_set_up(tmp_path: Path, arguments: list[str]) -> None:
    """Under spark-submit, and after a first session. Of the other class, Spark only warns."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    home = Path(pyspark.__file__).parent
    command = [str(home / "bin" / "spark-submit"), "--master", "local[1]"]
    for key, value in (("spark.sql.extensions", "other.Extension"), ("spark.ui.enabled", "false")):
        command += ["--conf", f"{key}={value}"]
    path = {"PYTHONPATH": str(ROOT / "python" / "src"), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [*command, str(program), *arguments],
        cwd=tmp_path,
        env=os.environ | path | {"SPARK_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "extensions: other.Extension,thetajoin.ThetaJoinExtensions" in done.stdout
    assert "10 [1] Inner join ON (a.id > b.id): accelerated by piecewise" in done.stdout
