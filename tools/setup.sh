#!/usr/bin/env bash
# Makes .venv with the pinned tools and fetches the sbt launcher into it. Needs Python 3.10+ and a JDK 17+.
set -euo pipefail
cd "$(dirname "$0")/.."

python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
  { echo "thetajoin needs Python 3.10 or newer as python3, found: $(python3 --version)" >&2; exit 1; }
command -v java >/dev/null ||
  { echo "thetajoin needs a JDK 17 or newer: no java on the PATH" >&2; exit 1; }

[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt

# The launcher comes through the Ivy that Spark ships, so that Java and Python are all that is needed.
sbt_version=$(sed -n 's/^sbt.version=//p' project/build.properties)
launcher=.venv/share/sbt-launch.jar
if [ ! -f "$launcher" ]; then
  jars=$(.venv/bin/python -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent / "jars")')
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  java -jar "$jars"/ivy-*.jar -dependency org.scala-sbt sbt-launch "$sbt_version" -types jar \
    -retrieve "$scratch/[artifact].[ext]" -cache "$scratch/cache" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
  mkdir -p .venv/share
  mv "$scratch/sbt-launch.jar" "$launcher"
fi
