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
STAGING = ROOT / "target" / "sona-staging"
PROJECT = ROOT / "tests" / "sbt-project"
VERSION = thetajoin.__version__
NAME = f"thetajoin_2.13-{VERSION}"
FOLDER = STAGING / "thetajoin" / "thetajoin_2.13" / VERSION
LICENCES = {"META-INF/LICENSE", "META-INF/NOTICE"}
pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, ok: bool = True) -> str:
    """Run a command; its output, after a check that it passed or failed as expected."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is ok, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def published() -> Path:
    run("make", "publish-local", cwd=ROOT)
    return FOLDER


def names(jar: Path) -> set[str]:
    with zipfile.ZipFile(jar) as archive:
        return set(archive.namelist())


def test_each_jar_has_its_files_and_licences(published: Path) -> None:
    main = names(published / f"{NAME}.jar")
    sources = names(published / f"{NAME}-sources.jar")
    docs = names(published / f"{NAME}-javadoc.jar")
    for found in (main, sources, docs):
        assert found >= LICENCES
    licences = {f"META-INF/licenses/LICENSE-{of}.txt" for of in ("geographiclib", "jts-core")}
    assert {"thetajoin/ThetaJoinExtensions.class"} | licences <= main
    assert "thetajoin/shaded/jts/geom/Geometry.class" in main
    assert "thetajoin/shaded/geographiclib/Geodesic.class" in main
    assert {"thetajoin/ThetaJoinExtensions.scala", "thetajoin/SparkVersions.java"} <= sources
    assert {"thetajoin/contract/Accelerator.html", "thetajoin/kit/EqualKeys.html"} <= docs


def test_the_pom_says_what_a_repository_asks_for(published: Path) -> None:
    text = (published / f"{NAME}.pom").read_text()
    pom = ET.fromstring(re.sub(r' xmlns="[^"]*"', "", text))
    for name in ("name", "description", "url", "licenses/license/url", "scm/connection", "scm/url"):
        assert pom.findtext(name), name
    assert pom.findtext("developers/developer/name")
    licences = [licence.text or "" for licence in pom.findall("licenses/license/name")]
    assert [name.split()[0] for name in licences] == ["Apache-2.0", "BSD-3-Clause", "MIT"]
    needed = {
        (d.findtext("artifactId"), d.findtext("scope"))
        for d in pom.findall("dependencies/dependency")
    }
    assert needed == {("scala-library", None), ("spark-sql_2.13", "provided")}


def launcher(*arguments: str) -> list[str | Path]:
    jar = ROOT / ".venv/share/sbt-launch.jar"
    return ["java", *arguments[:-1], "-Dsbt.server.autostart=false", "-jar", jar, arguments[-1]]


def test_a_project_resolves_it_and_runs_a_join(published: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns("target"))
    options = [f"-Dthetajoin.maven={STAGING.as_uri()}", f"-Dthetajoin.version={VERSION}"]
    out = run(*launcher(*options, "run"), cwd=project)
    assert "pairs: 1225" in out
    assert "BroadcastThetaJoin piecewise" in out


def test_a_dry_run_of_a_release_builds_all(published: Path) -> None:
    out = run(sys.executable, "tools/release.py", "--dry-run", cwd=ROOT)
    assert "would run: " in out
    with zipfile.ZipFile(ROOT / "target/sona-bundle/bundle.zip") as bundle:
        ends = {name.partition(NAME)[2] for name in bundle.namelist()}
    assert {".jar", "-sources.jar", "-javadoc.jar", ".pom", ".jar.md5", ".jar.sha1"} <= ends
    with zipfile.ZipFile(
        ROOT / f"target/release/dist/thetajoin-{VERSION}-py3-none-any.whl"
    ) as wheel:
        jar = wheel.read("thetajoin/jars/thetajoin.jar")
    assert jar == (published / f"{NAME}.jar").read_bytes()
    with zipfile.ZipFile(published / f"{NAME}.jar") as archive:
        assert b"{repository}" not in archive.read("META-INF/MANIFEST.MF")


GONE = "package thetajoin.{}; public class Gone {{ public static int one() {{ return 1; }} }}"


def test_a_class_that_is_gone_from_contract_or_kit_breaks_authors(
    published: Path, tmp_path: Path
) -> None:
    """The release before is this one with three classes more, one of them not public."""
    before = published.parent / "0.0.1"
    shutil.rmtree(before, ignore_errors=True)
    before.mkdir()
    jar, pom = (before / f"thetajoin_2.13-0.0.1{end}" for end in (".jar", ".pom"))
    try:
        shutil.copy(published / f"{NAME}.jar", jar)
        text = (published / f"{NAME}.pom").read_text()
        pom.write_text(text.replace(f"<version>{VERSION}<", "<version>0.0.1<", 1))
        for package in ("contract", "kit", "exec"):
            source = tmp_path / f"thetajoin/{package}/Gone.java"
            source.parent.mkdir(parents=True)
            source.write_text(GONE.format(package))
            run("javac", source, cwd=tmp_path)
            with zipfile.ZipFile(jar, "a") as archive:
                name = f"thetajoin/{package}/Gone.class"
                archive.write(tmp_path / name, name)
        where = f'set resolvers += "before" at "{STAGING.as_uri()}"'
        sbt = [ROOT / "tools/sbt", "-Dthetajoin.previous=0.0.1", where, "mimaReportBinaryIssues"]
        out = run(*sbt, cwd=ROOT, ok=False)
    finally:
        shutil.rmtree(before)
    found = re.findall(r"class (\S+) does not have a correspondent", out)
    assert sorted(found) == ["thetajoin.contract.Gone", "thetajoin.kit.Gone"], out
