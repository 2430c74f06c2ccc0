#!/bin/sh
# The client in clients/python, installed as its users do, against bin/cbactor: its types and
# its tests. Needs python3 with venv, and pip's index. Run from the repository's root, behind
# make build.
set -eu
. test/clients/lib.sh
environment python
from=clients/python
"$bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$work" ./$from
cp -r $from/tests $from/README.md $from/pyproject.toml "$work"
export CBACTOR="$PWD/bin/cbactor"
cd "$work"
"$bin/python" -m mypy --cache-dir "$work/types" cbactor tests
"$bin/python" -m unittest discover -t . -s tests
