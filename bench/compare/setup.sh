#!/usr/bin/env bash
# Puts the peers into the folder $1: a virtual environment for each group of them, at the versions in
# *.txt beside this file. What is there and works is left alone; what is broken or older, such as by
# a run that ended half way, is made anew. Needs python3 with venv, pip's index, and for all of it 8 GB.
# setup.sh FOLDER [ov|xl|torch...]: those alone.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: setup.sh FOLDER [ov|xl|torch...]" >&2; exit 2; }
mkdir -p "$1"
cd "$1"
shift

say() { echo "setup: $*"; }
fail() { say "$*" >&2; exit 1; }

# room GIB WHAT: fails now rather than half way.
room() {
	free=$(($(df -Pk . | awk 'NR == 2 { print $4 }') / 1048576))
	[ "$free" -ge "$1" ] || fail "$2 takes $1 GiB, $(pwd) has room for $free: free some, or name another folder"
}

# check ENVIRONMENT: its peers are imported, at the versions that are wanted.
check() {
	case $1 in
	ov) names="openvino_genai:ContinuousBatchingPipeline openvino_tokenizers:__version__" ;;
	xl) names="xllamacpp:Server" ;;
	torch) names="torch:Tensor vllm:LLM transformers:__version__" ;;
	esac
	"$1/bin/python" - "$here/$1.txt" $names >/dev/null 2>&1 <<-'END' || return 1
		import importlib, importlib.metadata as m, sys
		for line in open(sys.argv[1]):
		    name, _, version = line.split("#")[0].strip().partition("==")
		    if name and m.version(name) != version:
		        sys.exit(f"{name} is {m.version(name)}, not {version}")
		for of in sys.argv[2:]:
		    name, _, attribute = of.partition(":")
		    getattr(importlib.import_module(name), attribute)
	END
	[ "$1" != torch ] || newer
}

# newer: the Transformers that is compared; vLLM wants an older one, so it lies in a folder of its own.
newer() {
	PYTHONPATH=transformers torch/bin/python -c 'import sys, transformers as t; from transformers.generation import ContinuousBatchingConfig; sys.exit(t.__version__ != sys.argv[1])' \
		"$(sed -n 's/^transformers==//p' "$here/transformers.txt")" >/dev/null 2>&1
}

# ours FOLDER MARK: what an installation would remove is of an earlier one, as the MARK in it shows:
# whoever names a folder may have anything in it.
ours() {
	[ ! -e "$1" ] || compgen -G "$1/$2" >/dev/null || fail "$(pwd)/$1 is there and no earlier run has made it: move it, or name another folder"
}

pip() {
	"$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: "${@:2}"
}

# install ENVIRONMENT. The lists are whole, so that nothing is looked for beside them: one of vLLM's
# requirements is a build that the index lacks.
install() {
	rm -rf "$1"
	python3 -m venv "$1" || fail "python3 cannot make a virtual environment: install its venv"
	pip "$1" -r "$here/$1.txt" || return 1
	if [ "$1" = torch ]; then
		rm -rf transformers
		pip torch --target transformers -r "$here/transformers.txt"
	fi
}

for part in "${@:-ov xl torch}"; do
	for name in $part; do
		case $name in
		ov) need=1 ;;
		xl) need=1 ;;
		torch) need=7 ;;
		*) fail "there is no part $name: they are ov, xl and torch" ;;
		esac
		if [ -d "$name" ] && check "$name"; then
			say "$name is there and works"
			continue
		fi
		ours "$name" pyvenv.cfg
		[ "$name" != torch ] || ours transformers '*.dist-info'
		room "$need" "$name"
		say "$name: installing"
		install "$name" || fail "$name: pip has failed, see above; what is broken is made anew by the next run"
		check "$name" || fail "$name is installed and does not work: run $(pwd)/$name/bin/python -c 'import ...' to see why"
		say "$name works"
	done
done
