"""What runs in Python workers for an accelerator, without Spark: frames in, frames out."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import thetajoin
from pyspark import cloudpickle
from pyspark.sql.functions import udf
from pyspark.sql.types import BooleanType
from thetajoin import _accelerators, _worker


class Multiples:
    """Rows of which one is a multiple of the other, from `least` on."""

    def build(self, keys: pa.Table, least: int = 0) -> Any:
        return keys.column("x").to_pylist()

    def probe(self, index: Any, keys: pa.RecordBatch, least: int = 0) -> Any:
        found = [
            (i, j)
            for j, x in enumerate(index)
            for i, y in enumerate(keys.column("y").to_pylist())
            if y % x == 0 and y >= least
        ]
        return [i for i, _ in found], [j for _, j in found]


class Held(Multiples):
    """With an index that can't be pickled."""

    made = 0

    def build(self, keys: pa.Table, least: int = 0) -> Any:
        Held.made += 1
        return Locked(super().build(keys, least))


class Locked(list[int]):
    def __init__(self, values: Sequence[int]) -> None:
        super().__init__(values)
        self.lock = threading.Lock()


def frame(*columns: Sequence[Any]) -> bytes:
    table = pa.table({str(i): pa.array(column) for i, column in enumerate(columns)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def run(
    accelerator: Any, frames: Sequence[bytes], constants: bytes = b"", **header: Any
) -> list[bytes]:
    told = {"build_names": ["x"], "probe_names": ["y"], **header}
    ahead = [json.dumps(told).encode(), constants]
    return list(_worker.run(accelerator, "Multiples", 0, iter([*ahead, *frames])))


def read(answer: bytes) -> list[list[int]]:
    numbers = np.frombuffer(answer, dtype="<i4")
    rows = numbers[0]
    ends, found = numbers[1 : rows + 1], numbers[rows + 1 :]
    return [found[a:b].tolist() for a, b in zip([0, *ends], ends, strict=False)]


def index_in(folder: Path, accelerator: Any, *frames: bytes) -> str:
    pickled, _ = run(accelerator, frames, does="build")
    path = folder / f"index-{len(list(folder.iterdir()))}"
    path.write_bytes(pickled)
    return str(path)


def test_an_index_is_built_pickled_and_probed(tmp_path: Path) -> None:
    index = index_in(tmp_path, Multiples(), frame([2, 3]), frame([5]))
    answers = run(Multiples(), [frame([6, 7, 10]), frame([30])], does="probe", index=index, rows=3)
    assert [read(answer) for answer in answers] == [[[0, 1], [], [0, 2]], [[0, 1, 2]]]


def test_constants_are_given_after_the_keys(tmp_path: Path) -> None:
    index = index_in(tmp_path, Multiples(), frame([2, 3]))
    (answer,) = run(Multiples(), [frame([6, 9])], frame([7]), does="probe", index=index, rows=2)
    assert read(answer) == [[], [1]]


def test_an_index_that_cannot_be_pickled_is_built_once_by_each_worker(tmp_path: Path) -> None:
    Held.made = 0
    index = index_in(tmp_path, Held(), frame([2, 3]))
    for _ in range(3):
        (answer,) = run(Held(), [frame([6])], does="probe", index=index, rows=2)
        assert read(answer) == [[0, 1]]
    assert Held.made == 2


def test_a_worker_keeps_the_last_indexes_while_their_files_are_there(tmp_path: Path) -> None:
    paths = [index_in(tmp_path, Multiples(), frame([i])) for i in range(1, 7)]
    for path in paths:
        run(Multiples(), [frame([6])], does="probe", index=path, rows=1)
    kept = vars(__import__("_thetajoin_indexes"))["kept"]
    assert list(kept) == paths[-_worker.MOST_INDEXES :]
    Path(paths[-1]).unlink()
    run(Multiples(), [frame([6])], does="probe", index=paths[-2], rows=1)
    assert paths[-1] not in kept and list(kept)[-1] == paths[-2]


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        (None, "no pair"),
        (([0], [0], [0]), "no pair"),
        (([0, 1], [0]), "2 probe_rows and 1 build_rows"),
        (([4], [0]), "4 among probe_rows"),
        (([-1], [0]), "-1 among probe_rows"),
        (([0], [5]), "5 among build_rows, which are numbers from 0 to 4"),
        (([0.0], [0]), "type float64"),
        ((["0"], [0]), "not whole numbers"),
        (([True], [0]), "type bool"),
        (([[0]], [0]), "2 dimensions"),
        ((pa.array([0, None]), [0, 1]), "1 nulls in probe_rows"),
        (([1, 0, 1], [2, 0, 2]), "probe row 1 with build row 2 more than once"),
    ],
)
def test_wrong_answers_are_refused(pairs: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text) as refused:
        _worker.checked("Names.probe", pairs, 4, 5)
    assert "[PYTHON_ACCELERATOR] Names.probe gave" in str(refused.value)


@pytest.mark.parametrize(
    "pairs",
    [
        ([2, 0], [1, 3]),
        (np.array([2, 0], dtype=np.uint8), np.array([1, 3], dtype=np.int32)),
        (pa.array([2, 0], pa.int32()), pa.chunked_array([[1], [3]])),
    ],
)
def test_pairs_come_in_any_order_and_type_of_whole_numbers(pairs: Any) -> None:
    probe, build = _worker.checked("Names.probe", pairs, 4, 5)
    assert read(_worker.answer(probe, build, 4)) == [[3], [], [1], []]
    assert read(_worker.answer(*_worker.checked("Names.probe", ([], []), 2, 5), 2)) == [[], []]


class Nearest(Multiples):
    def __init__(self, size: Any = 0) -> None:
        self.size = size

    def nearest(self, index: Any, keys: pa.RecordBatch, k: int, least: int = 0) -> Any:
        asked = enumerate(keys.column("y").to_pylist())
        near = {
            i: sorted(range(len(index)), key=lambda j, y=y: abs(index[j] - y))[:k] for i, y in asked
        }
        pairs = [(i, j) for i in reversed(near) for j in near[i]]
        return [i for i, _ in pairs], [j for _, j in pairs]

    def bytes(self, index: Any) -> Any:
        return self.size


def test_the_nearest_keep_their_order(tmp_path: Path) -> None:
    index = index_in(tmp_path, Nearest(), frame([9, 2, 5]))
    (answer,) = run(Nearest(), [frame([6, 1])], does="nearest", index=index, rows=3, k=2)
    assert read(answer) == [[2, 0], [1, 2]]


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        (([1, 0, 1, 1], [0, 1, 2, 3]), "3 build rows for probe row 1, more than 2"),
        (([0, 1, 0], [2, 2, 2]), "probe row 0 with build row 2 more than once"),
        (([0], [5]), "5 among build_rows"),
    ],
)
def test_more_than_the_nearest_are_refused(pairs: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        _worker.checked("Names.nearest", pairs, 4, 5, 2)
    empty = _worker.checked("Names.nearest", ([], []), 4, 5, 2)
    assert read(_worker.answer(*empty, 4)) == [[], [], [], []]


def test_an_index_has_the_size_that_it_says() -> None:
    assert run(Nearest(2**40), [frame([1])], does="build")[1] == (2**40).to_bytes(8, "little")
    assert run(Multiples(), [frame([1])], does="build")[1] == bytes(8)
    for size in (-1, 0.5, None):
        with pytest.raises(ValueError, match=r"Multiples\.bytes gave"):
            run(Nearest(size), [frame([1])], does="build")


def test_an_error_names_the_accelerator() -> None:
    class Broken(Multiples):
        def build(self, keys: pa.Table, least: int = 0) -> Any:
            raise KeyError("no such thing")

    with pytest.raises(
        RuntimeError, match=r"\[PYTHON_ACCELERATOR\] Multiples.build failed: KeyError"
    ):
        run(Broken(), [frame([1])], does="build")


def test_the_command_needs_no_package_in_the_worker() -> None:
    """Nothing in it is imported from thetajoin."""
    command = _accelerators._command(object())
    work, profiler, *_ = cloudpickle.loads(command)
    assert profiler is None and work.func.__globals__ is not vars(_worker)
    code = f"import pickle, sys; sys.modules['thetajoin'] = None; pickle.loads({command!r})"
    subprocess.run([sys.executable, "-c", code], check=True)


@udf(BooleanType())
def divides(x: int, y: int) -> bool:
    return y % x == 0


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"serves": "divides"}, ValueError, "name the arguments"),
        ({"serves": len}, TypeError, "made by PySpark's udf"),
        ({"serves": udf(lambda x, y: x == y, BooleanType())}, ValueError, "needs a name"),
        ({"serves": divides, "build": "z"}, ValueError, "no argument z"),
        ({"serves": divides, "compared": "<>"}, ValueError, "compared must be one of"),
        ({"serves": divides, "nearest": "first"}, ValueError, "lowest or highest"),
        (
            {"serves": "length", "arguments": ("x",), "nearest": "lowest"},
            ValueError,
            "no Python function",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        thetajoin.accelerator(**arguments)


def test_a_class_needs_its_methods_and_the_decorator() -> None:
    with pytest.raises(TypeError, match="int has no method build"):
        thetajoin.accelerator(serves=divides)(int)
    with pytest.raises(TypeError, match="Multiples has no method nearest"):
        thetajoin.accelerator(serves=divides, nearest="lowest")(Multiples)
    with pytest.raises(TypeError, match=r"which rows Nearest\.nearest gives first"):
        thetajoin.accelerator(serves=divides)(Nearest)
    with pytest.raises(TypeError, match="Multiples has no decorator"):
        thetajoin.register_accelerator(None, Multiples())  # type: ignore[arg-type]
