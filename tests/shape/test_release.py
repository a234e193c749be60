"""A dry run of a release builds what would be published, and each thing that stops a release does."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import release
import release_checks as checks

JAR = ROOT / "python/src/thetajoin/jars/thetajoin.jar"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that have the version, and the changelog, with one commit and a tag."""
    for name in [*checks.PLACES, "CHANGELOG.md"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    user = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run(["git", *user, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("place", checks.PLACES)
def test_a_version_that_differs_stops_it(copy: Path, place: str) -> None:
    assert checks.wrong_versions(copy) == []
    file = copy / place
    version = checks.versions(copy)[place]
    file.write_text(file.read_text().replace(version, "9.9.9"))
    assert f"{place}: version 9.9.9" in checks.wrong_versions(copy)
    file.write_text("")
    assert f"{place}: version not found" in checks.wrong_versions(copy)


@pytest.mark.parametrize(
    ("heading", "ok"),
    [("1.2.3 (2026-11-28)", True), ("1.2.3 (unreleased)", False), ("1.2.2 (2026-11-28)", False)],
)
def test_the_changelog_has_the_version_and_the_day(tmp_path: Path, heading: str, ok: bool) -> None:
    (tmp_path / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## {heading}\n\n## 1.2.1 (2026-01-01)\n"
    )
    assert (checks.wrong_changelog(tmp_path, "1.2.3") == []) is ok


def test_a_file_that_is_not_committed_stops_it(copy: Path) -> None:
    assert checks.uncommitted(copy) == []
    (copy / "new.txt").touch()
    assert checks.uncommitted(copy) == ["not committed: ?? new.txt"]


@pytest.mark.parametrize(
    ("version", "found"), [("0.1.1", True), ("0.2.0", False), ("1.0.0", False)]
)
def test_what_breaks_code_needs_a_new_series(copy: Path, version: str, found: bool) -> None:
    sources = copy / "python/src/thetajoin"
    (sources / "_more.py").write_text("def more(count: int) -> int:\n    return count\n")
    (sources / "__init__.py").write_text('from thetajoin._more import more\n\n__all__ = ["more"]\n')
    git(copy, "add", ".")
    git(copy, "commit", "--quiet", "--message", "more")
    assert checks.broken_api(copy, version) == []
    git(copy, "tag", "v0.1.0")
    assert checks.broken_api(copy, version) == []
    (sources / "_more.py").write_text("def more(number: int) -> int:\n    return number\n")
    assert (
        any(
            "more: Parameter was removed: count" in line
            for line in checks.broken_api(copy, version)
        )
        is found
    )


def jar(folder: Path, *names: str, version: str = "1.2.3") -> Path:
    path = folder / "some.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", f"Implementation-Version: {version}\r\n")
        for name in names:
            archive.writestr(f"META-INF/{name}", "")
    return path


def test_a_jar_without_licences_or_of_another_version_stops_it(tmp_path: Path) -> None:
    assert checks.wrong_jar(jar(tmp_path, *checks.LICENCES), "1.2.3") == []
    assert checks.wrong_jar(jar(tmp_path, *checks.LICENCES, version="1.2.30"), "1.2.3")
    assert checks.wrong_jar(jar(tmp_path, *checks.LICENCES[1:]), "1.2.3") == [
        "some.jar: no META-INF/LICENSE"
    ]
    assert checks.wrong_jar(tmp_path / "none.jar", "1.2.3") == ["none.jar: not built"]


def test_a_release_needs_addresses(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--repository", "a.example/b"], ["--only-python"]):
        with pytest.raises(SystemExit) as stopped:
            release.main(*arguments)
        assert stopped.value.code == 2
    assert "needs --repository and --namespace" in capsys.readouterr().err


def test_nothing_is_built_if_something_stops_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release, "run", lambda *command: pytest.fail(f"ran {command}"))
    monkeypatch.setattr(checks, "uncommitted", lambda root: ["not committed: ?? new.txt"])
    addresses = ("--repository", "a.example/b", "--namespace", "example.a")
    assert release.main(*addresses) == 1
    assert "not committed: ?? new.txt" in capsys.readouterr().err


@pytest.mark.skipif(not JAR.is_file(), reason="the jar is not built")
def test_a_dry_run_builds_wheel_and_sdist() -> None:
    done = subprocess.run(
        [sys.executable, "tools/release.py", "--dry-run", "--only-python", "--repository", "host.example/a/b"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    steps = [line for line in done.stdout.splitlines() if line.startswith("would run: ")]
    assert [re.search(r" (tag|upload|sonaRelease|push)\b", line)[1] for line in steps] == [
        "tag", "upload", "sonaRelease", "push",
    ]  # fmt: skip
    version = checks.versions(ROOT)["build.sbt"]
    dist = ROOT / "target/release/dist"
    assert sorted(file.name for file in dist.iterdir()) == [
        f"thetajoin-{version}-py3-none-any.whl", f"thetajoin-{version}.tar.gz",
    ]  # fmt: skip
    with zipfile.ZipFile(dist / f"thetajoin-{version}-py3-none-any.whl") as wheel:
        metadata = wheel.read(f"thetajoin-{version}.dist-info/METADATA").decode()
    assert "Project-URL: Issues, https://host.example/a/b/issues\n" in metadata
    assert release.TOKEN not in metadata
