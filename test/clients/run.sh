#!/bin/sh
# OpenAI's client for Python, unmodified, against bin/cbactor. Fetches it on its first run into
# the user's cache. Run from the repository's root, behind make build.
set -eu
. test/clients/lib.sh
environment openai
cp -r checkpoint/tiny "$work/calls"
cp "$clients/calls.jinja" "$work/calls/chat_template.jinja"
serve --model tiny=tiny --model calls="$work/calls" --api-key-file "$clients/key.txt"
"$bin/python" "$clients/openai_client.py" "$url" "$(cat "$clients/key.txt")"
stop
