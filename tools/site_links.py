"""A hook of mkdocs: pages outside of docs/ are in the site too, and links are made to fit.

The Markdown links files by their place in the checkout. A link to a page of the site leads to its
place there, and one to a Scala file to its scaladoc, if that is built. A link to any other file
that exists becomes plain text: the site has no such file.
"""

from __future__ import annotations

import re
from os.path import normpath, relpath
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "tests/README.md",
    "benchmarks/README.md",
    "benchmarks/results/*.md",
    "benchmarks/results/*.svg",
)
SCALADOC = ROOT / "target/api/target/scala-2.13/api"
LINK = re.compile(
    r"(?P<code>^ *```.*?^ *```|`[^`]*`)"
    r"|(?P<image>!?)\[(?P<text>[^][]*)\]\((?P<target>[^)\s]+)\)",
    re.S | re.M,
)

PLACE = re.compile(r'href="([^":]+\.(?:md|ipynb)(?:#[^"]*)?)"')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs with the files below docs/."""
    for pattern in OUTSIDE:
        for path in sorted(ROOT.glob(pattern)):
            place = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, place, abs_src_path=str(path)))
    for path in sorted(path for path in SCALADOC.rglob("*") if path.is_file()):
        place = f"scaladoc/{path.relative_to(SCALADOC).as_posix()}"
        files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Called by mkdocs with the text of a page."""
    return fitted(markdown, page.file.src_uri, files)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Called by mkdocs with a page as HTML; the plugin for notebooks leaves their links."""
    home = PurePosixPath(page.file.src_uri).parent

    def link(match: re.Match[str]) -> str:
        path, mark, anchor = match[1].partition("#")
        file = files.get_file_from_path(normpath(home / path))
        return f'href="{file.url_relative_to(page.file)}{mark}{anchor}"' if file else match[0]

    return PLACE.sub(link, html) if page.file.src_uri.endswith(".ipynb") else html


def fitted(markdown: str, page: str, files: Any) -> str:
    """The text with the links that the site has; `files` knows the pages by their places."""
    home = PurePosixPath(_in_checkout(page)).parent

    def link(match: re.Match[str]) -> str:
        target, mark, anchor = match["target"].partition("#") if match["target"] else ("", "", "")
        if match["code"] or not target or ":" in target:
            return match[0]
        path = normpath(home / target)
        if (ROOT / path).is_dir():
            path += "/README.md"
        place = path.removeprefix("docs/")
        place = re.sub(r"^scala/src/main/scala/(.*)\.scala$", r"scaladoc/\1.html", place)
        if files.get_file_from_path(place):
            to = relpath(place, PurePosixPath(page).parent)
            return f"{match['image']}[{match['text']}]({to}{mark}{anchor})"
        return match["text"] if (ROOT / home / target).exists() else match[0]

    return LINK.sub(link, markdown)


def _in_checkout(page: str) -> str:
    outside = (ROOT / page).exists() and not (ROOT / "docs" / page).exists()
    return page if outside else f"docs/{page}"
