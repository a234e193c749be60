"""Lists the public Python API, or compares it with that of an earlier commit.

    python tools/python_api.py            writes tests/shape/python_api.txt
    python tools/python_api.py --against v0.1.0

A test fails if the list is not up to date, so that a change of the API is seen in a review. The
comparison exits with 1 if code that runs on the earlier commit may break.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import griffe

ROOT = Path(__file__).resolve().parents[1]
SOURCES = "python/src"
LIST = ROOT / "tests" / "shape" / "python_api.txt"
HEADING = "# The public Python API. Written by tools/python_api.py.\n"


def shown(name: str, member: griffe.Object | griffe.Alias) -> Iterator[str]:
    """The lines of a name: its kind, and below it parameters or members with their types."""
    target = member.final_target if isinstance(member, griffe.Alias) else member
    if isinstance(target, griffe.Function):
        yield f"def {name} -> {target.returns}"
        for parameter in target.parameters:
            kind = " (keyword)" if parameter.kind is griffe.ParameterKind.keyword_only else ""
            yield f"  {typed(parameter.name + kind, parameter.annotation, parameter.default)}"
    elif isinstance(target, griffe.Class):
        yield f"class {name}({', '.join(map(str, target.bases))})"
        for inner, member in target.members.items():
            # The constructor of a dataclass takes its fields, in their order.
            if not inner.startswith("_") or (inner == "__init__" and not target.labels):
                yield from (f"  {line}" for line in shown(inner, member))
    elif isinstance(target, griffe.Attribute):
        yield typed(name, target.annotation, target.value)


def typed(name: str, annotation: object, value: object) -> str:
    return name + (f": {annotation}" if annotation else "") + (f" = {value}" if value else "")


def listing(root: Path = ROOT) -> str:
    """The names that the package exports and the settings, in order."""
    package = griffe.load("thetajoin", search_paths=[root / SOURCES])
    named = {str(name): package[str(name)] for name in package.exports or []}
    settings = package["_settings"].members
    named |= {f"settings.{name}": settings[name] for name in settings if name.isupper()}
    lines = [line for name in sorted(named) for line in shown(name, named[name])]
    return HEADING + "\n".join(lines) + "\n"


def breakages(against: str, root: Path = ROOT) -> list[str]:
    """What code that runs with the package of an earlier commit may trip over."""
    old = griffe.load_git("thetajoin", ref=against, repo=root, search_paths=[SOURCES])
    new = griffe.load("thetajoin", search_paths=[root / SOURCES])
    found = griffe.find_breaking_changes(old, new)
    return [
        f"{change.obj.path}: {change.kind.value}: {getattr(was, 'name', was)}"
        for change in found
        for was in [change.old_value or change.new_value]
    ]


def main(*arguments: str) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", metavar="COMMIT", help="compare with it, and write nothing")
    against = parser.parse_args(arguments).against
    if against is None:
        LIST.write_text(listing())
        return 0
    broken = breakages(against)
    print("\n".join(broken) or "nothing breaks")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
