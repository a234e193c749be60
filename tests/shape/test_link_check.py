"""The link check reports what the JVM would fail on, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import link_check

OURS = """
package thetajoin;
class Ours extends org.apache.spark.Base {
  int use() { return org.apache.spark.Api.gone(1) + org.apache.spark.Api.constant + hashCode(); }
  public void open() {}
}
"""
BASE = "package org.apache.spark; public abstract class Base { public abstract void open(); %s }"
API = "package org.apache.spark; public class Api { %s public static int constant; }"
GONE = "public static int gone(int i) { return i; }"


def compile_to_jar(folder: Path, jar: str, **sources: str) -> Path:
    """Compile sources by class name; a jar of their classes."""
    folder.mkdir(parents=True)
    files = [folder / f"{name}.java" for name in sources]
    for file, text in zip(files, sources.values(), strict=True):
        file.write_text(text)
    subprocess.run(["javac", "-d", folder / "classes", *files], check=True)
    path = folder / jar
    with zipfile.ZipFile(path, "w") as archive:
        for file in (folder / "classes").rglob("*.class"):
            archive.write(file, file.relative_to(folder / "classes"))
    return path


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """Compiled against a Spark that has all it needs."""
    sources = {"Ours": OURS, "Base": BASE % "", "Api": API % GONE}
    whole = compile_to_jar(tmp_path / "ours", "all.jar", **sources)
    jar = tmp_path / "ours.jar"
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(jar, "w") as target:
        target.writestr("thetajoin/Ours.class", source.read("thetajoin/Ours.class"))
    return jar


@pytest.mark.parametrize(
    ("base", "api", "missing"),
    [
        (BASE % "", API % GONE, []),
        (BASE % "", API % "", ["no member org/apache/spark/Api.gone (I)I"]),
        (BASE % "", API % GONE.replace("int i", "long i"), ["no member org/apache/spark/Api.gone"]),
        (BASE % "public abstract int more();", API % GONE, ["abstract org/apache/spark/Base.more"]),
    ],
)
def test_reports_what_is_missing(
    ours: Path, tmp_path: Path, base: str, api: str, missing: list[str]
) -> None:
    if "long" in api:
        api = api.replace("return i", "return (int) i")
    compile_to_jar(tmp_path / "spark", "spark-sql_2.13-9.9.9.jar", Base=base, Api=api)
    spark = link_check.classes((tmp_path / "spark").glob("*.jar"))
    found = link_check.problems(link_check.classes([ours]), spark)
    assert len(found) == len(missing)
    assert all(part in line for part, line in zip(missing, found, strict=True))
    assert link_check.main(str(ours), str(tmp_path / "spark")) == bool(missing)


def test_a_missing_class_is_reported(ours: Path, tmp_path: Path) -> None:
    compile_to_jar(tmp_path / "spark", "spark-sql_2.13-9.9.9.jar", Base=BASE % "")
    spark = link_check.classes((tmp_path / "spark").glob("*.jar"))
    found = link_check.problems(link_check.classes([ours]), spark)
    assert found == ["thetajoin/Ours: no class org/apache/spark/Api"]


def test_a_folder_without_spark_is_an_error(ours: Path, tmp_path: Path) -> None:
    assert link_check.main(str(ours), str(tmp_path)) == 1
