"""The checks of the doctor, one by one, and its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyspark
import pytest
import thetajoin
from pyspark.sql import SparkSession
from thetajoin import _doctor, _probe
from thetajoin.__main__ import main
from thetajoin._verdict import Verdict, failed, passed

ROOT = Path(__file__).resolve().parents[2]
CHECKS = ("check_python", "check_pyspark", "check_java", "check_jar", "check_join")

MakeJava = Callable[[str], None]


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeJava:
    """Makes JAVA_HOME a folder with a java that only says its version."""

    def make(version: str) -> None:
        program = tmp_path / "bin" / "java"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        program.chmod(0o755)

    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    return make


@pytest.mark.parametrize(("version", "ok"), [("1.8.0_402", False), ("11.0.2", False), ("17", True)])
def test_java_is_17_or_newer(java: MakeJava, version: str, ok: bool) -> None:
    java(version)
    assert _doctor.check_java().ok is ok


def test_java_may_be_missing(java: MakeJava) -> None:
    verdict = _doctor.check_java()
    assert (verdict.ok, verdict.what) == (False, "not found")
    assert "JAVA_HOME" in verdict.why


@pytest.mark.parametrize(("version", "ok"), [("3.5.1", False), ("4.0.0", True), ("4.4.0", False)])
def test_pyspark_is_in_range(monkeypatch: pytest.MonkeyPatch, version: str, ok: bool) -> None:
    monkeypatch.setattr(pyspark, "__version__", version)
    assert _doctor.check_pyspark().ok is ok


@pytest.mark.parametrize(
    ("manifest", "ok"),
    [
        (f"Implementation-Version: {thetajoin.__version__}\n", True),
        ("Implementation-Version: 0.0.1\n", False),
        ("Manifest-Version: 1.0\n", False),
        (None, False),
    ],
)
def test_the_jar_has_the_packages_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manifest: str | None, ok: bool
) -> None:
    jar = tmp_path / "thetajoin.jar"
    with zipfile.ZipFile(jar, "w") as file:
        if manifest is not None:
            file.writestr("META-INF/MANIFEST.MF", manifest)
    monkeypatch.setattr(_doctor, "jar_path", lambda: str(jar))
    assert _doctor.check_jar().ok is ok


def test_a_missing_jar_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise thetajoin.JarNotFoundError("It is gone.", hint="Build it.")

    monkeypatch.setattr(_doctor, "jar_path", missing)
    assert _doctor.check_jar() == failed("not found", "It is gone", "Build it")


@pytest.mark.parametrize("url", ["localhost:15002", "sc://", "sc://127.0.0.1:1"])
def test_a_server_that_does_not_answer_is_a_finding(url: str) -> None:
    assert not _doctor.check_server(url).ok


def stub(monkeypatch: pytest.MonkeyPatch, **verdicts: Verdict) -> None:
    for name in CHECKS:
        verdict = verdicts.get(name, passed("fine"))
        monkeypatch.setattr(_doctor, name, lambda *_, verdict=verdict: verdict)


def test_all_passed_is_exit_code_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stub(monkeypatch)
    assert main(["doctor"]) == 0
    names = [line.split()[1] for line in capsys.readouterr().out.splitlines()]
    assert names == ["Python", "PySpark", "Java", "jar", "join"]


@pytest.mark.parametrize("name", CHECKS)
def test_one_failed_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    stub(monkeypatch, **{name: failed("this", "bad", "do that")})
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "this: bad. To mend it: do that.\n" in out
    assert (" join " in out) is (name == "check_join")


def test_the_probe_runs_on_a_session(spark: SparkSession) -> None:
    verdict = _probe.probe(spark)
    assert verdict.ok, verdict


def test_the_probe_sees_that_a_join_was_not_accelerated(spark: SparkSession) -> None:
    spark.conf.set(thetajoin.settings.ENABLED, False)
    try:
        verdict = _probe.probe(spark)
    finally:
        spark.conf.unset(thetajoin.settings.ENABLED)
    assert (verdict.ok, verdict.what) == (False, "probe query not accelerated")
    assert verdict.why.startswith("DISABLED: ")


def test_the_probe_sees_wrong_rows(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_probe, "ROWS", [(1, 0)])
    assert _probe.probe(spark).what == "wrong rows"


def test_the_probe_sees_a_missing_extension(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_probe, "extension_loaded", lambda _: False)
    assert _probe.probe(spark).what == "extension not loaded"


def test_a_crash_of_the_probe_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, stdout="", stderr="Traceback\nError: boom\n")

    monkeypatch.setattr(subprocess, "run", crash)
    assert _doctor.check_join(None).why == "Error: boom"


def test_the_last_line_of_the_probe_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    told = json.dumps({"ok": True, "what": "all right"})

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, stdout=f"some log\n{told}\n", stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    assert _doctor.check_join(None) == passed("all right")


@pytest.mark.slow
def test_this_machine_is_healthy() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "thetajoin", "doctor"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "python" / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok    join     ran as BroadcastThetaJoin" in done.stdout
