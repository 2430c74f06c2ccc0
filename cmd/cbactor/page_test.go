package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/settings"
	"github.com/cbactor/cbactor/sched"
)

var update = flag.Bool("update", false, "write the pages of docs/ that are made from the code")

// pageHead begins docs/configuration.md.
const pageHead = `# Configuration

An engine is configured by a Go program (` + "`engine.Config`" + `), by a YAML file (` + "`--config FILE`" + `, ` + "`page_size: 16`" + `), by the environment
(` + "`CBACTOR_PAGE_SIZE=16`" + `) and by flags (` + "`--page-size 16`" + `); the later ones count more. ` + "`auto`" + `, ` + "`none`" + ` and ` + "`null`" + ` (in YAML
also an empty value) take back what an earlier one says, but where ` + "`none`" + ` is a value of its own, which the table says. A range from 1 has
no 0, which in a Go program stands for the default. ` + "`cbactor config --model M`" + ` shows what is in force, where each value comes
from, and the memory plan. Commands that know their requests, as generate and bench do, give them as hints and may run with fewer
sequences and blocks than that: ` + "`cbactor config --hints requests=2`" + ` shows it. Hints of lengths change nothing
on a CPU, as a request may be longer than hinted and blocks are touched only as they are used.

Nothing is ignored: an unknown name, and a value that cannot be honoured, are errors; a value without effect where the engine
runs is a warning when it starts.

This page is made from the table in ` + "`engine/fields.go`" + `: ` + "`go test ./cmd/cbactor -run Page -update`" + `.

| field | type | range | default | what it is | acts |
|---|---|---|---|---|---|
`

// pageTail ends it.
const pageTail = `
## Policies

` + "`scheduler_type`" + ` says who goes first when a step has no room for everyone. In every policy a request that is given up for lack of cache keeps its
place in line.

- ` + "`fifo`" + `: sequences that generate get their token first, then prompts that were begun their chunks, then who waits is begun; each
  by age. Tokens of running requests come evenly; a new request waits while running ones use up the step.
- ` + "`prefill_first`" + `: prompts that were begun get their chunks before sequences that generate their tokens, so that first tokens
  come sooner and the others later. New prompts leave no margin of the cache free unless told to, so more requests are given up.
- ` + "`priority`" + `: as fifo, but a request counts as if it had come %d requests earlier for each level of its priority, so that one of
  low priority is passed by a bounded number of younger ones. Without priorities it is fifo.

## Variables that are no fields

- ` + "`CBACTOR_CACHE`" + `: the folder of the models that are known by name; else ` + "`cbactor`" + ` in the user's cache folder.
- ` + "`CBACTOR_CPU`" + `: ` + "`avx512`" + `, ` + "`avx2`" + ` or ` + "`generic`" + `: the instruction set to compute with; else the best that the CPU has.
`

// The page lists every field as the code has it.
func TestConfigurationPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, f := range engine.Fields() {
		fallback := f.Default
		if fallback == "" {
			fallback = f.Derived
		}
		acts := string(f.Acts)
		if f.Acts == engine.Everywhere {
			acts = "everywhere"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", f.Name, strings.ReplaceAll(f.Syntax(), "|", ", "), f.Range(), fallback, f.Help, acts)
	}
	b.WriteString("\nOld names, taken with a warning: `" + strings.Join(engine.Deprecated(), "`, `") + "`.\n")
	for _, d := range commandDefaults {
		fmt.Fprintf(&b, "\nCommands have `%s` %s by default.\n", d.Name, d.Text)
	}
	fmt.Fprintf(&b, "\nEnvironment variables are the names in capitals after `%s`.\n", settings.Prefix)
	fmt.Fprintf(&b, pageTail, sched.AgePerLevel)
	const path = "../../docs/configuration.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != b.String() {
		t.Errorf("%s is not what the code says: run this test with -update", path)
	}
}
