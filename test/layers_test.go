package test

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

const protoactor = "github.com/asynkron/protoactor-go/actor"

// layers is the table of docs/design.md, section 1: what the packages of a folder
// may import directly, beside the standard library and each other. A name without
// a dot is a folder of this module, one with a dot a library; "*" is everything.
// Test files are free.
var layers = map[string][]string{
	"messages":            {"google.golang.org/protobuf"},
	"blockmgr":            {},
	"sched":               {"blockmgr", "executor", "sampling"},
	"sampling":            {},
	"model":               {},
	"checkpoint":          {"model", "internal/hubcache"},
	"text":                {"checkpoint", "github.com/clipperhouse/uax29/v2", "github.com/dlclark/regexp2/v2", "golang.org/x/text"},
	"weights":             {"model", "github.com/zeebo/xxh3"},
	"executor":            {"weights", "model", "sampling"},
	"cuda":                {},
	"cuda/cublaslt":       {"cuda"},
	"cuda/kernels":        {"cuda", "sampling"},
	"cpuexec":             {"executor", "weights", "model", "sampling", "golang.org/x/sys"},
	"gpuexec":             {"executor", "weights", "model", "sampling", "cuda"},
	"ranks":               {"cpuexec", "executor", "weights", "model"},
	"gpuexec/nvmlinfo":    {"github.com/NVIDIA/go-nvml"},
	"actors":              {"blockmgr", "sched", "sampling", "model", "weights", "executor", "messages", "internal", protoactor, "github.com/rs/zerolog"},
	"engine":              {"actors", "messages", "sched", "sampling", "model", "weights", "executor", "cpuexec", "gpuexec", "cuda", "ranks", "checkpoint", "internal", "github.com/rs/zerolog"},
	"engine/settings":     {"engine", "internal", "github.com/goccy/go-yaml"},
	"engine/texts":        {"engine", "text"},
	"engine/remote":       {"engine", "messages", "sampling", "model", "weights", "internal", protoactor, "google.golang.org/protobuf", "github.com/rs/zerolog"},
	"server":              {"engine", "checkpoint", "weights", "text", "sampling", "github.com/go-json-experiment/json", "github.com/rs/zerolog", "github.com/prometheus/client_golang", "go.opentelemetry.io/otel", "golang.org/x/net/netutil"},
	"bench":               {},
	"bench/gpu":           {"bench", "cuda", "engine", "executor", "gpuexec", "model", "weights", "github.com/rs/zerolog"},
	"bench/report":        {"internal/charts"},
	"internal/certs":      {},
	"internal/charts":     {},
	"internal/familytest": {"model"},
	"internal/filelock":   {"golang.org/x/sys"},
	"internal/fuzztest":   {},
	"internal/hub":        {"internal/hubcache", "internal/filelock", "golang.org/x/sys"},
	"internal/hubcache":   {},
	"internal/jsonl":      {},
	"internal/lane":       {protoactor},
	"internal/nearest":    {},
	"internal/obs":        {protoactor, "github.com/rs/zerolog"},
	"internal/replaylog":  {"sampling", "weights", "internal/jsonl"},
	"internal/storytest":  {"github.com/cockroachdb/datadriven"},
	"internal/trace":      {"internal/jsonl"},
	"internal/wire":       {protoactor, "google.golang.org/grpc", "google.golang.org/protobuf", "github.com/rs/zerolog"},
	"cmd":                 {"*"},
	"examples":            {"checkpoint", "text", "engine", "weights"},
	"test":                {"*"},

	"internal/wire/wiretest":  {"google.golang.org/grpc", "messages"},
	"engine/gateway":          {"engine", "internal", "messages", "sampling", "weights", protoactor, "google.golang.org/protobuf", "github.com/rs/zerolog"},
	"engine/internal/figures": {},
	"engine/internal/convert": {"checkpoint", "engine", "messages", "sampling", "text", "weights"},
}

// cores are pure: a value in, a value out.
var cores = []string{"blockmgr", "sched", "sampling", "model", "weights"}

// coreStd is what a core may import of the standard library: nothing that knows
// the time, randomness, other goroutines or the world.
var coreStd = []string{
	"bytes", "cmp", "container/heap", "crypto/sha256", "encoding/binary", "encoding/hex", "encoding/json", "errors",
	"fmt", "iter", "maps", "math", "math/bits", "slices", "sort", "strconv", "strings", "unicode/utf8",
}

func TestLayers(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, v := range layerViolations(s) {
			t.Error(v)
		}
	}
}

// layerViolations are the rules that a file breaks.
func layerViolations(s source) []string {
	folder, allowed := layerOf(s.folder())
	if folder == "" {
		return []string{fmt.Sprintf("%s: folder %s is not in the table of layers: add it, to docs/design.md too", s.path, s.folder())}
	}
	core := slices.Contains(cores, folder)
	var broken []string
	for _, p := range s.imports() {
		if !mayImport(folder, allowed, core, p) {
			broken = append(broken, fmt.Sprintf("%s: %s must not import %s", s.path, folder, p))
		}
	}
	if core {
		broken = append(broken, impurities(s)...)
	}
	return broken
}

// layerOf finds the row of the table that a package belongs to: the longest.
func layerOf(pkg string) (folder string, allowed []string) {
	for row := range layers {
		if within(pkg, row) && len(row) > len(folder) {
			folder = row
		}
	}
	return folder, layers[folder]
}

func mayImport(folder string, allowed []string, core bool, imported string) bool {
	own, isOwn := strings.CutPrefix(imported, modulePath)
	first, _, _ := strings.Cut(imported, "/")
	if !isOwn && !strings.Contains(first, ".") {
		return !core || slices.Contains(coreStd, imported)
	}
	if isOwn && within(own, folder) {
		return true
	}
	return slices.ContainsFunc(allowed, func(a string) bool {
		return a == "*" || isOwn && within(own, a) || !isOwn && within(imported, a)
	})
}

// within says whether a path is a folder or below it.
func within(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }

// impurities are the places where a core starts a goroutine, has a channel or prints.
func impurities(s source) []string {
	var found []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		what := ""
		switch n := n.(type) {
		case *ast.GoStmt:
			what = "a goroutine"
		case *ast.ChanType:
			what = "a channel"
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "fmt" && strings.HasPrefix(n.Sel.Name, "Print") {
				what = "output"
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				what = "output"
			}
		}
		if what != "" {
			found = append(found, fmt.Sprintf("%s: a core must not have %s", s.at(n), what))
		}
		return true
	})
	return found
}

// The rules find what they are there for.
func TestLayersBite(t *testing.T) {
	for _, c := range []struct {
		path, text string
		broken     int
	}{
		{"sched/a.go", `import ("slices"; "github.com/cbactor/cbactor/blockmgr")`, 0},
		{"sched/a.go", `import "time"`, 1},
		{"model/a.go", `import ("os"; "log"; "net/http"; "sync/atomic"; "math/rand/v2")`, 5},
		{"blockmgr/a.go", `import "github.com/cbactor/cbactor/sched"`, 1},
		{"executor/a.go", `import ("time"; "github.com/cbactor/cbactor/sampling")`, 0},
		{"executor/suite/a.go", `import "github.com/cbactor/cbactor/executor"`, 0},
		{"executor/a.go", `import ("github.com/cbactor/cbactor/sched"; "github.com/rs/zerolog")`, 2},
		{"cpuexec/pool/a.go", `import ("golang.org/x/sys/unix"; "github.com/cbactor/cbactor/cpuexec/kernels")`, 0},
		{"actors/a.go", `import "github.com/asynkron/protoactor-go/remote"`, 1},
		{"cmd/cbactor/internal/x/a.go", `import "github.com/spf13/cobra"`, 0},
		{"newcomer/a.go", ``, 1},
		{"sampling/a.go", "func f(c chan int) { go f(nil) }", 2},
		{"weights/a.go", `import "fmt"; func f() { fmt.Println(); println(); fmt.Sprint() }`, 2},
		{"engine/a.go", "func f(c chan int) { go f(nil) }", 0},
		{"engine/a.go", `import "github.com/goccy/go-yaml"`, 1},
		{"engine/settings/a.go", `import ("github.com/goccy/go-yaml/ast"; "github.com/cbactor/cbactor/actors")`, 1},
	} {
		s := parseSource(t, c.path, "package a; "+c.text)
		if got := layerViolations(s); len(got) != c.broken {
			t.Errorf("%s with %q: %q, want %d", c.path, c.text, got, c.broken)
		}
	}
}
