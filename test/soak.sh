#!/bin/sh
# The long numbers, part by part: soak.sh PART. Each part writes docs/reports/PART.md, files
# writes fuzz.md.
# Run from the repository's root (make soak PART=first-light). Timings are taken in a
# scheduling group of their own with a raised weight, where that is allowed.
set -eu

# own COMMAND...: see above; without the permission it just runs.
own() {
	setsid sh -c 'echo -19 > /proc/self/autogroup 2>/dev/null || :; exec "$@"' sh "$@" 2>/dev/null || "$@"
}

first_light() {
	export CBACTOR_FULL=1 CBACTOR_REQUIRE_ASSETS=1
	echo '# First light'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo '## Goldens'
	echo
	echo '```'
	go test -count=1 -v -run 'Reference|Golden' ./cpuexec ./engine ./text ./test | grep -E 'golden:|^ok|FAIL'
	echo '```'
	echo
	echo '## A mixed load, each request alone, and a cache of 48 blocks'
	echo
	echo '```'
	go test -count=1 -v -run 'Mixed' ./test | grep -E 'equal|given up|^ok|FAIL'
	echo '```'
	echo
	echo '## Speed: SmolLM2-135M, float32'
	echo
	echo '```'
	own go test -count=1 -v -run 'Speed|Shared' ./test | grep -E 'speed:|^ok|FAIL'
	for name in single decode mixed shared; do
		own bin/cbactor bench --model smollm2 --name $name --json
	done
	echo '```'
	echo
	echo '## Random arrivals, cancels, pauses and cache sizes, against the plain function'
	echo
	echo '```'
	go test -count=1 ./sched ./blockmgr -rapid.checks=50000
	go test -count=20 -run 'RandomArrivals' ./engine
	echo '```'
}

# How fast models are loaded, and what they take.
load() {
	export CBACTOR_FULL=1 CBACTOR_REQUIRE_ASSETS=1
	echo '# Loading'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo 'From opening the files, which the page cache has, to an engine that takes requests; tokenizer and warm-up'
	echo 'included. The best time of five loads, and the most that is resident beside what was before.'
	echo
	echo '```'
	own go test -count=1 -v -run 'TestLoadSpeed' ./test | grep -E 'load:|^ok|FAIL'
	echo '```'
}

# How fast text becomes ids, beside the Python package tokenizers, which is fetched on its first run into the
# user's cache.
tokenizers() {
	. test/clients/lib.sh
	environment tokenizers
	echo '# Tokenizers'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo 'English on one thread. Both take turns, and the best of their tries counts; wanted is three times the speed.'
	echo
	echo '```'
	own "$bin/python" text/testdata/speed.py --least 3
	echo '```'
	echo
	echo 'A megabyte of one letter; wanted is less than 2 s.'
	echo
	echo '```'
	CBACTOR_FULL=1 own go test -count=1 -v -run 'AMegabyteOfOneLetter' ./text | grep -E 's$|^ok|FAIL'
	echo '```'
}

# The scheduler, the books of the cache and the host pool.
scheduler() {
	echo '# Scheduler, books and host pool'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo '## Random cases: any order of messages, cancels, pauses, forks, sharing, host pool, groups'
	echo
	echo '```'
	go test -count=1 ./sched ./blockmgr -rapid.checks=20000
	go test -count=1 -run 'Steady|Alloc' -v ./sched | grep -E '^(---|ok|FAIL)'
	echo '```'
	echo
	echo '## A step of 256 decoding sequences with 32k blocks; naming victims among as many; a match of 32k tokens; all of the engine'
	echo
	echo '```'
	own go test -run '^$' -bench 'Step256|Victims256|Match32k' -benchmem ./sched ./blockmgr | grep -E '^Bench|FAIL'
	own go test -run '^$' -bench 'OwnShare256' -benchtime 5x ./engine | grep -E '^Bench|FAIL'
	echo '```'
	echo
	echo '## 10,000 requests over 4,096 blocks, and a load under pressure'
	echo
	echo '```'
	begin=$(date +%s)
	bin/cbactor sim --count 10000 --blocks 4096
	echo "$(($(date +%s) - begin)) seconds of real time"
	echo
	bin/cbactor sim --count 2000 --blocks 100 --host-blocks 200
	echo
	echo 'Without a margin, copies beside the rows:'
	bin/cbactor sim --count 2000 --blocks 100 --host-blocks 200 --safety-margin 0 --overlap-copies
	echo '```'
	echo
	echo '## SmolLM2: one beginning of 768 tokens in 32 requests'
	echo
	echo '```'
	own bin/cbactor bench --model smollm2 --name shared --json
	own bin/cbactor bench --model smollm2 --name shared --allow-block-sharing=false --json
	echo '```'
}

# Processors and filters, what is drawn, and how fast.
sampling() {
	echo '# Sampling'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo '## Against Transformers and the plain definitions; chi-square of 200,000 draws'
	echo
	echo '```'
	CBACTOR_FULL=1 go test -count=1 -v ./sampling -rapid.checks=50000 | grep -v '=== RUN' | grep -E 'golden:|rapid|Distribution/|^ok|FAIL'
	echo '```'
	echo
	echo '## 49,152 logits, one thread'
	echo
	echo '```'
	own go test -run '^$' -bench . ./sampling | grep -E '^Bench|FAIL'
	echo '```'
}

# The manager's calls, from all sides at once.
calls() {
	echo '# Calls and sessions'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo '## Storms: 1,000 requests, 16 goroutines, a hard stop, under the race detector'
	echo
	echo '```'
	go test -race -count=1 -timeout 30m -v -run 'Storm' ./engine -storms 50 | grep -E 'accepted|^---|^ok|FAIL'
	echo '```'
	echo
	echo '## Random requests with everything they can ask for, each alone and all in a cache too small'
	echo
	echo '```'
	go test -count=1 -timeout 30m -v -run 'AloneAndInCompany' ./engine -companies 1000 | grep -E 'rounds|^---|^ok|FAIL'
	echo '```'
	echo
	echo '## Sessions that begin and end under load, a minute, under the race detector'
	echo
	echo '```'
	go test -race -count=1 -timeout 30m -v -run 'SessionsUnderLoad' ./engine -sessionstorm 1m | grep -E '^---|^ok|FAIL'
	echo '```'
	echo
	echo '## Starts, stops and joins in any order; sessions one after another; what memory comes back'
	echo
	echo '```'
	go test -race -count=20 -timeout 30m -run 'LifeInAnyOrder|UnderWay|Crash|EndWithTheEngine' ./engine
	go test -count=1 -v -run 'MemoryComesBack' ./engine | grep -E 'resident|^---|^ok|FAIL'
	echo '```'
	echo
	echo '## Every call and what shows it'
	echo
	echo '```'
	go test -count=1 -v -run 'EveryCall|Example' ./engine | grep -E '^---|^ok|FAIL'
	echo '```'
}

# Updates of the weights while the engine generates.
weight_updates() {
	echo '# Weights that change'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo '## 1,000 transfers that end in their middle: the old version serves, and no memory is lost'
	echo
	echo '```'
	go test -race -count=1 -timeout 30m -v -run 'Killed' ./weights -weights.killed=1000 | grep -E '^---|^ok|FAIL'
	echo '```'
	echo
	echo '## A commit at every message of a run, by every policy; updates beside stops; random cases'
	echo
	echo '```'
	go test -race -count=1 -v -run 'SwapAtEveryMessage' ./sched | grep -E '^ *---|^ok|FAIL'
	go test -race -count=3 -timeout 30m -run 'Update|Rollback|Versions' ./engine
	go test -count=1 -v -run 'SwapAtEveryStep' ./engine -swap-steps 0 | grep -E '^ *---|^ok|FAIL'
	go test -count=1 ./weights -rapid.checks=5000
	echo '```'
	echo
	echo '## SmolLM2 in bf16: a full update every 3 s beside 16 requests; with memory for two sets, and for one'
	echo
	echo '```'
	for sets in 2 1; do
		own bin/cbactor bench --model smollm2-bf16 --update --weight-sets $sets || echo FAIL
	done
	echo '```'
	echo
	echo '## examples/rl-loop: every fifth update'
	echo
	echo '![reward, staleness and tokens/s](rl-loop.svg)'
	echo
	echo '```'
	{ go run ./examples/rl-loop -plot docs/reports/rl-loop.svg || echo FAIL; } | grep -E '^ *([0-9]*[05]|1):|^mean|FAIL'
	echo '```'
}

# report PART COMMAND: keeps what the command writes, unless something failed.
report() {
	mkdir -p docs/reports
	"$2" >docs/reports/.part.md
	! grep -q FAIL docs/reports/.part.md || { cat docs/reports/.part.md; exit 1; }
	mv docs/reports/.part.md "docs/reports/$1.md"
	cat "docs/reports/$1.md"
}

# Pauses and sleeps.
pauses() {
	echo '# Pauses and sleeps'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo '## 200 storms of 1,000 requests with pauses, logits, updates, rollbacks, sleeps, stops and starts, under the race detector'
	echo
	echo '```'
	go test -race -count=1 -timeout 30m -run 'TestPauseStorm' ./engine -pause-storms 200
	go test -race -count=1 -timeout 30m -v -run 'TestReportD' ./engine -report-rounds 200 | grep -E '^---|^ok|FAIL'
	echo '```'
	echo
	echo '## A pause behind 100,000 queued requests, and of an idle engine'
	echo
	echo '```'
	own go test -count=5 -v -run 'TestPauseBehindAHundredThousand|TestReportS5' ./engine | grep -E 'median|^ok|FAIL'
	echo '```'
	echo
	echo '## Random cases with gates, urgent requests and emptied caches'
	echo
	echo '```'
	go test -count=1 ./sched ./blockmgr -rapid.checks=20000
	echo '```'
}

# What is for GPUs, on the emulated one.
gpu() {
	export CBACTOR_FULL=1 CBACTOR_REQUIRE_ASSETS=1
	echo '# The executor for GPUs on the emulated device'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo '## Kernels by the shim and by the interpreter of PTX, with its detector of races and planted bugs; the executor; cubins compiled again'
	echo
	echo '```'
	go test -count=1 -timeout 60m -v ./cuda/... ./gpuexec/... | grep -E '^---|^ok|FAIL'
	echo '```'
	echo
	echo '## 20 storms of pauses, updates, sleeps, stops and copies to the host, two sets and one, hastily and lazily, under the race detector'
	echo
	echo 'Each token is what its sequence draws alone, of a cache that the same weights computed.'
	echo
	echo '```'
	go test -race -count=1 -timeout 60m -v -run 'OnA?GPU' ./engine -gpu-storms 20 -gpu-storm-requests 100 | grep -E 'accepted|^---|^ok|FAIL'
	echo '```'
	echo
	echo '## What runs on a machine with a GPU, here on the emulated one'
	echo
	echo '```'
	{ ./scripts/gpu-check --emulated 2>&1 || echo FAIL; } | tail -n 20
	echo '```'
}

# Clients over the network: processes that fail, and what the network costs.
remote() {
	export CBACTOR_FULL=1 CBACTOR_REQUIRE_ASSETS=1
	echo '# Clients over the network'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo '## 2,000 requests of processes that are cut off, slowed, stopped and killed, beside updates of the weights; a server that is killed'
	echo
	echo 'Each request ends once, and each token is what the weights give that it names, computed again.'
	echo
	echo '```'
	go test -count=1 -timeout 10m -v -run 'TestRemoteFaults|TestRemoteRestart' ./test -remote.requests 2000 2>&1 | grep -E 'of them of a client|requests before|resident|^---|^ok|FAIL'
	echo '```'
	echo
	echo '## A request alone to its first token, and tokens of 16 streams over one connection, on ECHO (aims: 1 ms more than local at p99, 10,000 tokens/s)'
	echo
	echo '```'
	own go test -run '^$' -bench 'Streams|FirstToken' -benchtime 2s -count=3 ./engine/remote | grep -E '^Bench|FAIL'
	echo '```'
	echo
	echo '## A pause behind 100,000 queued requests: of another client, and of the one that has queued them, behind its news'
	echo
	echo '```'
	own go test -count=3 -v -run 'TestPauseOvertakesABacklog' ./engine/gateway | grep -E 'held after|^---|^ok|FAIL'
	echo '```'
	echo
	echo '## SmolLM2 in bf16 into an update, beside 16 requests that decode and use all cores as well (aim: 40 % of a plain stream)'
	echo
	echo '```'
	own go test -count=1 -v -run 'TestRemoteWeightsSpeed' ./test | grep -E 'median|^---|^ok|FAIL'
	echo '```'
	echo
	echo '## The connections alone: messages that are answered one by one, and streams of them beside plain ones of gRPC'
	echo
	echo '```'
	own go test -run '^$' -bench 'RoundTrip|Wire|Plain' ./internal/wire | grep -E '^Bench|FAIL'
	echo '```'
}

# What HTTP bears and what it costs.
http() {
	export CBACTOR_FULL=1 CBACTOR_REQUIRE_ASSETS=1
	echo '# HTTP'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo '## 500 streams at a time for 60 s, of which every tenth is given up in its middle, of `cbactor serve` with the embedded model'
	echo
	echo 'Every other stream has one end and the tokens that a request alone gets. Clients are another process of this machine, and each has a connection.'
	echo
	echo '```'
	own go test -count=1 -timeout 10m -v -run 'TestHTTPLoad$' ./test -http.streams 500 -http.time 60s | grep -E 'http_.*_test|^---|^ok|FAIL'
	echo '```'
	echo
	echo '## What HTTP adds to the latency of a token, and of the first (aims: 1 ms at p99, 1 ms in the median)'
	echo
	echo 'ECHO, whose steps take as long as is said, is read by goroutines of its process, then by another process over HTTP, through loopback.'
	echo 'A token is late by the time from the moment that the engine notes for it (`Request.Timestamps`) to that in which its reader has it;'
	echo 'the time a token is that from the first to the last token of a request, by their number. What HTTP adds is the difference of the quantiles.'
	echo 'Of 500 streams all tokens of a step come at one moment, on a machine that works some 20 µs on each of them on either side: the aim is held against the time a token there.'
	echo
	echo '```'
	own go test -count=1 -timeout 20m -v -run 'TestHTTPLatency|TestHTTPFirstToken' ./test | grep -E 'http_.*_test|^ *---|^ok|FAIL'
	echo '```'
	echo
	echo '## SmolLM2 in bf16, again and again into an update from another process, while 16 streams are read'
	echo
	echo 'Each token is what the weights give that its answer names, computed again.'
	echo
	echo '```'
	own go test -count=1 -timeout 20m -v -run 'TestHTTPWeightsSmolLM2' ./test | grep -E 'http_.*_test|^---|^ok|FAIL'
	echo '```'
}

# What reads files, fuzzed for FUZZTIME each, LANES at a time.
files() {
	echo '# Fuzzing of what reads files'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo 'An input is refused by a typed error of one line, or what is made of it holds together (`fuzz_test.go` of each package).'
	echo 'It may take 2 s, and memory of twice its size and a base that the fuzzer names: 4 MiB for checkpoints and'
	echo 'configurations, 8 MiB for tokenizers, 16 MiB for templates, whose rendering is limited to 1 MiB of values.'
	echo "All that is allocated counts, garbage too (\`internal/fuzztest\`). ${LANES:-$(nproc)} ran at a time."
	echo
	echo '| fuzzer | time | executions | inputs that reached what none had |'
	echo '|---|---|---|---|'
	test/corpus.sh list | xargs -n 2 -P "${LANES:-$(nproc)}" "$0" fuzzed || echo FAIL
	echo
	echo '## What is kept: the smallest inputs that reach together what all reach beyond the seeds'
	echo
	echo '```'
	test/corpus.sh keep || echo FAIL
	echo "$(find . -path '*/testdata/fuzz/*' -type f -exec cat {} + | wc -c) bytes in all"
	echo '```'
	echo
	cat test/testdata/fuzz-found.md
}

# fuzzed FOLDER NAME: a row of the table.
fuzzed() {
	log=$(mktemp)
	go test "$1" -run '^$' -fuzz "^$2\$" -fuzztime "${FUZZTIME:-5m}" -fuzzminimizetime 100x -parallel 1 >"$log" 2>&1 || over "$log" || {
		echo FAIL
		cat "$log"
	}
	sed -n "s/^fuzz: elapsed: \(.*\), execs: \([0-9]*\) .*new interesting: \([0-9]*\).*/| \`$2\` | \1 | \2 | \3 |/p" "$log" | tail -1
	rm "$log"
}

# over LOG: fuzzing failed only since its time was over in the middle of an input.
over() {
	grep -q 'context deadline exceeded' "$1" && ! grep -q 'Failing input' "$1"
}

# Where the time of a step goes, the engine's own share, and what the machine can do.
profile() {
	echo '# Where the time of a step goes'
	echo
	echo "$(go version), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo '## The own share of the engine: 256 sequences, an executor that costs nothing'
	echo
	echo 'From the result of a step to the next one, through intake, scheduler, books and executor:'
	echo 'read in the end (batch), and token by token by a goroutine for each sequence (streams).'
	echo
	echo '```'
	own go test -run '^$' -bench 'OwnShare256' -benchtime 10x ./engine | grep -E '^Bench|FAIL'
	echo '```'
	for name in single decode mixed; do
		echo
		echo "## SmolLM2, workload $name"
		echo
		echo '```'
		own bin/cbactor bench --model smollm2 --name $name --profile --svg docs/reports/profile-$name.svg
		echo '```'
		echo
		echo "![Roofline of $name](profile-$name.svg)"
	done
}

case $1 in
first-light)
	report first-light first_light
	;;
load)
	report load load
	;;
tokenizers)
	report tokenizers tokenizers
	;;
scheduler)
	report scheduler scheduler
	;;
sampling)
	report sampling sampling
	;;
calls)
	report calls calls
	;;
pauses)
	report pauses pauses
	;;
weights)
	report weights weight_updates
	;;
gpu)
	report gpu gpu
	;;
remote)
	report remote remote
	;;
http)
	report http http
	;;
profile)
	report profile profile
	;;
files)
	report fuzz files
	;;
fuzzed) # of files, which runs several at a time
	fuzzed "$2" "$3"
	;;
all)
	"$0" first-light
	"$0" load
	"$0" tokenizers
	"$0" scheduler
	"$0" sampling
	"$0" calls
	"$0" pauses
	"$0" weights
	"$0" gpu
	"$0" remote
	"$0" http
	"$0" profile
	"$0" files
	;;
*)
	echo "usage: test/soak.sh first-light | load | tokenizers | scheduler | sampling | calls | pauses | weights | gpu | remote | http | profile | files | all" >&2
	exit 2
	;;
esac
