"""Reads text in the format of java.util.Properties, which Spark's defaults files have."""

from __future__ import annotations

import re
from collections.abc import Iterator

_KEY = re.compile(r"(?:\\.|[^\\=: \t\f])*")
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}

# What Spark takes off both ends of a value: all up to the space, but for ends of lines.
_TRIMMED = "".join(c for c in map(chr, range(33)) if c not in "\r\n")


def properties(text: str) -> dict[str, str]:
    """The values by their keys, as Spark takes them from a file."""
    found = {}
    for line in _lines(text):
        key = _KEY.match(line).group()  # type: ignore[union-attr]  # it matches the empty string
        value = _SEPARATOR.sub("", line[len(key) :], count=1)
        found[_unescaped(key)] = _unescaped(value).strip(_TRIMMED)
    return found


def _lines(text: str) -> Iterator[str]:
    """Lines that are no comments; one goes on in the next if its last backslash is not escaped."""
    line = ""
    for part in re.split(r"\r\n|\r|\n", text):
        more = part.lstrip(" \t\f")
        if not line and more.startswith(("#", "!")):
            continue
        backslashes = len(more) - len(more.rstrip("\\"))
        line += more[:-1] if backslashes % 2 else more
        if line and not backslashes % 2:
            yield line
            line = ""
    if line:
        yield line


def _unescaped(text: str) -> str:
    def meant(escape: re.Match[str]) -> str:
        code, char = escape.groups()
        return chr(int(code, 16)) if code else _ESCAPED.get(char, char)

    return _ESCAPE.sub(meant, text)
