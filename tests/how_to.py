"""The pages of docs/how-to as they stand there: their SQL, their Python, the plans and the forms of other systems."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INDEX = ROOT / "docs/README.md"
PAGES = sorted((ROOT / "docs/how-to").glob("*.md"))
SECTIONS = [
    "SQL",
    "DataFrames",
    "Plan",
    "Measured",
    "What it does not do",
    "How others do it",
]
_IDS = re.compile(r"#\d+L?\b")


@dataclass(frozen=True)
class Page:
    """What a page says, by section."""

    path: Path
    title: str
    question: str
    sections: dict[str, str]

    @property
    def statements(self) -> list[list[str]]:
        """The statements of each block of SQL; the last one of a block is the query."""
        blocks = _fences(self.sections["SQL"], "sql")
        return [[s.strip() for s in re.split(r";\n", block)] for block in blocks]

    @property
    def setup(self) -> list[str]:
        """The statements before the queries."""
        return [statement for *before, _ in self.statements for statement in before]

    @property
    def program(self) -> str:
        """The Python, whose `joined` is the result."""
        (program,) = _fences(self.sections["DataFrames"], "python")
        return program

    @property
    def off(self) -> list[str]:
        """Lines of Spark's own plan of the first query."""
        return _fences(self.sections["Plan"], "")[0].splitlines()

    @property
    def on(self) -> list[str]:
        """Lines of the plan with thetajoin."""
        return _fences(self.sections["Plan"], "")[1].splitlines()

    @property
    def further(self) -> list[str]:
        """Lines of the plans of the other queries."""
        blocks = _fences(self.sections["Plan"], "")[2:]
        return [line for block in blocks for line in block.splitlines()]

    @property
    def accelerator(self) -> str:
        """The accelerator in the plan with thetajoin."""
        (found,) = {str(m) for line in self.on for m in re.findall(r"\w+ThetaJoin (\w+),", line)}
        return found

    @property
    def others(self) -> dict[str, str]:
        """The form of each other system, as it can be run."""
        rows = re.findall(r"^\| (\w+) \| `([^`]+)`", self.sections["How others do it"], re.M)
        return {system: form.replace("\\|", "|") for system, form in rows if system != "system"}


def read(path: Path) -> Page:
    """The page in a file."""
    head, *parts = re.split(r"^## ", path.read_text(), flags=re.M)
    title, question = (part.strip() for part in head.split("\n\n", 1))
    sections = dict(part.split("\n", 1) for part in parts)
    return Page(path, title.removeprefix("# "), question, sections)


def without_ids(plan: str) -> str:
    """A plan without the numbers of its columns."""
    return _IDS.sub("", plan)


def _fences(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
