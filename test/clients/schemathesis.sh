#!/bin/sh
# bin/cbactor's routes as schemathesis tries them, by their description: what it says is
# taken and nothing else, and answers are as it says. Fetches schemathesis on its first run into
# the user's cache. Run from the repository's root, behind make build.
set -eu
clients=$PWD/test/clients
cache=${CBACTOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cbactor}/schemathesis
if ! cmp -s "$clients"/schemathesis.txt "$cache/schemathesis.txt"; then
	rm -rf "$cache"
	python3 -m venv "$cache"
	"$cache/bin/python" -m pip install --quiet --disable-pip-version-check -r "$clients/schemathesis.txt"
	cp "$clients/schemathesis.txt" "$cache/schemathesis.txt"
fi

work=$(mktemp -d)
server=""
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT

# try TAG [ARGUMENT...]: the routes of a tag, on a server of their own, as administrators
# pause it and have it sleep. Waits for other weights take as long as they are asked to.
try() {
	tag=$1
	shift
	bin/cbactor serve --listen 127.0.0.1:0 --max-context 64 --max-adapters 2 --weights-root "$work" 2>"$work/said" &
	server=$!
	url=""
	for _ in $(seq 300); do
		url=$(sed -n 's/^cbactor: serving tiny at //p' "$work/said")
		[ -z "$url" ] || break
		kill -0 $server || { cat "$work/said" >&2; exit 1; }
		sleep 0.1
	done
	(cd "$work" && "$cache/bin/schemathesis" --config-file "$clients/schemathesis.toml" run "$url/openapi.json" --include-tag "$tag" --exclude-path /v1/weights/changes \
		--phases examples,coverage,fuzzing --max-examples 20 --request-timeout 30 --continue-on-failure --no-color --warnings off "$@")
	kill -0 $server || { cat "$work/said" >&2; exit 1; }
	if grep panic "$work/said" >&2; then
		exit 1
	fi
	kill $server
	wait $server || true
}
try clients "$@"
try administrators "$@"
