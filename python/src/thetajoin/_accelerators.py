"""Accelerators written in Python: which function a class serves, and its registration."""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

C = TypeVar("C", bound=type)
Compared = Literal["<", "<=", "=", ">=", ">"]
Nearest = Literal["lowest", "highest"]
COMPARED = ("<", "<=", "=", ">=", ">")
_MANY = 1000
PREFIX = "spark.thetajoin.registered."


@dataclass(frozen=True)
class _Served:
    udf: Any  # None for a function of Spark's own
    name: str
    arguments: tuple[str, ...]
    build: tuple[int, ...]
    probe: tuple[int, int] | None
    nearest: dict[str, Any] | None
    compared: str | None
    takes_nulls: bool


# Not an attribute of the class: it goes to workers that need not have this package.
_served: WeakKeyDictionary[type, _Served] = WeakKeyDictionary()


def accelerator(
    *,
    serves: Any,
    arguments: Sequence[str] | None = None,
    build: str | Sequence[str] = (),
    compared: Compared | None = None,
    nearest: Nearest | None = None,
    takes_nulls: bool = False,
) -> Callable[[C], C]:
    """Say which function of both sides of a join a class finds the matches of.

    The class has the method ``build``, and one of ``probe`` and ``nearest``, or both:

    - ``build(self, keys, *constants)`` makes an index of the ``pyarrow.Table`` of all keys of one
      side. It may be any object. It is pickled; if it can't be, each worker builds it once.
    - ``probe(self, index, keys, *constants)`` finds the matches of a ``pyarrow.RecordBatch`` of
      keys of the other side: two arrays of whole numbers, the rows of the batch and the rows of the
      table, with each pair of a match once and in any order.
    - ``nearest(self, index, keys, k, *constants)`` finds the first ``k`` rows of the table for each
      row of the batch, in the order of the function's values: two arrays as those of ``probe``.
      The pairs of a row of the batch stand in that order, the first one first.
    - ``bytes(self, index)``, which it need not have, tells how much memory the index takes.

    Columns have the names of the function's arguments. ``constants`` are the values of those that
    read no column, in their order, then the constant that the function is compared with. A call
    with more or fewer of them than the methods take is left to Spark.

    Parameters
    ----------
    serves
        A function made by PySpark's ``udf``, ``pandas_udf`` or ``arrow_udf``, which Spark would
        call for all pairs. What the class finds takes the place of its answers. Or the name of a
        SQL function such as ``"levenshtein"``: Spark tests it on what the class finds, which may
        then be more than the matches.
    arguments
        The names of the function's arguments. By default those of the Python function.
    build
        The names of the arguments that can be indexed, all of which must be of one side then. By
        default either side's are.
    compared
        The operator between the function and a constant, for a function that is no condition by
        itself, such as ``score(a.x, b.y) >= 0.9``.
    nearest
        Whether rows with the lowest or the highest value come first: what ``ORDER BY
        distance(a.x, b.y) LIMIT k`` asks for, or with DESC. The class has the method ``nearest``
        then.
    takes_nulls
        Whether rows with a null among their arguments may have matches. By default they have none,
        and are not given to the class. Spark would call the function with ``None``.

    Examples
    --------
    >>> from pyspark.sql.functions import udf
    >>> @udf("boolean")
    ... def same_start(x, y):
    ...     return x[:1] == y[:1]
    >>> @accelerator(serves=same_start)
    ... class Starts:
    ...     def build(self, keys):
    ...         rows = {}
    ...         for row, text in enumerate(keys.column(0).to_pylist()):
    ...             rows.setdefault(text[:1], []).append(row)
    ...         return rows
    ...
    ...     def probe(self, index, keys):
    ...         texts = enumerate(keys.column(0).to_pylist())
    ...         pairs = [(i, row) for i, text in texts for row in index.get(text[:1], [])]
    ...         return [i for i, _ in pairs], [row for _, row in pairs]
    """
    if isinstance(serves, str):
        if arguments is None:
            raise ValueError(f"name the arguments of the function {serves} by `arguments`")
        if nearest is not None:
            raise ValueError(f"{serves} is no Python function, so it has no nearest rows")
        name, function = serves, None
    else:
        function = getattr(serves, "func", None)
        if function is None or not hasattr(serves, "returnType"):
            raise TypeError(
                "serves must be a function made by PySpark's udf, or the name of a SQL function, "
                f"but is {serves!r}"
            )
        name = function.__name__
        if not name.isidentifier():
            raise ValueError(f"the served function needs a name, but is called {name}")
    if compared is not None and compared not in COMPARED:
        raise ValueError(f"compared must be one of {', '.join(COMPARED)}, but is {compared!r}")
    if nearest not in (None, "lowest", "highest"):
        raise ValueError(f"nearest must be lowest or highest, but is {nearest!r}")
    names = tuple(arguments or _names(function))
    indexed = (build,) if isinstance(build, str) else tuple(build)
    unknown = [argument for argument in indexed if argument not in names]
    if unknown:
        raise ValueError(f"{name} has no argument {', '.join(unknown)}")
    places = tuple(names.index(argument) for argument in indexed)
    udf = None if function is None else serves
    served = _Served(udf, name, names, places, None, None, compared, takes_nulls)

    def note(cls: C) -> C:
        def has(method: str) -> bool:
            return callable(getattr(cls, method, None))

        for method in ("build", "nearest" if nearest else "probe"):
            if not has(method):
                raise TypeError(f"{cls.__name__} has no method {method}")
        if has("nearest") and not nearest:
            raise TypeError(f"say by `nearest` which rows {cls.__name__}.nearest gives first")
        first = {"first": nearest, "constants": _constants(cls, "nearest", 4)} if nearest else None
        probe = _constants(cls, "probe", 3) if has("probe") else None
        _served[cls] = replace(served, probe=probe, nearest=first)
        return cls

    return note


def register_accelerator(spark: SparkSession, accelerator: Any) -> None:
    """Let a session use an accelerator: joins on the function that it serves run on its index.

    A Python function is registered for SQL under its own name. It works over Spark Connect. In a
    session without thetajoin, Spark calls the function for all pairs.

    Parameters
    ----------
    spark
        The session, which alone knows the accelerator. Another one for the same function takes its
        place.
    accelerator
        An object of a class with the decorator `accelerator`. It is pickled.

    Examples
    --------
    >>> register_accelerator(spark, Starts())  # doctest: +SKIP
    >>> spark.sql("SELECT * FROM a LEFT JOIN b ON same_start(a.x, b.y)")  # doctest: +SKIP
    """
    served = _served.get(type(accelerator))
    if served is None:
        name = type(accelerator).__name__
        raise TypeError(f"{name} has no decorator @thetajoin.accelerator(serves=..)")
    definition = {
        "name": type(accelerator).__name__,
        "function": served.name,
        "arguments": served.arguments,
        "build": served.build,
        "probe": served.probe,
        "nearest": served.nearest,
        "carrier": None if served.udf is not None else f"thetajoin_{served.name}",
        "compared": served.compared,
        "takes_nulls": served.takes_nulls,
        "command": base64.b64encode(_command(accelerator)).decode(),
    }
    if served.udf is not None:
        spark.udf.register(served.name, served.udf)
    else:
        # By it, Spark tells in which environment a Python function runs.
        spark.udf.register(f"thetajoin_{served.name}", lambda: True, "boolean")
    spark.conf.set(PREFIX + served.name.lower(), json.dumps(definition))


def _names(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


def _constants(cls: type, method: str, others: int) -> tuple[int, int]:
    """How many constants both ``build`` and a method take, at least and at most."""
    of_build, of_method = _more(cls, "build", 2), _more(cls, method, others)
    return max(of_build[0], of_method[0]), min(of_build[1], of_method[1])


def _more(cls: type, method: str, others: int) -> tuple[int, int]:
    """How many parameters a method has beside those, at least and at most."""
    parameters = list(inspect.signature(getattr(cls, method)).parameters.values())
    named = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    least = sum(p.default is p.empty for p in named) - others
    any_number = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return max(least, 0), _MANY if any_number else len(named) - others


def _command(accelerator: Any) -> bytes:
    """What a worker runs, as Spark's workers read it."""
    from pyspark import cloudpickle, serializers

    from thetajoin import _worker

    # PySpark has no types for these.
    pickling: Any = cloudpickle
    spark: Any = serializers

    work = partial(_worker.run, accelerator, type(accelerator).__name__)
    pickling.register_pickle_by_value(_worker)
    try:
        frames = spark.NoOpSerializer()
        command: bytes = spark.CloudPickleSerializer().dumps((work, None, frames, frames))
    finally:
        pickling.unregister_pickle_by_value(_worker)
    return command
