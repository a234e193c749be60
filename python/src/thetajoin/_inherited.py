"""What a conf will be if the session builder says nothing about it.

A builder's value replaces the one from ``spark-submit`` and ``spark-defaults.conf``, so that a
list which is to be extended, such as spark.sql.extensions, has to be read there first.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from thetajoin._jvm import running_jvm
from thetajoin._properties import properties

LOAD_DEFAULTS = "--load-spark-defaults"

# Options of spark-submit that take no value; all others do.
SWITCHES = frozenset(
    ["--help", "-h", "--supervise", "--usage-error", "--verbose", "-v", "--version", LOAD_DEFAULTS]
)


def inherited(key: str) -> str:
    """The value from the command line, else from a file of properties, else an empty string."""
    if running_jvm() is not None:
        return _from_running_jvm(key)
    submitted = _submitted(shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "")))
    sources = [submitted.confs]
    if submitted.file is not None:
        sources.append(_file(submitted.file))
    if submitted.file is None or submitted.loads_defaults:
        sources.append(_file(_defaults_file()))
    return next((found[key] for found in sources if key in found), "")


def _from_running_jvm(key: str) -> str:
    """From the JVM's system properties, where spark-submit has put them all."""
    from pyspark import SparkConf

    return SparkConf().get(key, "") or ""


@dataclass
class _Submitted:
    """What arguments of spark-submit say of confs."""

    confs: dict[str, str] = field(default_factory=dict)
    file: Path | None = None
    loads_defaults: bool = False


def _submitted(words: list[str]) -> _Submitted:
    """Arguments as notebooks pass them through an environment variable, read as Spark does.

    A value follows its option as the next word, or after ``=`` if the option begins with two
    dashes. What is no option is the program, and what follows belongs to it.
    """
    submitted, jars = _Submitted(), None
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            break
        if word in SWITCHES:
            submitted.loads_defaults |= word == LOAD_DEFAULTS
            continue
        option, _, value = word.partition("=")
        if not (option.startswith("--") and value):
            option, value = word, next(rest, "")
        if option in ("--conf", "-c"):
            key, _, setting = value.partition("=")
            submitted.confs[key] = setting
        elif option == "--jars":
            jars = value
        elif option == "--properties-file":
            submitted.file = Path(value)
    if jars is not None:
        submitted.confs["spark.jars"] = jars
    return submitted


def _defaults_file() -> Path:
    from pyspark.find_spark_home import _find_spark_home

    folder = os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home(), "conf")
    return Path(folder, "spark-defaults.conf")


def _file(path: Path) -> dict[str, str]:
    """Spark itself says what is wrong with a file that it can't read."""
    return properties(path.read_text("utf-8", errors="replace")) if path.is_file() else {}
