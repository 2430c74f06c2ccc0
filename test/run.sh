#!/bin/sh
# Runs the tests: run.sh test | run.sh full. Prints each part's time; stops at the
# first part that fails. Run from the repository's root (make test, make test-full).
#
# test is the smaller of the two. In full alone are:
#   - what tests leave out or make smaller when they are to be short (go test -short): random cases
#     are a fifth, storms, backlogs and rounds fewer, and what waits for silence is left out;
#   - the command as a process, and executors, with the race detector;
#   - the comparisons with references with the race detector;
#   - format, staticcheck, other systems, with NVML, without cgo, every instruction set, clients of others,
#     loads on a real model, fuzzing.
# In full a test or two that fail are run once more, alone, and told as unstable: see again.sh.
set -eu
size=$1
compared='Reference|Golden' # tests that compare with what references compute
families='TestFamiliesAreTheReference|TestFamiliesInAllComputeTypes|TestFamiliesInFewerBits|TestFamiliesAreNearTheReference' # of them, those of many models
heavy='/(cpuexec|gpuexec|cuda/kernels)$'
times=""

# part NAME COMMAND...
part() {
	name=$1
	shift
	echo "=== $name"
	begin=$(date +%s)
	"$@"
	took=$(($(date +%s) - begin))
	echo "--- $name took $took s"
	times="$times
$(printf '%5d s  %s' "$took" "$name")"
}

formatted() {
	files=$(gofmt -l .)
	[ -z "$files" ] || { echo "not formatted: $files" >&2; return 1; }
}

cross() {
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/cbactor
	CGO_ENABLED=0 GOOS=windows go build -o /dev/null ./cmd/cbactor
	CGO_ENABLED=0 GOARCH=arm64 go build -o /dev/null ./cmd/cbactor
	CGO_ENABLED=0 GOARCH=arm64 go vet ./...
}

without_cgo() {
	CGO_ENABLED=0 go build ./...
	CGO_ENABLED=0 ./test/again.sh go test -short -timeout 20m -skip "$families" ./... # their full size has run with cgo
	CBACTOR_FULL=1 go test -run TestDockerfileBuilds ./test
}

with_nvml() {
	go vet -tags nvml ./gpuexec/nvmlinfo ./cmd/cbactor
	go build -tags nvml -o /dev/null ./cmd/cbactor
	go test -race -tags nvml ./gpuexec/nvmlinfo
	go test -tags nvml -run 'Devices|GPU' ./cmd/cbactor
}

loads() {
	CBACTOR_FULL=1 go test -count=1 -timeout 20m -v -run 'Mixed|Shared|Speed' ./test
}

# What the machine's best instruction set would hide.
instruction_sets() {
	./test/again.sh go test -timeout 20m -skip "$families" ./cpuexec
	for set in avx2 generic; do
		echo "--- CBACTOR_CPU=$set"
		CBACTOR_CPU=$set ./test/again.sh go test -timeout 20m -skip "$families" ./cpuexec/... # families: each takes all sets in turn
		CBACTOR_CPU=$set ./test/again.sh go test -short ./engine -skip "$families"
	done
}

random() { # every package with properties, at its full size
	go test ./sched ./blockmgr -rapid.checks=20000
	go test ./text -rapid.checks=2000
	CBACTOR_FULL=1 go test ./sampling -rapid.checks=20000
}

# fuzz takes each fuzzer some seconds. What reads files is fuzzed for long by soak.sh files. New
# inputs are made smaller in a few tries: without a bound each may take a minute.
fuzz() {
	grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do
		for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$file"); do
			go test "$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime 10000x -fuzzminimizetime 100x
		done
	done
}

# raced FLAG...: tests with the race detector; packages that take long and wait begin first.
raced() {
	go test -race -timeout 20m "$@" ./test ./engine/... $(go list ./... | grep -vE "$heavy")
	go test -timeout 20m "$@" $(go list ./... | grep -E "$heavy") # they compute much, and share little
}

# raced_whole runs all of them, of models of all families one that shares work in every way. Those of
# executors and kernels are short: at their full size they run without the race detector, the CPU's by
# every instruction set.
raced_whole() {
	./test/again.sh go test -race -timeout 20m -skip "$families" ./test ./engine/... $(go list ./... | grep -vE "$heavy")
	./test/again.sh go test -race -timeout 20m -short -skip "$families" ./cpuexec ./gpuexec ./cuda/kernels
	./test/again.sh go test -race -run "($families)/gpt-oss" ./cpuexec ./engine
}

goldens() { # the comparisons, in words
	go test -count=1 -v -run "$compared" "$@" ./blockmgr ./model ./sampling ./cpuexec ./gpuexec ./engine ./text ./test >test-goldens.log ||
		{ cat test-goldens.log; rm test-goldens.log; return 1; }
	grep -E 'golden:|^ok ' test-goldens.log
	rm test-goldens.log
}

case $size in
test)
	part "vet" go vet ./...
	part "tests, race detector on" raced -short -skip "$compared"
	part "goldens" goldens
	;;
full)
	UNSTABLE=$(mktemp)
	export UNSTABLE
	trap 'rm -f "$UNSTABLE"' EXIT
	part "format" formatted
	part "vet and staticcheck" make --no-print-directory lint
	part "build" make --no-print-directory build
	part "other systems" cross
	part "assets" make --no-print-directory assets
	part "Python of the example" ./test/python.sh
	export CBACTOR_REQUIRE_ASSETS=1
	part "tests, race detector on" raced_whole
	part "goldens" goldens -skip "$families"
	part "GPU, emulated" make --no-print-directory test-gpu-emu
	part "families" make --no-print-directory test-families
	part "tokenizers" make --no-print-directory test-tokenizers
	part "templates" make --no-print-directory test-templates
	part "clients of others" ./test/clients/run.sh
	part "client in Python" ./test/clients/python.sh
	part "loads on a real model" loads
	part "with NVML" with_nvml
	part "without cgo" without_cgo
	part "instruction sets" instruction_sets
	part "random, full size" random
	part "fuzz" fuzz
	;;
*)
	echo "usage: test/run.sh test | full" >&2
	exit 2
	;;
esac
echo "=== time of each part$times"
[ "$size" = test ] || cat "$UNSTABLE"
