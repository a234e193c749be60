"""Finds Spark event logs and gives their lines, whatever they are compressed with.

    app-1                       one file, plain or compressed
    eventlog_v2_app-2/          a rolled log: events_1_app-2.zstd, events_2_app-2.zstd, ...
    logs/                       a folder of both

The first bytes of a file tell its compression, so that renamed files are read too. A log that is
still being written, or was cut off, gives the lines that are whole.
"""

from __future__ import annotations

import gzip
import importlib
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from thetajoin.errors import AdviseError

ROLLED = "eventlog_v2_"
_PART = re.compile(r"events_(\d+)_")
_CHUNK = 1 << 20

ZSTD, GZIP, LZ4 = b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"LZ4Block"
UNREAD = {b"\x82SNAPPY": "snappy", b"ZV": "lzf"}

# A block of net.jpountz.lz4.LZ4BlockOutputStream, which Spark writes: the magic, a method, the two
# lengths and a checksum. The Python package reads frames and bare blocks, but not this format.
_LZ4_HEADER = struct.Struct("<8sBiii")
_LZ4_STORED, _LZ4_PACKED = 0x10, 0x20


def find_logs(paths: list[Path]) -> list[Path]:
    """The logs that the paths name: a file, the folder of a rolled log, or a folder of logs.

    Raises
    ------
    AdviseError
        If a path does not exist, or a folder holds no log.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise AdviseError(f"There is no such log: {path}.", hint="Name a file or a folder.")
        if path.is_file() or _is_rolled(path):
            found.append(path)
            continue
        inside = sorted(p for p in path.iterdir() if not p.name.startswith("."))
        logs = [p for p in inside if p.is_file() or _is_rolled(p)]
        if not logs:
            raise AdviseError(
                f"There is no event log in the folder: {path}.",
                hint="Name the folder of spark.eventLog.dir, or a log in it.",
            )
        found.extend(logs)
    return found


def lines(log: Path) -> Iterator[bytes]:
    """The lines of a log in order, without their ends.

    Raises
    ------
    AdviseError
        If a file is damaged, or a package that reads it is not installed.
    """
    for part in _parts(log):
        rest = b""
        for chunk in _chunks(part):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole
        if rest:
            yield rest


def _is_rolled(path: Path) -> bool:
    return path.is_dir() and (path.name.startswith(ROLLED) or bool(_numbered(path)))


def _numbered(folder: Path) -> list[tuple[int, Path]]:
    matches = ((_PART.match(p.name), p) for p in folder.iterdir())
    return sorted((int(match[1]), p) for match, p in matches if match)


def _parts(log: Path) -> list[Path]:
    """The files of a log. A compacted file stands for all that have its number or a lower one."""
    if log.is_file():
        return [log]
    numbered = _numbered(log)
    if not numbered:
        raise AdviseError(f"The rolled log is empty: {log}.", hint="Copy its events_* files too.")
    compacted = [number for number, p in numbered if p.name.endswith(".compact")]
    first = max(compacted, default=0)
    return [
        p
        for number, p in numbered
        if number > first or (number == first and p.name.endswith(".compact"))
    ]


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        start = file.read(8)
        file.seek(0)
        for magic, codec in UNREAD.items():
            if start.startswith(magic):
                raise AdviseError(
                    f"The log is compressed with {codec}, which is not read here: {path}.",
                    hint="Start the history server, download the log there, and unpack the file.",
                )
        if start.startswith(ZSTD):
            yield from _unzstd(file, path)
        elif start.startswith(LZ4):
            yield from _unlz4(file, path)
        elif start.startswith(GZIP):
            with gzip.open(file) as unpacked:
                yield from iter(lambda: unpacked.read(_CHUNK), b"")
        else:
            yield from iter(lambda: file.read(_CHUNK), b"")


def _unzstd(file: BinaryIO, path: Path) -> Iterator[bytes]:
    zstandard = _package("zstandard", path)
    reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    try:
        yield from iter(lambda: reader.read(_CHUNK), b"")
    except zstandard.ZstdError as error:
        raise _damaged(path, str(error)) from error


def _unlz4(file: BinaryIO, path: Path) -> Iterator[bytes]:
    block = _package("lz4.block", path)
    while len(header := file.read(_LZ4_HEADER.size)) == _LZ4_HEADER.size:
        magic, token, packed, unpacked, _ = _LZ4_HEADER.unpack(header)
        method = token & 0xF0
        if magic != LZ4 or method not in (_LZ4_STORED, _LZ4_PACKED) or min(packed, unpacked) < 0:
            raise _damaged(path, "a block of LZ4 does not begin as it should")
        data = file.read(packed)
        if len(data) < packed:
            return
        if method == _LZ4_STORED or unpacked == 0:
            yield data
            continue
        try:
            yield block.decompress(data, uncompressed_size=unpacked)
        except block.LZ4BlockError as error:
            raise _damaged(path, str(error)) from error


def _package(name: str, path: Path) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise AdviseError(
            f"The log is compressed, and the Python package {package} is not installed: {path}.",
            hint=f"pip install 'thetajoin[advise]', or pip install {package}.",
        ) from None


def _damaged(path: Path, why: str) -> AdviseError:
    return AdviseError(f"The log can't be unpacked: {path}. {why}.", hint="Copy the file again.")
