"""The docs site is built without a warning, and each link of its pages leads to a page and a place in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import site_links


class Links(HTMLParser):
    """What a page leads to, and the places that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src") and value and tag != "script":
                self.targets.append(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def broken(site: Path) -> Iterator[str]:
    """Links within the site that lead nowhere."""
    pages = {
        path: Links(path.read_text()) for path in site.rglob("*.html") if path.name != "404.html"
    }
    for page, links in pages.items():
        for link in links.targets:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (page.parent / unquote(url.path)).resolve() if url.path else page
            target = target / "index.html" if target.is_dir() else target
            found = target.exists()
            if found and url.fragment and target in pages:
                found = unquote(url.fragment) in pages[target].places
            if not found:
                yield f"{page.relative_to(site)}: {link}"


def build(config: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """As `make docs-site` does it. Quietly, mkdocs would not count its warnings."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_warning_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("[no such place](#nowhere)\n")
    config = tmp_path / "mkdocs.yml"
    config.write_text("site_name: x\nvalidation: {anchors: warn}\n")
    done = build(config, tmp_path / "site")
    assert done.returncode != 0 and "#nowhere" in done.stderr


def test_links_lead_to_places(site: Path) -> None:
    assert not list(broken(site))


def test_every_page_is_in_the_site(site: Path) -> None:
    assert len(list((site / "how-to").glob("*/index.html"))) >= 18
    for path in (ROOT / "docs").rglob("*.md"):
        place = path.relative_to(ROOT / "docs").with_suffix("")
        folder = place.parent if place.name == "README" else place
        assert (site / folder / "index.html").exists(), path


def test_the_functions_of_the_package_are_documented(site: Path) -> None:
    text = (site / "python/index.html").read_text()
    for name in ("configure", "explain_joins", "asof_join", "nearest_join"):
        assert f'id="thetajoin.{name}"' in text


def test_lists_within_lists_are_lists(site: Path) -> None:
    """Two blanks make a list within a list, as in the Markdown of this project."""
    assert re.search(r"<li>.*?<ul>\s*<li>", (site / "limits/index.html").read_text(), re.S)


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#x">b</a><a href="b.html#y">b</a><a href="c.html">c</a>'
    )
    (tmp_path / "b.html").write_text(
        '<p id="x">x</p><img src="d.svg"><a href="#x">x</a><a href="https://z">z</a>'
    )
    assert sorted(broken(tmp_path)) == ["a.html: b.html#y", "a.html: c.html", "b.html: d.svg"]


def test_links_are_made_to_fit_the_site() -> None:
    class Files(defaultdict[str, bool]):
        def get_file_from_path(self, place: str) -> bool:
            scaladoc = "scaladoc/thetajoin/contract/Accelerator.html"
            return place in ("top-k.md", "CHANGELOG.md", "decisions/README.md", scaladoc)

    fitted = site_links.fitted(
        "[a](../top-k.md#x) [b](../../CHANGELOG.md) [c](../../build.sbt) [d](gone.md) [e](../decisions) `[f](g)` "
        "[h](../../scala/src/main/scala/thetajoin/contract/Accelerator.scala)",
        "how-to/page.md",
        Files(),
    )
    assert (
        fitted
        == "[a](../top-k.md#x) [b](../CHANGELOG.md) c [d](gone.md) [e](../decisions/README.md) `[f](g)` "
        "[h](../scaladoc/thetajoin/contract/Accelerator.html)"
    )
