#!/bin/sh
# The core's fast tests in a copy of the checkout that has no wing left; further arguments go to pytest.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar --exclude=./.git --exclude=./.venv --exclude='./.*_cache' --exclude=__pycache__ --exclude=./tests/wings -cf - . | tar -xf - -C "$folder"
find "$folder/src/inpaintbench/wings" -mindepth 1 -maxdepth 1 -type d -exec rm -r {} +
program=$PWD/.venv/bin/python
cd "$folder"
OMP_NUM_THREADS=1 PYTHONPATH="$folder/src" "$program" -m pytest -n auto --dist worksteal -m "not long" -p no:cacheprovider "$@"
