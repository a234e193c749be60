"""The JVM of classic sessions, where it runs already when a builder is configured.

That is so in a program run by spark-submit, and after a session that has been stopped. Such a JVM
has read its settings, and gives jars that are named later to executors only.
"""

from __future__ import annotations

import os
from typing import Any

from thetajoin.errors import ConfigureError


def running_jvm() -> Any | None:
    """The JVM through py4j, if it is running; it is not started for this."""
    from pyspark import SparkContext

    if "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()
    return SparkContext._jvm


def load_jar(path: str) -> None:
    """Let a running driver find the classes of a jar; one yet to start has it in spark.jars."""
    jvm = running_jvm()
    if jvm is None:
        return
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    mutable = "org.apache.spark.util.MutableURLClassLoader"
    if not jvm.java.lang.Class.forName(mutable).isInstance(loader):
        raise ConfigureError(
            "Spark's JVM is running and takes no further jars.",
            hint=f"Start it with the jar: --jars {path}.",
        )
    loader.addURL(jvm.java.io.File(path).toURI().toURL())
