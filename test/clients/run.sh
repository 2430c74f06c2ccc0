#!/bin/sh
# Clients of others, unmodified, against bin/cbactor. Fetches them on its first run into the
# user's cache. Run from the repository's root, behind make build.
set -eu
clients=test/clients
cache=${CBACTOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cbactor}/clients
if ! cmp -s $clients/requirements.txt "$cache/requirements.txt"; then
	rm -rf "$cache"
	python3 -m pip install --quiet --target "$cache" -r $clients/requirements.txt
	cp $clients/requirements.txt "$cache/requirements.txt"
fi

work=$(mktemp -d)
cp -r checkpoint/tiny "$work/calls"
cp $clients/calls.jinja "$work/calls/chat_template.jinja"
bin/cbactor serve --model tiny=tiny --model calls="$work/calls" --listen 127.0.0.1:0 --api-key-file $clients/key.txt 2>"$work/said" &
server=$!
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
url=""
for _ in $(seq 300); do
	url=$(sed -n 's/^cbactor: serving tiny at //p' "$work/said")
	[ -z "$url" ] || break
	kill -0 $server || { cat "$work/said" >&2; exit 1; }
	sleep 0.1
done
PYTHONPATH=$cache python3 $clients/openai_client.py "$url" "$(cat $clients/key.txt)"
