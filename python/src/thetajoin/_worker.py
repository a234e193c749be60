"""What runs in Spark's Python workers for an accelerator written in Python.

It goes to the workers by value, so they need not have this package: it imports none of it.

A call gets byte strings: what to do as JSON, the constants, then keys. Constants and keys are Arrow
streams of one batch.

    build   all keys of one side                  -> the pickled index, and how many bytes it takes
                                                     in a worker
    probe   batches of keys of the other side     -> for each where its rows' candidates end, and
                                                     the candidates
    nearest the same, for the first k rows        -> the same
"""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa

# What a pickled index begins with: the index itself, or the keys where it can't be pickled.
INDEX, KEYS = b"i", b"k"

MOST_INDEXES = 4
MOST_PAIRS = 2**29


def run(accelerator: Any, name: str, _: int, frames: Iterator[bytes]) -> Iterator[bytes]:
    header = json.loads(bytes(next(frames)))
    constants = next(frames)
    values = list(table(constants).to_pylist()[0].values()) if len(constants) else []
    if header["does"] == "build":
        yield from built(accelerator, name, header["build_names"], values, list(frames))
    else:
        method = header["does"]
        most = header["k"] if method == "nearest" else None
        find = partial(getattr(accelerator, method), loaded(accelerator, name, header, values))
        for frame in frames:
            keys = table(frame).rename_columns(header["probe_names"])
            batch = keys.combine_chunks().to_batches()[0]
            given = [batch] if most is None else [batch, most]
            pairs = called(name, method, partial(find, *given, *values))
            found = checked(f"{name}.{method}", pairs, batch.num_rows, header["rows"], most)
            yield answer(*found, batch.num_rows)


def table(frame: bytes) -> Any:
    with pa.ipc.open_stream(frame) as stream:
        return stream.read_all()


def built(
    accelerator: Any, name: str, names: list[str], values: list[Any], frames: list[bytes]
) -> Iterator[bytes]:
    """The index, or the keys if it can't be pickled: then each worker builds it once."""
    from pyspark import cloudpickle

    pickled: Callable[..., bytes] = cloudpickle.dumps
    index = made(accelerator, name, names, values, frames)
    try:
        written = INDEX + pickled(index, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:
        keys = (names, [bytes(frame) for frame in frames])
        written = KEYS + pickle.dumps(keys, protocol=pickle.HIGHEST_PROTOCOL)
    yield written
    size = called(name, "bytes", partial(getattr(accelerator, "bytes", lambda _: 0), index))
    if not isinstance(size, (int, np.integer)) or size < 0:
        raise ValueError(f"[PYTHON_ACCELERATOR] {name}.bytes gave {size!r}, no number of bytes")
    yield int(size).to_bytes(8, "little")


def made(
    accelerator: Any, name: str, names: list[str], values: list[Any], frames: list[bytes]
) -> Any:
    keys = pa.concat_tables([table(frame) for frame in frames]).rename_columns(names)
    return called(name, "build", partial(accelerator.build, keys, *values))


def loaded(accelerator: Any, name: str, header: dict[str, Any], values: list[Any]) -> Any:
    """The index of a file. A worker keeps the last few, while their files are there."""
    module = sys.modules.setdefault("_thetajoin_indexes", ModuleType("_thetajoin_indexes"))
    kept: dict[str, Any] = vars(module).setdefault("kept", {})
    for path in [path for path in kept if not Path(path).exists()]:
        del kept[path]
    path = header["index"]
    if path in kept:
        index = kept.pop(path)
    else:
        with Path(path).open("rb") as file:
            kind = file.read(1)
            content = pickle.load(file)
        index = (
            content if kind == INDEX else made(accelerator, name, content[0], values, content[1])
        )
    while len(kept) >= MOST_INDEXES:
        del kept[next(iter(kept))]
    kept[path] = index
    return index


def called(name: str, method: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        raise RuntimeError(f"[PYTHON_ACCELERATOR] {name}.{method} failed: {error!r}") from error


def checked(
    method: str, pairs: Any, probe_rows: int, build_rows: int, most: int | None = None
) -> tuple[Any, Any]:
    """
    The pairs in order of their probe rows, each once, or an error that says what is wrong. If there
    are so many pairs of a probe row at most, they keep their order.
    """

    def wrong(what: str) -> Exception:
        return ValueError(f"[PYTHON_ACCELERATOR] {method} gave {what}")

    try:
        of_probe, of_build = pairs
    except (TypeError, ValueError):
        raise wrong(f"no pair (probe_rows, build_rows), but: {type(pairs).__name__}") from None
    probe = numbers(of_probe, "probe_rows", probe_rows, wrong)
    build = numbers(of_build, "build_rows", build_rows, wrong)
    if len(probe) != len(build):
        raise wrong(f"{len(probe)} probe_rows and {len(build)} build_rows")
    if len(probe) > MOST_PAIRS:
        raise wrong(
            f"{len(probe)} pairs for a batch of {probe_rows} rows, more than {MOST_PAIRS}: lower "
            "spark.sql.execution.arrow.maxRecordsPerBatch"
        )
    if most is not None:
        counts = np.bincount(probe, minlength=1)
        if counts.max() > most:
            at = int(np.argmax(counts))
            raise wrong(f"{counts[at]} build rows for probe row {at}, more than {most}")
        order = np.argsort(probe, kind="stable")
        in_order = probe[order], build[order]
    both = probe * build_rows + build
    if len(both) > 1:
        steps = np.diff(both)
        if steps.min() < 0:
            both.sort()
            steps = np.diff(both)
            probe, build = np.divmod(both, build_rows)
        if steps.min() == 0:
            at = int(np.argmin(steps))
            raise wrong(f"probe row {probe[at]} with build row {build[at]} more than once")
    return (probe, build) if most is None else in_order


def numbers(given: Any, what: str, rows: int, wrong: Callable[[str], Exception]) -> Any:
    """Row numbers of 64 bits."""
    if isinstance(given, (pa.Array, pa.ChunkedArray)):
        if given.null_count:
            raise wrong(f"{given.null_count} nulls in {what}")
        given = (
            given.to_numpy(zero_copy_only=False)
            if isinstance(given, pa.Array)
            else given.to_numpy()
        )
    array = np.asarray(given)
    if array.ndim != 1:
        raise wrong(f"{what} of {array.ndim} dimensions, not 1")
    if len(array) == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise wrong(f"{what} of type {array.dtype}, not whole numbers")
    if array.min() < 0 or array.max() >= rows:
        outside = array.min() if array.min() < 0 else array.max()
        raise wrong(f"{outside} among {what}, which are numbers from 0 to {rows - 1}")
    return array.astype(np.int64)


def answer(probe: Any, build: Any, rows: int) -> bytes:
    """The number of rows, the end of each row's candidates, and the candidates."""
    ends = np.cumsum(np.bincount(probe, minlength=rows))
    parts = (np.array([rows]), ends, build)
    return b"".join(part.astype("<i4").tobytes() for part in parts)
