#!/bin/sh
# Compares every model family with the reference, and prints a table: name, cases, passed.
# CBACTOR_FAMILIES=DIR takes the checkpoints of a folder, on the CPU alone. Run from the repository's root.
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
packages="./cpuexec ./engine"
[ -n "${CBACTOR_FAMILIES:-}" ] || packages="$packages ./gpuexec" # on a fake driver: for tiny models
go test -count=1 -v -timeout 20m -run "TestFamiliesAreTheReference|TestFamiliesInAllComputeTypes|TestFamiliesInFewerBits|TestFamiliesAreNearTheReference" $packages >"$log" 2>&1
result=$?
awk '
	/^ *--- (PASS|FAIL|SKIP): TestFamiliesAreTheReference\// {
		split($3, path, "/")
		if (!(path[2] in cases)) order[++n] = path[2]
		cases[path[2]]++
		if ($2 == "PASS:") passed[path[2]]++
	}
	END {
		printf "%-28s %5s %6s\n", "family", "cases", "passed"
		for (i = 1; i <= n; i++) printf "%-28s %5d %6d\n", order[i], cases[order[i]], passed[order[i]]
	}' "$log"
[ $result = 0 ] || grep -v '^=== ' "$log"
exit $result
