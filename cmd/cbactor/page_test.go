package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/settings"
)

var update = flag.Bool("update", false, "write the pages of docs/ that are made from the code")

// pageHead begins docs/configuration.md.
const pageHead = `# Configuration

An engine is configured by a Go program (` + "`engine.Config`" + `), by a YAML file (` + "`--config FILE`" + `, ` + "`page_size: 16`" + `), by the environment
(` + "`CBACTOR_PAGE_SIZE=16`" + `) and by flags (` + "`--page-size 16`" + `); the later ones count more. ` + "`auto`" + `, ` + "`none`" + ` and ` + "`null`" + ` take back what an
earlier one says. ` + "`cbactor config --model M`" + ` shows what is in force, where each value comes from, and the memory plan.

Nothing is ignored: an unknown name, and a value that cannot be honoured, are errors; a value without effect where the engine
runs is a warning when it starts.

This page is made from the table in ` + "`engine/fields.go`" + `: ` + "`go test ./cmd/cbactor -run Page -update`" + `.

| field | type | range | default | what it is | acts |
|---|---|---|---|---|---|
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
