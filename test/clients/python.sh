#!/bin/sh
# The client in clients/python, installed as its users do, against bin/cbactor: its types and
# its tests. Needs python3 with venv, and pip's index. Run from the repository's root, behind
# make build.
set -eu
from=clients/python
cache=${CBACTOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cbactor}/client
requirements=test/clients/python.txt
if ! cmp -s $requirements "$cache/python.txt"; then
	rm -rf "$cache"
	python3 -m venv "$cache"
	"$cache/bin/python" -m pip install --quiet --disable-pip-version-check -r $requirements
	cp $requirements "$cache/python.txt"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cache/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$work" ./$from
cp -r $from/tests $from/README.md $from/pyproject.toml "$work"
export CBACTOR="$PWD/bin/cbactor"
cd "$work"
"$cache/bin/python" -m mypy --cache-dir "$work/types" cbactor tests
"$cache/bin/python" -m unittest discover -t . -s tests
