"""The list of the public Python API is up to date, and what breaks code is found."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import python_api


def test_the_list_is_that_of_the_sources() -> None:
    """After a change that is meant: `make docs`, and a line in CHANGELOG.md."""
    assert python_api.LIST.read_text() == python_api.listing()


def git(folder: Path, *arguments: str) -> None:
    user = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run(["git", *user, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The sources of the package in a repository of their own, with a tag."""
    skipped = shutil.ignore_patterns("jars", "__pycache__")
    shutil.copytree(ROOT / "python/src", tmp_path / "python/src", ignore=skipped)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    git(tmp_path, "tag", "v0.0.1")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "before", "after", "found"),
    [
        ("_nearest.py", "k: int = 1", "k: int = 2", ["nearest_join"]),
        ("_nearest.py", "k: int = 1", "count: int = 1", ["nearest_join"]),
        ("_reports.py", "    condition: str", "    criterion: str", ["JoinReport.condition"]),
        ("_nearest.py", "import annotations", "import annotations\n\nMORE = 1", []),
    ],
    ids=["default", "parameter", "field", "addition"],
)
def test_breakages_are_found(
    checkout: Path, file: str, before: str, after: str, found: list[str]
) -> None:
    path = checkout / "python/src/thetajoin" / file
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    broken = python_api.breakages("v0.0.1", checkout)
    assert bool(broken) == bool(found), broken
    for name in found:
        assert any(name in line for line in broken), broken
    changed = python_api.listing(checkout) != python_api.listing()
    assert changed or not found
