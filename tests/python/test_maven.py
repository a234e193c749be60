"""Maven artifacts: what is in them, a project that resolves them, and the check of binary compatibility."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pytest
import thetajoin

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import release

STAGING = ROOT / "target" / "sona-staging"
VERSION = thetajoin.__version__
LICENCES = {"META-INF/LICENSE", "META-INF/NOTICE"}
MODULES = ("thetajoin", "thetajoin-api", "thetajoin-testkit")
pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, ok: bool = True) -> str:
    """Run a command; its output, after a check that it passed or failed as expected."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is ok, done.stdout + done.stderr
    return done.stdout


def file(module: str, end: str) -> Path:
    """A published file, such as the one that ends in `-sources.jar`."""
    name = f"{module}_2.13"
    return STAGING / "thetajoin" / name / VERSION / f"{name}-{VERSION}{end}"


@pytest.fixture(scope="module", autouse=True)
def published() -> None:
    run("make", "publish-local", cwd=ROOT)


def names(module: str, end: str = ".jar") -> set[str]:
    with zipfile.ZipFile(file(module, end)) as archive:
        return set(archive.namelist())


def classes(module: str, end: str = ".jar") -> set[str]:
    return {name for name in names(module, end) if name.endswith(".class")}


@pytest.mark.parametrize("module", MODULES)
def test_each_jar_has_its_files_and_licences(module: str) -> None:
    assert all((STAGING / "thetajoin" / name).is_file() for name in release.maven_files(VERSION))
    for end in (".jar", "-sources.jar", "-javadoc.jar"):
        assert names(module, end) >= LICENCES


def test_classes_and_docs_are_where_they_belong() -> None:
    licences = {f"META-INF/licenses/LICENSE-{of}.txt" for of in ("geographiclib", "jts-core")}
    shaded = {
        f"thetajoin/shaded/{name}.class" for name in ("jts/geom/Geometry", "geographiclib/Geodesic")
    }
    assert {"thetajoin/ThetaJoinExtensions.class"} | licences | shaded <= names("thetajoin")
    sources = names("thetajoin", "-sources.jar")
    assert {"thetajoin/ThetaJoinExtensions.scala", "thetajoin/SparkVersions.java"} <= sources
    assert {"thetajoin/contract/Accelerator.class", "thetajoin/kit/EqualKeys.class"} <= classes(
        "thetajoin-api"
    )
    docs = names("thetajoin-api", "-javadoc.jar")
    assert {"thetajoin/contract/Accelerator.html", "thetajoin/kit/EqualKeys.html"} <= docs
    assert "thetajoin/testkit/AcceleratorSuite.class" in classes("thetajoin-testkit")


def test_no_class_is_in_two_artifacts_and_one_jar_has_all() -> None:
    assert not classes("thetajoin") & classes("thetajoin-api")
    assert not classes("thetajoin-testkit") & (classes("thetajoin") | classes("thetajoin-api"))
    assert classes("thetajoin", "-all.jar") == classes("thetajoin") | classes("thetajoin-api")


SPARK = ("spark-sql_2.13", "provided")
NEEDED = {
    "thetajoin-api": {SPARK},
    "thetajoin": {SPARK, ("thetajoin-api_2.13", None)},
    "thetajoin-testkit": {
        SPARK,
        ("thetajoin_2.13", None),
        ("scalatest_2.13", None),
        ("scalacheck-1-18_2.13", None),
    },
}


@pytest.mark.parametrize("module", MODULES)
def test_the_pom_says_what_a_repository_asks_for(module: str) -> None:
    text = file(module, ".pom").read_text()
    pom = ET.fromstring(re.sub(r' xmlns="[^"]*"', "", text))
    for name in ("name", "description", "url", "licenses/license/url", "scm/connection", "scm/url"):
        assert pom.findtext(name), name
    assert pom.findtext("developers/developer/name")
    licences = [licence.text or "" for licence in pom.findall("licenses/license/name")]
    more = ["BSD-3-Clause", "MIT"] if module == "thetajoin" else []
    assert [name.split()[0] for name in licences] == ["Apache-2.0", *more]
    needed = {
        (d.findtext("artifactId"), d.findtext("scope"))
        for d in pom.findall("dependencies/dependency")
    }
    assert needed == {("scala-library", None), *NEEDED[module]}


def in_copy(project: str, tmp_path: Path, command: str) -> str:
    """Run sbt in a copy of a project of `tests/` that finds the artifacts in the folder."""
    copy = tmp_path / project
    shutil.copytree(ROOT / "tests" / project, copy, ignore=shutil.ignore_patterns("target"))
    options = [f"-Dthetajoin.maven={STAGING.as_uri()}", f"-Dthetajoin.version={VERSION}"]
    jar = ROOT / ".venv/share/sbt-launch.jar"
    return run("java", *options, "-Dsbt.server.autostart=false", "-jar", jar, command, cwd=copy)


def test_a_project_resolves_it_and_runs_a_join(tmp_path: Path) -> None:
    out = in_copy("sbt-project", tmp_path, "run")
    assert "pairs: 1225" in out
    assert "BroadcastThetaJoin piecewise" in out


def test_an_author_compiles_and_tests_an_accelerator(tmp_path: Path) -> None:
    """Against the artifacts alone."""
    out = in_copy("example-accelerator", tmp_path, "test")
    assert "ResidueSuite" in out
    assert re.search(r"Tests: succeeded \d\d, failed 0", out), out


PACKAGES = """
import sys
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
settings = dict(zip(("jars.packages", "jars.ivySettings", "jars.ivy"), sys.argv[1:]))
for key, value in settings.items():
    builder = builder.config(f"spark.{key}", value)
spark = builder.config("spark.sql.extensions", "thetajoin.ThetaJoinExtensions").getOrCreate()
df = spark.sql("SELECT count(*) FROM range(50) AS a JOIN range(50) AS b ON a.id > b.id")
print(df.head(), df._jdf.queryExecution().executedPlan().toString())
"""

IVY = """<ivysettings><settings defaultResolver="staging"/>
<resolvers><ibiblio name="staging" m2compatible="true" root="{}"/></resolvers></ivysettings>
"""


def test_spark_finds_it_by_its_packages(tmp_path: Path) -> None:
    settings = tmp_path / "ivysettings.xml"
    settings.write_text(IVY.format(STAGING.as_uri()))
    program = tmp_path / "program.py"
    program.write_text(PACKAGES)
    artifact = f"thetajoin:thetajoin_2.13:{VERSION}"
    out = run(sys.executable, program, artifact, settings, tmp_path / "ivy", cwd=tmp_path)
    assert "1225" in out
    assert "ThetaJoin piecewise" in out


def test_a_dry_run_of_a_release_builds_all() -> None:
    out = run(sys.executable, "tools/release.py", "--dry-run", cwd=ROOT)
    assert "would run: " in out
    with zipfile.ZipFile(ROOT / "target/sona-bundle/bundle.zip") as bundle:
        bundled = set(bundle.namelist())
    wanted = {f"thetajoin/{name}" for name in release.maven_files(VERSION)}
    assert wanted | {f"{name}.{sum}" for name in wanted for sum in ("md5", "sha1")} <= bundled
    with zipfile.ZipFile(
        ROOT / f"target/release/dist/thetajoin-{VERSION}-py3-none-any.whl"
    ) as wheel:
        jar = wheel.read("thetajoin/jars/thetajoin.jar")
    assert jar == file("thetajoin", "-all.jar").read_bytes()
    with zipfile.ZipFile(file("thetajoin", ".jar")) as archive:
        assert b"{repository}" not in archive.read("META-INF/MANIFEST.MF")


GONE = "package thetajoin.{}; public class Gone {{ public static int one() {{ return 1; }} }}"


def test_a_class_that_is_gone_from_contract_or_kit_breaks_authors(tmp_path: Path) -> None:
    """The release before is this one with three classes more, one of them not public."""
    module = "thetajoin-api"
    before = file(module, ".jar").parent.parent / "0.0.1"
    shutil.rmtree(before, ignore_errors=True)
    before.mkdir()
    jar, pom = (before / f"{module}_2.13-0.0.1{end}" for end in (".jar", ".pom"))
    try:
        shutil.copy(file(module, ".jar"), jar)
        text = file(module, ".pom").read_text()
        pom.write_text(text.replace(f"<version>{VERSION}<", "<version>0.0.1<", 1))
        for package in ("contract", "kit", "rowstore"):
            source = tmp_path / f"thetajoin/{package}/Gone.java"
            source.parent.mkdir(parents=True)
            source.write_text(GONE.format(package))
            run("javac", source, cwd=tmp_path)
            with zipfile.ZipFile(jar, "a") as archive:
                name = f"thetajoin/{package}/Gone.class"
                archive.write(tmp_path / name, name)
        where = f'set api / resolvers += "before" at "{STAGING.as_uri()}"'
        sbt = [
            ROOT / "tools/sbt",
            "-Dthetajoin.previous=0.0.1",
            where,
            "api/mimaReportBinaryIssues",
        ]
        out = run(*sbt, cwd=ROOT, ok=False)
    finally:
        shutil.rmtree(before)
    found = re.findall(r"class (\S+) does not have a correspondent", out)
    assert sorted(found) == ["thetajoin.contract.Gone", "thetajoin.kit.Gone"], out
