#!/usr/bin/env bash
# Runs a command as a part of `make test`, and notes how long it took: tools/part.sh <name> <command> [argument ...]
set -uo pipefail
cd "$(dirname "$0")/.."
echo "== $1"
start=$SECONDS
"${@:2}"
status=$?
mkdir -p target
printf '%-22s %5d s  %s\n' "$1" $((SECONDS - start)) "$([ $status = 0 ] && echo passed || echo FAILED)" >>target/parts
exit $status
