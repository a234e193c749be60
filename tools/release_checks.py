"""What stops a release: versions that differ, a changelog without it, uncommitted files."""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

import python_api
from packaging.version import Version

# Where the version stands.
PLACES = {
    "python/pyproject.toml": r'^version = "(.*)"$',
    "python/src/thetajoin/__init__.py": r'^__version__ = "(.*)"$',
    "build.sbt": r'^ *version := "(.*)",$',
    "CITATION.cff": r"^version: (.*)$",
}
LICENCES = (
    "LICENSE",
    "NOTICE",
    "licenses/LICENSE-geographiclib.txt",
    "licenses/LICENSE-jts-core.txt",
)


def versions(root: Path) -> dict[str, str]:
    """The version by the file that gives it; empty if the file gives none."""
    found = {
        place: re.search(pattern, (root / place).read_text(), re.MULTILINE)
        for place, pattern in PLACES.items()
    }
    return {place: match[1] if match else "" for place, match in found.items()}


def wrong_versions(root: Path) -> list[str]:
    """The versions, if they are not all the same."""
    found = versions(root)
    same = len(set(found.values())) == 1 and all(found.values())
    return (
        []
        if same
        else [f"{place}: version {given or 'not found'}" for place, given in found.items()]
    )


def wrong_changelog(root: Path, version: str) -> list[str]:
    """The changelog begins with the version and the day."""
    heading = re.search(r"^## (.*)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    first = heading[1] if heading else ""
    if re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", first):
        return []
    return [f"CHANGELOG.md: begins with '{first}', not with '{version} (YYYY-MM-DD)'"]


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def uncommitted(root: Path) -> list[str]:
    """Files that the tag would not have."""
    return [f"not committed: {line}" for line in git(root, "status", "--short").splitlines()]


def series(version: str) -> tuple[int, ...]:
    """The part of a version that is raised if something breaks: 1 of 1.2.3, 0.1 of 0.1.3."""
    release = Version(version).release
    return release[:1] if release[0] else release[:2]


def broken_api(root: Path, version: str) -> list[str]:
    """What breaks Python code that runs on the last release, unless the version may do so."""
    last = git(root, "describe", "--tags", "--abbrev=0", "--match", "v*")
    if not last or series(last.removeprefix("v")) != series(version):
        return []
    return [f"breaks code of {last}: {line}" for line in python_api.breakages(last, root)]


def wrong_jar(jar: Path, version: str) -> list[str]:
    """A jar of another version, or without the licences."""
    if not jar.is_file():
        return [f"{jar.name}: not built"]
    with zipfile.ZipFile(jar) as archive:
        manifest = archive.read("META-INF/MANIFEST.MF").decode()
        names = archive.namelist()
    missing = [
        f"{jar.name}: no META-INF/{name}" for name in LICENCES if f"META-INF/{name}" not in names
    ]
    same = re.search(rf"^Implementation-Version: {re.escape(version)}\r?$", manifest, re.MULTILINE)
    return missing if same else [*missing, f"{jar.name}: of another version than {version}"]
