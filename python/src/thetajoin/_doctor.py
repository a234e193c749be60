"""`python -m thetajoin doctor`: a line for each thing thetajoin needs, and how to mend it."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import thetajoin
from thetajoin._session import SPARK_RANGE, jar_path, supports
from thetajoin._verdict import Verdict, failed, passed
from thetajoin.errors import JarNotFoundError

LOWEST_PYTHON, LOWEST_JAVA = (3, 10), 17
CONNECT_PORT = 15002
PROBE_SECONDS = 180


def doctor(remote: str | None = None) -> int:
    """Print a line for each check; 0 if all passed, else 1."""
    healthy = True
    for name, verdict in examine(remote):
        if verdict.ok:
            print(f"ok    {name:8} {verdict.what}", flush=True)
        else:
            healthy = False
            print(f"FAIL  {name:8} {verdict.what}: {verdict.why}. To mend it: {verdict.mend}.")
    return 0 if healthy else 1


def examine(remote: str | None) -> Iterator[tuple[str, Verdict]]:
    """The checks in order; the join is tried only if all before it passed."""
    checks: dict[str, Callable[[], Verdict]] = {"Python": check_python, "PySpark": check_pyspark}
    if remote is None:
        checks |= {"Java": check_java, "jar": check_jar}
    else:
        checks |= {"client": check_client, "server": lambda: check_server(remote)}
    healthy = True
    for name, check in checks.items():
        verdict = check()
        healthy = healthy and verdict.ok
        yield name, verdict
    if healthy:
        yield "join", check_join(remote)


def check_python() -> Verdict:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < LOWEST_PYTHON:
        return failed(version, "thetajoin needs 3.10 or newer", "use a newer Python")
    return passed(f"{version}, {sys.executable}")


def check_pyspark() -> Verdict:
    if find_spec("pyspark") is None:
        return failed("not found", "thetajoin extends PySpark", "pip install pyspark")
    import pyspark

    found = f"{pyspark.__version__}, {Path(pyspark.__file__).parent}"
    if not supports(pyspark.__version__):
        mend = "pip install 'pyspark>=4.0,<4.4'"
        return failed(found, f"thetajoin runs on {SPARK_RANGE}", mend)
    return passed(found)


def check_java() -> Verdict:
    """Look for Java where Spark's launcher does."""
    mend = f"install JDK {LOWEST_JAVA} and let JAVA_HOME name its folder"
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(str(Path(home, "bin", "java")) if home else "java")
    if java is None:
        where = f"JAVA_HOME={home}" if home else "PATH"
        return failed("not found", f"Spark looks for it in {where}", mend)
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(?:1\.)?((\d+)[^"]*)"', told)
    if version is None:
        return failed(f"no version, {java}", f"it says: {told.strip()}", mend)
    found = f"{version[1]}, {java}"
    if int(version[2]) < LOWEST_JAVA:
        return failed(found, f"Spark 4 needs {LOWEST_JAVA} or newer", mend)
    return passed(found)


def check_jar() -> Verdict:
    try:
        path = jar_path()
    except JarNotFoundError as error:
        why, _, hint = str(error).partition("\nHint: ")
        return failed("not found", why.rstrip("."), hint.rstrip("."))
    mend = "install the package again; in a source checkout run `make setup`"
    try:
        with zipfile.ZipFile(path) as jar:
            manifest = jar.read("META-INF/MANIFEST.MF").decode()
    except (zipfile.BadZipFile, KeyError) as error:
        return failed(path, f"it is no jar: {error}", mend)
    version = re.search(r"^Implementation-Version: *(\S+)", manifest, re.MULTILINE)
    found = f"{version[1] if version else 'no version'}, {path}"
    if version is None or version[1] != thetajoin.__version__:
        return failed(found, f"the Python package has version {thetajoin.__version__}", mend)
    return passed(found)


def check_client() -> Verdict:
    missing = [name for name in ("grpc", "pandas", "pyarrow") if find_spec(name) is None]
    if missing:
        why = "the client of Spark Connect imports them"
        return failed(f"missing: {', '.join(missing)}", why, "pip install 'pyspark[connect]'")
    return passed("all packages that Spark Connect imports")


def check_server(remote: str) -> Verdict:
    """Whether the port answers, since the client itself would go on trying for minutes."""
    url = urlsplit(remote)
    if url.scheme != "sc" or not url.hostname:
        return failed(remote, "it is no address of a Connect server", "pass sc://host:port")
    address = (url.hostname, url.port or CONNECT_PORT)
    found = f"{address[0]}:{address[1]}"
    try:
        socket.create_connection(address, timeout=10).close()
    except OSError as error:
        return failed(f"no answer from {found}", str(error), "start it, or correct the address")
    return passed(f"{found} answers")


def check_join(remote: str | None) -> Verdict:
    command = [sys.executable, "-m", "thetajoin._probe", *([remote] if remote else [])]
    mend = f"look at all it prints: {' '.join(command)}"
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return failed("no result", f"the probe query took over {PROBE_SECONDS} s", mend)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return failed("the probe query failed", last, mend)
    return Verdict(**json.loads(done.stdout.splitlines()[-1]))
