"""Finds sentences without a noun, words for which there is a better one, and long lines.

    python tools/prose_lint.py [--docs]

Reads the Markdown of the project and, unless --docs is given, the comments of the Scala code and
the texts that users see (reasons, settings, summaries). Code, link targets, tables' widths and
generated pages are left out: the sources of generated pages are read.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("*.md", "docs/**/*.md", "benchmarks/*.md", "demo/*.md", "tests/*.md", "python/*.md")
SCALA = "scala/src/main/scala/**/*.scala"
COLUMNS = 120

NOUN = "name the noun"
WORDS = {
    r"of which|those that|that of|those of|of what": NOUN,
    r"What is(?![^.?]*\?)": NOUN,
    "beside": "AND, with, next to",
    "turned over": "negated",
    "first matches": "first k matches, top-k, nearest rows",
    "open columns?": "wildcard",
    "spread|spreads|spreading": "repartitioned, skewed",
    "taken": "accelerated, used, chosen",
}
FOUND = [
    (re.compile(rf"\b(?:{words})\b".replace(" ", r"\s+"), 0 if words[0] == "W" else re.I), better)
    for words, better in WORDS.items()
]

MARKDOWN_CODE = re.compile(r"^ *```.*?^ *```|`[^`]+`|(?<=\]\()[^)]*|<!--.*?-->", re.S | re.M)
SCALA_PARTS = re.compile(
    r"'(?:\\.|[^'\\])'|(?P<text>\"{3}.*?\"{3}|\"(?:\\.|[^\"\\\n])*\")"
    r"|(?P<comment>/\*.*?\*/|//[^\n]*)",
    re.S,
)
SCALA_CODE = re.compile(r"\{\{\{.*?\}\}\}|@param \w+|`[^`\n]+`|\[\[\S+|^ *\*|[\"/*]", re.S | re.M)
SEEN_BY_USERS = re.compile(r"extends ReasonCode\(|val summary|object Settings ")


def blank(match: re.Match[str]) -> str:
    """As many blanks, so that places stay."""
    return re.sub(r"[^\n]", " ", match.group())


def prose(path: Path) -> str:
    """The text of a file with blanks in place of all that is no prose."""
    text = path.read_text()
    if path.suffix == ".md":
        return "" if text.startswith("<!-- Generated") else MARKDOWN_CODE.sub(blank, text)
    kept: list[str] = []
    end = 0
    for part in SCALA_PARTS.finditer(text):
        kept.append(re.sub(r"[^\n]", " ", text[end : part.start()]))
        is_text = part["comment"] or (part["text"] and SEEN_BY_USERS.search(text))
        kept.append(SCALA_CODE.sub(blank, part.group()) if is_text else blank(part))
        end = part.end()
    return "".join(kept)


def problems(path: Path) -> Iterator[tuple[int, str]]:
    """Line numbers, and what to write in place of what."""
    text = prose(path)
    for pattern, better in FOUND:
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield line, f"{' '.join(match.group().split())} -> {better}"
    lines = zip(path.read_text().split("\n"), text.split("\n"), strict=False)
    for number, (whole, words) in enumerate(lines, 1):
        if len(whole) > COLUMNS and words.strip() and not whole.startswith("|"):
            yield number, f"{len(whole)} columns -> {COLUMNS}"


def main(*arguments: str) -> int:
    """Print what is found below the project's folder; 1 if there is anything."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--docs", action="store_true", help="only the pages in Markdown")
    globs = PAGES if parser.parse_args(arguments).docs else (*PAGES, SCALA)
    files = sorted({file for glob in globs for file in ROOT.glob(glob)})
    found = [(file, *problem) for file in files for problem in sorted(problems(file))]
    for file, line, problem in found:
        print(f"{file.relative_to(ROOT)}:{line}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
