"""House rules that a compiler does not check."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SCALA = ROOT / "scala" / "src" / "main" / "scala" / "thetajoin"
JAVA = ROOT / "scala" / "src" / "main" / "java" / "thetajoin"

# A folder imports only what stands before it. Settings.scala, beside the folders, is open to all.
LAYERS = [
    "reason", "condition", "functions", "rowstore", "contract", "kit", "accelerator", "relation", "codegen", "aggregate", "driver", "logical", "hints", "planner", "large", "recognise", "exec",
    "stream", "stage", "report", "ui",
]  # fmt: skip


def imports(folder: str) -> set[str]:
    """The other folders that a folder names, in an import or in full."""
    text = "\n".join(
        file.read_text() for root in (SCALA, JAVA) for file in (root / folder).rglob("*.*")
    )
    code = re.sub(r'"(\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', "", text, flags=re.DOTALL)
    named = set(re.findall(r"\bthetajoin\.(\w+)\b", code))
    for group in re.findall(r"\bthetajoin\.\{([^}]*)\}", code):
        named |= set(re.findall(r"\w+", group))
    return {name for name in named if name in LAYERS and name != folder}


def accelerator_ids() -> list[str]:
    found = [
        re.findall(r'val id: String = "(\w+)"', file.read_text())
        for file in (SCALA / "accelerator").glob("*/*.scala")
    ]
    return sorted(id for ids in found for id in ids)


def reason_codes() -> list[str]:
    """The codes of the planner, and those that accelerators bring."""
    files = [SCALA / "reason" / "Reason.scala", *(SCALA / "accelerator").rglob("*.scala")]
    return [
        code
        for file in files
        for code in re.findall(r'ReasonCode\(\s*"([A-Z_]+)"', file.read_text())
    ]


@cache
def tracked_files() -> list[Path]:
    """Text files that are, or will be, in version control."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    if listed.returncode != 0:
        pytest.skip("not a checkout")
    files = [ROOT / name for name in listed.stdout.splitlines()]
    binary = {".jar", ".png", ".parquet", ".whl"}
    return [file for file in files if file.is_file() and file.suffix not in binary]


def test_every_folder_has_a_layer() -> None:
    assert sorted(folder.name for folder in SCALA.iterdir() if folder.is_dir()) == sorted(LAYERS)


def test_folders_import_only_lower_ones() -> None:
    upward = [
        (folder, other)
        for number, folder in enumerate(LAYERS)
        for other in imports(folder)
        if LAYERS.index(other) > number
    ]
    assert not upward


MOST_LINES = 250


def test_files_are_short() -> None:
    long = {
        file.name: lines
        for file in [*SCALA.rglob("*.scala"), *JAVA.rglob("*.java")]
        if (lines := len(file.read_text().splitlines())) > MOST_LINES
    }
    assert not long


def circles(folder: Path) -> list[set[str]]:
    """Files of a folder that name each other's classes, directly or by others."""
    definition = re.compile(
        r"^(?:(?:private|protected|final|sealed|abstract|case|implicit|public|static)(?:\[\w+\])? +)*"
        r"(?:class|object|trait|interface|enum) (\w+)",
        re.MULTILINE,
    )
    java = JAVA / folder.relative_to(SCALA)
    files = [*folder.glob("*.scala"), *(java.glob("*.java") if java.is_dir() else [])]
    texts = {
        file.name: re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read_text(), flags=re.DOTALL)
        for file in files
    }
    home = {name: file for file, text in texts.items() for name in definition.findall(text)}
    named = {
        file: {home[word] for word in re.findall(r"\b[A-Z]\w*", text) if word in home} - {file}
        for file, text in texts.items()
    }

    def reached(file: str) -> set[str]:
        seen: set[str] = set()
        ahead = [file]
        while ahead:
            new = named[ahead.pop()] - seen
            seen |= new
            ahead += new
        return seen

    reach = {file: reached(file) for file in named}
    return [
        {other for other in reach[file] if file in reach[other]}
        for file in named
        if file in reach[file]
    ]


@pytest.mark.parametrize(
    "folder", sorted(f for f in SCALA.rglob("*") if f.is_dir()), ids=lambda f: f.name
)
def test_no_files_of_a_folder_name_each_other(folder: Path) -> None:
    assert not circles(folder)


def test_accelerators_are_named_in_their_folders_and_the_registry_only() -> None:
    """The rest of the house knows the contract: a new accelerator is one folder and one line."""
    folders = [folder.name for folder in (SCALA / "accelerator").iterdir() if folder.is_dir()]
    named = re.compile(rf"\bthetajoin\.accelerator\.({'|'.join(folders)})\b")
    elsewhere = [
        file
        for file in [*SCALA.rglob("*.scala"), *JAVA.rglob("*.java")]
        if "accelerator" not in file.parts and named.search(file.read_text())
    ]
    assert not elsewhere


# Optional members of the contract with fewer than two users among the accelerators and the kit, which serves several.
LONE_MEMBERS = {
    "newBatchProber": "points in order are swept by another prober than points one by one",
    "positionSets": "rows of one index alone are open at a point: the intervals'",
    "standIn": "only functions of another language can't be tested in a join",
    "BytesLookup": "it is the index of equality keys that are no numbers, for all of EXISTS",
}
MOST_OPTIONAL_MEMBERS = 18


def optional_members() -> list[str]:
    """What an author of an accelerator may implement: members with a default, and traits to mix in."""
    found = []
    for file in sorted((SCALA / "contract").glob("*.scala")):
        text = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.DOTALL)
        for block in re.split(r"^(?=\S)", text, flags=re.MULTILINE):
            mixed_in = re.match(r"trait (\w+) \{ this:", block)
            found += mixed_in.groups() if mixed_in else []
            if re.match(r"(trait|abstract class) ", block):
                found += re.findall(r"^  (?:def|val) (\w+).* = ", block, flags=re.MULTILINE)
    return found


def test_the_contract_has_few_optional_members() -> None:
    members = optional_members()
    assert {"takesNulls", "LongsProber", "newBatchProber"} <= set(members)
    assert len(members) <= MOST_OPTIONAL_MEMBERS, members
    folders = [SCALA / "kit", *(f for f in (SCALA / "accelerator").iterdir() if f.is_dir())]
    texts = ["\n".join(file.read_text() for file in f.rglob("*.scala")) for f in folders]
    users = {
        member: sum(
            bool(re.search(rf"override (def|val) {member}\b|(with|extends) {member}\b", text))
            for text in texts
        )
        for member in members
    }
    assert {member for member, count in users.items() if count < 2} == set(LONE_MEMBERS)


def test_accelerators_are_found() -> None:
    assert {"piecewise", "nestedloop"} <= set(accelerator_ids())


@pytest.mark.parametrize("id", accelerator_ids())
def test_accelerator_has_folder_tests_and_docs(id: str) -> None:
    assert (SCALA / "accelerator" / id).is_dir()
    tests = dict.fromkeys((ROOT / "tests" / "sql" / id).glob("*.test"), f"accelerated {id}")
    # SQL alone can't register an accelerator.
    registered = ROOT / "tests" / "python" / f"test_{id}_accelerators.py"
    tests |= {registered: f"ThetaJoin {id}"} if registered.is_file() else {}
    assert any(ran in file.read_text() for file, ran in tests.items())
    assert f"| `{id}` |" in (ROOT / "docs" / "accelerators.md").read_text()
    assert (
        f"spark.thetajoin.accelerator.{id}.enabled" in (ROOT / "docs" / "settings.md").read_text()
    )


@pytest.mark.parametrize("code", reason_codes())
def test_reason_has_a_test_and_docs(code: str) -> None:
    sources = [*(ROOT / "tests").rglob("*.test"), *(ROOT / "tests").rglob("test_*.py")]
    sources += (ROOT / "scala" / "src" / "test").rglob("*.scala")
    name = "".join(word.capitalize() for word in code.split("_"))
    tested = re.compile(rf"\b{code}\b|\bReasonCode\.{name}\b")
    assert any(tested.search(file.read_text()) for file in sources)
    assert f"| `{code}` |" in (ROOT / "docs" / "reasons.md").read_text()


def test_test_files_are_short() -> None:
    for file in (ROOT / "tests" / "sql").rglob("*.test"):
        lines = file.read_text().splitlines()
        assert len(lines) < 150, file
        assert max(map(len, lines)) <= 160, file


def test_the_first_block_of_a_test_file_shows_rows() -> None:
    heading = re.compile(r"^-- (accelerated|not accelerated|same|error) ?.*$", re.MULTILINE)
    for file in (ROOT / "tests" / "sql").rglob("*.test"):
        first, *others = heading.finditer(file.read_text())
        block = file.read_text()[first.start() : others[0].start() if others else None]
        assert first[1] == "error" or "\n-- rows " in block, file


def test_no_text_comparison_of_spark_versions() -> None:
    for file in SCALA.rglob("*.scala"):
        assert "SPARK_VERSION" not in file.read_text(), file


PRIVATE = re.compile(
    r"(?<![\w.~$}/])/(work|home|root|Users|usr/local|opt)/\w|\b[A-Z]:\\\w"  # paths of one machine
    r"|\b(github|gitlab|bitbucket)\.(com|io|org)\b"  # where the code is kept
    r"|\b(192\.168|10\.\d+|172\.(1[6-9]|2\d|3[01]))\.\d+\.\d+\b"
)
SELF = Path(__file__).resolve()


def test_no_machine_paths_or_hosts() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for file in tracked_files()
        if file != SELF
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1)
        if PRIVATE.search(line)
    ]
    assert not found, "\n".join(found)
