#!/bin/sh
# Runs go test. Where at most two tests fail, each is run once more, alone: two cores that race
# dozens of packages side by side may stall any of them for longer than it waits. One that
# passes then is told as unstable, here and in the file UNSTABLE if that is set; it is to be
# mended, and no reason to hold a change back. What is no matter of time fails at once: a data
# race, a panic, a package that does not build or end, goroutines that are left, and a random case,
# which tells its seed and would be another one.
# Usage: again.sh go test FLAG... PACKAGE...
set -eu
log=$(mktemp)
trap 'rm -f "$log" "$log.failed"' EXIT
{ "$@" 2>&1 || echo "again.sh: failed"; } | tee "$log" | grep -v '^again.sh: failed$' || true
grep -q '^again.sh: failed$' "$log" || exit 0
if grep -qE 'DATA RACE|^panic:|^fatal error:|\[(build|setup) failed\]|goleak: Errors|unexpected goroutines|\[rapid\]|\bseed\b' "$log"; then
	exit 1
fi
# Each line: a package and a test of it that failed.
awk '/^--- FAIL: / { names[++n] = $3; next }
	/^FAIL\t/ { if (n == 0) print $2, "-"; for (i = 1; i <= n; i++) print $2, names[i] }
	/^(FAIL|ok  )\t/ { n = 0 }' "$log" >"$log.failed"
if [ "$(wc -l <"$log.failed")" -gt 2 ] || [ ! -s "$log.failed" ] || grep -q ' -$' "$log.failed"; then
	exit 1
fi
race=
case " $* " in *" -race "*) race=-race ;; esac
case " $* " in *" -short "*) race="$race -short" ;; esac # -skip names tests that have not run
while read -r package test; do
	echo "--- once more, alone: $package $test"
	# shellcheck disable=SC2086 # none, one or two flags
	go test $race -count=1 -timeout 10m -run "^$test\$" "$package"
	echo "unstable: $package $test failed once and passed alone" | tee -a "${UNSTABLE:-/dev/null}"
done <"$log.failed"
