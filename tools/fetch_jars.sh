#!/usr/bin/env bash
# Fetches the jars that requirements/beside.txt lists into a folder, by the Ivy that Spark ships.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
mkdir -p "$folder"
ivy=$(ls .venv/lib/python3*/site-packages/pyspark/jars/ivy-*.jar)
grep -v '^#' requirements/beside.txt | while read -r group name version; do
  java -jar "$ivy" -dependency "$group" "$name" "$version" -notransitive -types jar \
    -retrieve "$folder/[artifact].[ext]" -cache "$folder/cache" >"$folder/log" 2>&1 </dev/null || { cat "$folder/log" >&2; exit 1; }
done
rm -rf "$folder/cache" "$folder/log"
