"""Runs the notebooks of docs/notebooks: `python tests/notebooks.py` writes their outputs into them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


def executed(path: Path, folder: Path) -> Any:
    """The notebook as it is after a run in a kernel of its own, which works in a folder."""
    os.environ["PYTHONPATH"] = str(ROOT / "python/src")
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(folder)}}, record_timing=False
    ).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            # Spark's log is of the day.
            cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
            cell.execution_count = None
            for out in cell.outputs:
                if "execution_count" in out:
                    out.execution_count = None
    return notebook


def texts(notebook: Any) -> list[str]:
    """What each cell of code has printed or given."""
    return [
        "".join(out.get("text") or out["data"]["text/plain"] for out in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


if __name__ == "__main__":
    for name in NOTEBOOKS:
        nbformat.write(executed(name, Path(sys.argv[1])), name)  # type: ignore[no-untyped-call]
