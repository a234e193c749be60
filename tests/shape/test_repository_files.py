"""The files for contributors and bots agree with the Makefile, the tools and each other."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import release_checks

MAKEFILE = (ROOT / "Makefile").read_text()
SPARKS = re.findall(r"[\d.]+", re.search(r"^OTHER_SPARKS := (.*)$", MAKEFILE, re.MULTILINE)[1])


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def made(name: str) -> str:
    """The value of a variable of the Makefile."""
    show = ["--eval", f"show:;@echo $({name})", "show"]
    command = ["make", "--no-print-directory", "--silent", *show]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_version_is_the_same_everywhere() -> None:
    assert release_checks.wrong_versions(ROOT) == []
    assert release_checks.versions(ROOT)["build.sbt"] == made("VERSION")


def test_the_changelog_begins_with_the_version() -> None:
    version = release_checks.versions(ROOT)["build.sbt"]
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == version


def test_builds_run_the_same_sbt() -> None:
    file = Path("project/build.properties")
    for folder in ("tests/sbt-project", "tests/example-accelerator"):
        assert (ROOT / folder / file).read_text() == (ROOT / file).read_text()


def test_the_workflow_runs_every_part_on_every_java() -> None:
    jobs = loaded(".github/workflows/ci.yml")["jobs"]
    matrix = jobs["part"]["strategy"]["matrix"]
    parts = made("PARTS").replace("part-", "").split()
    assert sorted(matrix["part"]) == sorted(parts)
    assert set(SPARKS) < set(parts)
    more = {(cell["part"], cell["java"]) for cell in matrix["include"]}
    assert {part for part, _ in more} == {"scala", "sql-1", "sql-2", *SPARKS}
    assert {java for _, java in more} <= set(jobs["nightly"]["strategy"]["matrix"]["java"])


def test_the_workflow_calls_targets_that_there_are() -> None:
    jobs = loaded(".github/workflows/ci.yml")["jobs"]
    commands = {step["run"] for job in jobs.values() for step in job["steps"] if "run" in step}
    assert commands == {"make part-${{ matrix.part }}", "make test-all"}
    assert re.search(r"^test-all:", MAKEFILE, re.MULTILINE)


def test_dependabot_looks_where_the_requirements_are() -> None:
    for update in loaded(".github/dependabot.yml")["updates"]:
        folder = ROOT / update["directory"].strip("/")
        assert folder.is_dir()
        if update["package-ecosystem"] == "pip":
            assert list(folder.glob("*.txt"))


def test_hooks_run_what_there_is() -> None:
    config = ROOT / ".pre-commit-config.yaml"
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(config)]
    subprocess.run(command, check=True)
    for repository in loaded(config.name)["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            program, *rest = shlex.split(hook["entry"])
            assert (ROOT / program).exists(), hook["id"]
            files = [word for word in rest if word.endswith(".py")]
            assert all((ROOT / file).exists() for file in files), hook["id"]


@pytest.mark.parametrize("file", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*_*.yml")))
def test_forms_for_issues_have_what_they_need(file: Path) -> None:
    form = yaml.safe_load(file.read_text())
    assert {"name", "description", "body"} <= set(form)
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    ids = [field["id"] for field in fields]
    assert len(ids) == len(set(ids)) > 0
    assert all(field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_the_citation_names_what_is_cited() -> None:
    citation = loaded("CITATION.cff")
    assert {"cff-version", "message", "title", "authors", "version"} <= set(citation)
    metadata = (ROOT / "python/pyproject.toml").read_text()
    assert citation["authors"][0]["name"] in metadata
    assert citation["license"] == "Apache-2.0"


def test_the_repositorys_address_is_open_in_two_places() -> None:
    """tools/release.py fills it in there, and nowhere else."""
    listed = subprocess.run(
        ["git", "grep", "--untracked", "--files-with-matches", "{repository}", "--", ":!tests"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    filled = {"python/pyproject.toml", "project/Publishing.scala"}
    assert set(listed.stdout.splitlines()) == filled | {"tools/release.py"}
