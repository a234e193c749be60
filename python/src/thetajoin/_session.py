"""Sets a Spark session up for thetajoin: finds the jar and adds it to a session builder."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from thetajoin._inherited import inherited
from thetajoin._jvm import load_jar
from thetajoin._plans import EXPLAIN_PROVIDER, EXPLAIN_PROVIDERS, extension_loaded, is_remote
from thetajoin.errors import (
    ConfigureError,
    JarNotFoundError,
    RemoteBuilderWarning,
    SettingsReplacedWarning,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTENSION = "thetajoin.ThetaJoinExtensions"

KRYO_REGISTRATOR = "thetajoin.ThetaJoinKryoRegistrator"
"""Name of the class that registers thetajoin's classes with Kryo.

A session that sets ``spark.kryo.registrationRequired`` needs it in ``spark.kryo.registrator``, a
list to which your own registrator may belong as well.
"""

LOWEST_SPARK, HIGHEST_SPARK = (4, 0), (4, 3)
SPARK_RANGE = "Spark 4.0 to 4.3"


class _Builder(Protocol):
    def config(self, key: str, value: str, /) -> Any: ...


B = TypeVar("B", bound=_Builder)


def configure(builder: B) -> B:
    """Add thetajoin to a session builder: its jar, its extension and its section in EXPLAIN.

    Other jars, extensions and explain providers stay, be they set on the builder, by
    ``spark-submit`` or in ``spark-defaults.conf``. Calling it twice adds nothing. Call it before
    the first session starts, since Spark reads its extensions only then, and after other calls that
    set one of these confs: the last one counts. If ours has been replaced when the session starts,
    ``getOrCreate()`` gives a `SettingsReplacedWarning`.

    If the session sets ``spark.kryo.registrationRequired``, put `KRYO_REGISTRATOR` into its
    ``spark.kryo.registrator``; it works with or without other names in that list.

    A builder for a Spark Connect server (``sc://...``) is given back as it is, with a
    `RemoteBuilderWarning`: there the server has to be set up, as ``conf/connect`` shows.

    Parameters
    ----------
    builder
        A ``SparkSession.builder`` of PySpark, in any state.

    Returns
    -------
    The same builder.

    Raises
    ------
    ConfigureError
        If a session without thetajoin is running, PySpark is older than 4.0, or the argument is no
        builder.
    JarNotFoundError
        As for `jar_path`.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> spark = configure(SparkSession.builder.master("local[2]")).getOrCreate()
    >>> spark.sql("SELECT * FROM range(4) AS a JOIN range(4) AS b ON a.id >= b.id").count()
    10
    """
    held = getattr(builder, "_options", None)
    if not isinstance(held, dict):
        raise ConfigureError(
            f"configure takes a session builder, not: {type(builder).__name__}.",
            hint="Call thetajoin.configure(SparkSession.builder).",
        )
    if _is_for_server(builder, held):
        warnings.warn(
            "The session runs on a Spark Connect server, which has to be set up itself: start it "
            f"with thetajoin.jar in --jars, spark.sql.extensions={EXTENSION} and "
            f"{EXPLAIN_PROVIDERS}={EXPLAIN_PROVIDER}. "
            "Then `python -m thetajoin doctor --remote <url>` checks it.",
            RemoteBuilderWarning,
            stacklevel=2,
        )
        return builder
    _require_supported_spark()
    _require_no_session_without_us()
    jar = jar_path()
    load_jar(jar)
    ours = {
        "spark.jars": jar,
        "spark.sql.extensions": EXTENSION,
        EXPLAIN_PROVIDERS: EXPLAIN_PROVIDER,
    }
    for key, name in ours.items():
        builder.config(key, with_name(held.get(key) or inherited(key), name))
    vars(builder)["getOrCreate"] = _Start(builder, ours)
    return builder


class _Start:
    """A builder's getOrCreate that tells first what of ours has been replaced on the builder."""

    def __init__(self, builder: Any, ours: dict[str, str]) -> None:
        start = builder.getOrCreate
        self._start: Callable[[], SparkSession] = (
            start._start if isinstance(start, _Start) else start
        )
        self._builder = builder
        self._ours = ours

    def __call__(self) -> SparkSession:
        from pyspark import SparkContext

        held = self._builder._options
        replaced = {
            key: held.get(key)
            for key, name in self._ours.items()
            if name not in _names(held.get(key))
        }
        if replaced and SparkContext._active_spark_context is None:
            warnings.warn(
                "The session starts without all of thetajoin: after thetajoin.configure the "
                f"builder was given {', '.join(f'{k}={v}' for k, v in replaced.items())}, in place "
                "of a list with our name. Call thetajoin.configure last: it keeps what it finds.",
                SettingsReplacedWarning,
                stacklevel=2,
            )
        return self._start()


def jar_path() -> str:
    """Absolute path of the jar that Spark loads, e.g. for ``spark-submit --jars``.

    It is the one inside of the package; in a source checkout the one last built there, if any.

    Raises
    ------
    JarNotFoundError
        If there is neither.

    Examples
    --------
    >>> jar_path().endswith("thetajoin.jar")
    True
    """
    package = Path(__file__).resolve().parent
    places = [package / "jars" / "thetajoin.jar"]
    checkout = package.parents[2]
    if (checkout / "build.sbt").is_file():
        places.insert(0, checkout / "target" / "scala-2.13" / "thetajoin.jar")
    for place in places:
        if place.is_file():
            return str(place)
    raise JarNotFoundError(
        f"The jar of thetajoin is missing: {', '.join(map(str, places))}.",
        hint="Install the package from its wheel; in a source checkout run `make setup`.",
    )


def with_name(names: str | None, name: str) -> str:
    """A comma-separated conf value that holds the name, once, after what it held before."""
    before = _names(names)
    return ",".join(before if name in before else [*before, name])


def _names(names: str | None) -> list[str]:
    return [n.strip() for n in (names or "").split(",") if n.strip()]


def supports(version: str) -> bool:
    """Whether the jar runs on this version of Spark, such as "4.3.0"."""
    return LOWEST_SPARK <= _major_minor(version) <= HIGHEST_SPARK


def _major_minor(version: str) -> tuple[int, int]:
    # Not by `packaging`: it would be a dependency, and refuses the versions of some vendors.
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _is_for_server(builder: object, held: dict[str, Any]) -> bool:
    """Whether the session will run on a server that is set up elsewhere.

    ``remote("local")`` starts a Connect server in this process, from the builder's own settings.
    """
    url = str(held.get("spark.remote") or os.environ.get("SPARK_REMOTE") or "")
    return is_remote(builder) or (url != "" and not url.startswith("local"))


def _require_supported_spark() -> None:
    import pyspark

    if _major_minor(pyspark.__version__) < LOWEST_SPARK:
        raise ConfigureError(
            f"thetajoin needs Spark 4.0 or newer, but PySpark is: {pyspark.__version__}.",
            hint="pip install 'pyspark>=4.0'.",
        )


def _require_no_session_without_us() -> None:
    """In a running session our explain provider alone would fail every query."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is None:
        return
    if not extension_loaded(SparkSession.builder.getOrCreate()):
        raise ConfigureError(
            "A Spark session without thetajoin is running; Spark loads extensions when it starts.",
            hint="Call configure before the first session, or stop() that one. Where the session "
            f"is made for you, set spark.jars and spark.sql.extensions={EXTENSION} there.",
        )
