"""The notebooks of the docs run, and give what stands in them."""

from __future__ import annotations

from pathlib import Path

import nbformat
import notebooks
import pytest


@pytest.mark.slow
@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_what_stands_in_it(path: Path, tmp_path: Path) -> None:
    written = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert any(notebooks.texts(written)), "it holds outputs"
    assert notebooks.texts(notebooks.executed(path, tmp_path)) == notebooks.texts(written)


def test_notebooks_are_found() -> None:
    assert len(notebooks.NOTEBOOKS) == 2
