#!/bin/sh
# bin/cbactor's routes as schemathesis tries them, by their description: what it says is
# taken and nothing else, and answers are as it says. Fetches schemathesis on its first run into
# the user's cache. Run from the repository's root, behind make build.
set -eu
. test/clients/lib.sh
environment schemathesis

# try TAG [ARGUMENT...]: the routes of a tag, on a server of their own, as administrators
# pause it and have it sleep. Waits for other weights take as long as they are asked to.
try() {
	tag=$1
	shift
	serve --max-context 64 --max-adapters 2 --weights-root "$work"
	(cd "$work" && "$bin/schemathesis" --config-file "$clients/schemathesis.toml" run "$url/openapi.json" --include-tag "$tag" --exclude-path /v1/weights/changes \
		--phases examples,coverage,fuzzing --max-examples 20 --request-timeout 30 --continue-on-failure --no-color --warnings off "$@")
	stop
}
try clients "$@"
try administrators "$@"
