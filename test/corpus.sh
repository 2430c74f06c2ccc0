#!/bin/sh
# The fuzzers of what reads files (those of internal/fuzztest), and what they have found:
#   corpus.sh list   the folder and the name of each
#   corpus.sh keep   writes each its corpus, testdata/fuzz/NAME.gz, anew: of the inputs in it
#                    and of those that fuzzing has put into Go's cache since, the smallest
#                    that reach together what all of them reach beyond the seeds
# Run from the repository's root. "make soak PART=files" fuzzes and keeps.
set -eu

list() {
	grep -rl 'fuzztest\.Fuzz(' --include='*_test.go' . | sort | while read -r file; do
		sed -n "s|^func \(Fuzz[A-Za-z0-9_]*\)(.*|$(dirname "$file") \1|p" "$file"
	done
}

keep() {
	module=$(go list -m)
	reached=$module/checkpoint,$module/model,$module/text,$module/text/jinja
	list | while read -r folder name; do
		found=$(go env GOCACHE)/fuzz/$module/${folder#./}/$name
		told=$(CBACTOR_FUZZ_FOUND=$found go test -count=1 -v -run "^$name\$" -coverpkg "$reached" "$folder" 2>&1) || {
			echo "$told" >&2
			exit 1
		}
		echo "$name: $(echo "$told" | sed -n 's/.*: \(.* inputs are kept.*\)/\1/p')"
	done
}

case ${1-} in
list | keep)
	"$1"
	;;
*)
	echo "usage: test/corpus.sh list | keep" >&2
	exit 2
	;;
esac
