#!/usr/bin/env bash
# Makes .venv-<version> with another Spark, and prints the path of its Python: tools/other_spark.sh 4.0.5
set -euo pipefail
cd "$(dirname "$0")/.."
folder=.venv-$1
if [ ! -f "$folder/.complete" ]; then
  python3 -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "pyspark==$1" -r requirements/spark.txt >&2
  touch "$folder/.complete"
fi
echo "$folder/bin/python"
