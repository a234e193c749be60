"""What a conf will be if the session builder says nothing about it.

A builder's value replaces the one from ``spark-submit`` and ``spark-defaults.conf``, so that a
list which is to be extended, such as spark.sql.extensions, has to be read there first.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
from pathlib import Path

from thetajoin._jvm import running_jvm


def inherited(key: str) -> str:
    """The value from the command line, else from the defaults file, else an empty string."""
    if running_jvm() is not None:
        return _from_running_jvm(key)
    return _submit_arguments().get(key) or _defaults_file().get(key, "")


def _from_running_jvm(key: str) -> str:
    """From the JVM's system properties, where spark-submit has put them all."""
    from pyspark import SparkConf

    return SparkConf().get(key, "") or ""


def _submit_arguments() -> dict[str, str]:
    """From the environment variable through which notebooks pass arguments to spark-submit."""
    words = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    found = {}
    for flag, value in itertools.pairwise(words):
        if flag == "--jars":
            found["spark.jars"] = value
        elif flag in ("--conf", "-c"):
            key, _, setting = value.partition("=")
            found[key] = setting
    return found


def _defaults_file() -> dict[str, str]:
    from pyspark.find_spark_home import _find_spark_home

    folder = os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home(), "conf")
    path = Path(folder, "spark-defaults.conf")
    if not path.is_file():
        return {}
    return dict(
        re.findall(r"^[ \t]*([^#!\s=:]+)[ \t]*[ \t=:][ \t]*(.*?)[ \t]*$", path.read_text(), re.M)
    )
