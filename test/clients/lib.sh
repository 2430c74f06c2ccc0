# What the scripts here share. They run from the repository's root, behind make build.
clients=$PWD/test/clients
work=$(mktemp -d)
server=""
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# environment NAME: Python with what NAME.txt names, and NAME-alone.txt without what that
# depends on, in the user's cache. Its programs are in $bin.
environment() {
	made=${CBACTOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cbactor}/clients-$1
	bin=$made/bin
	cat "$clients/$1.txt" "$clients/$1-alone.txt" >"$work/$1.txt" 2>/dev/null || :
	if ! cmp -s "$work/$1.txt" "$made/made-of.txt"; then
		rm -rf "$made"
		python3 -m venv "$made"
		"$bin/python" -m pip install --quiet --disable-pip-version-check -r "$clients/$1.txt"
		if [ -e "$clients/$1-alone.txt" ]; then
			"$bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$clients/$1-alone.txt"
		fi
		cp "$work/$1.txt" "$made/made-of.txt"
	fi
}

# serve [FLAG...]: bin/cbactor serves models, the first of which is tiny, at $url.
serve() {
	: >"$work/said" # it is read before the server may have made it
	bin/cbactor serve --listen 127.0.0.1:0 "$@" >"$work/out.txt" 2>"$work/said" &
	server=$!
	url=""
	for _ in $(seq 300); do
		url=$(sed -n 's/^cbactor: serving tiny at \([^ ]*\).*/\1/p' "$work/said")
		[ -z "$url" ] || return 0
		kill -0 $server || { cat "$work/said" >&2; exit 1; }
		sleep 0.1
	done
	echo "$0: the server does not come up" >&2
	exit 1
}

# stop: the server ends, and has said nothing of a panic.
stop() {
	kill -0 $server || { cat "$work/said" >&2; exit 1; }
	! grep panic "$work/said" >&2 || exit 1
	kill $server
	wait $server || true
	server=""
}
