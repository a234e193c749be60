"""Inequality, range and other theta joins of Spark SQL, run on an index.

Set a session up, write plain SQL, and look at what became of its joins:

    >>> import thetajoin
    >>> from pyspark.sql import SparkSession
    >>> spark = thetajoin.configure(SparkSession.builder.master("local[2]")).getOrCreate()
    >>> pairs = spark.sql("SELECT * FROM range(4) AS a JOIN range(4) AS b ON a.id > b.id")
    >>> pairs.count()
    6
    >>> [join.accelerator for join in thetajoin.explain_joins(pairs)]
    ['piecewise']

``python -m thetajoin doctor`` says whether all of that works here, and if not, what to do.
``python -m thetajoin advise`` finds joins in Spark's event logs that would be accelerated.
"""

from thetajoin import settings
from thetajoin._accelerators import accelerator, register_accelerator
from thetajoin._asof import asof_join
from thetajoin._diagnosis import explain_joins
from thetajoin._nearest import nearest_join
from thetajoin._reports import JoinReport, JoinReports
from thetajoin._session import KRYO_REGISTRATOR, configure, jar_path
from thetajoin.errors import (
    AdviseError,
    ConfigureError,
    ExplainJoinsError,
    JarNotFoundError,
    RemoteBuilderWarning,
    SettingsReplacedWarning,
    ThetaJoinError,
)

__version__ = "0.1.0"

__all__ = [
    "KRYO_REGISTRATOR",
    "AdviseError",
    "ConfigureError",
    "ExplainJoinsError",
    "JarNotFoundError",
    "JoinReport",
    "JoinReports",
    "RemoteBuilderWarning",
    "SettingsReplacedWarning",
    "ThetaJoinError",
    "accelerator",
    "asof_join",
    "configure",
    "explain_joins",
    "jar_path",
    "nearest_join",
    "register_accelerator",
    "settings",
]
