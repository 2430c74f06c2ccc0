#!/bin/sh
# Puts an interpreter of Python with what examples/python-client needs into bin/python-client. What is
# there and right is left alone. Needs python3 with venv, and pip's index. Run from the
# repository's root.
set -eu

venv=bin/python-client
requirements=examples/python-client/requirements.txt
cmp -s $requirements $venv/requirements.txt && exit
rm -rf $venv
python3 -m venv $venv
$venv/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -r $requirements
cp $requirements $venv/
