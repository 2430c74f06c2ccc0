package test

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// banned are names of the actor library that are broken at the pinned version,
// each with what happens. Tests must not use them either.
var banned = map[string]string{
	"Bounded":                       "a full mailbox makes its sender spin, and an actor that sends to itself deadlock",
	"BoundedDropping":               "spins a core for ever after its first drop",
	"SetReceiveTimeout":             "races; send a message from time.AfterFunc",
	"Stash":                         "replays in reverse order and without senders",
	"WithDefaultPrometheusProvider": "listens on every interface and cannot be stopped",
	"WithMetricProviders":           "makes a message cost thirteen times as much",
	"NewExponentialBackoffStrategy": "is linear and never gives up",
}

// bannedImports may be imported by the named package alone; "" is nobody.
var bannedImports = map[string]string{
	"github.com/asynkron/protoactor-go/plugin":      "",
	"github.com/asynkron/protoactor-go/persistence": "",
	"github.com/asynkron/protoactor-go/remote":      "internal/wire",
	"github.com/asynkron/protoactor-go/cluster":     "internal/wire",
	"google.golang.org/grpc":                        "internal/wire",
	"github.com/NVIDIA/go-nvml":                     "gpuexec/nvmlinfo",
}

// onlyInTests may be imported by tests alone: the library's own transport plays the other side there.
var onlyInTests = []string{"github.com/asynkron/protoactor-go/remote", "github.com/asynkron/protoactor-go/cluster"}

func TestBanList(t *testing.T) {
	for _, s := range sources(t) {
		for _, v := range banViolations(s) {
			t.Error(v)
		}
	}
}

func banViolations(s source) []string {
	var broken []string
	for _, p := range s.imports() {
		for prefix, owner := range bannedImports {
			if within(p, prefix) && (owner == "" || !within(s.folder(), owner)) {
				broken = append(broken, fmt.Sprintf("%s: %s is banned here", s.path, p))
			}
		}
	}
	for _, p := range s.imports() {
		for _, prefix := range onlyInTests {
			if within(p, prefix) && within(s.folder(), bannedImports[prefix]) && !s.test {
				broken = append(broken, fmt.Sprintf("%s: %s is for tests", s.path, p))
			}
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		x, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		why, bad := banned[x.Sel.Name]
		if !bad && within(s.folder(), "actors") && !s.test && strings.HasPrefix(x.Sel.Name, "RequestFuture") {
			why, bad = "waiting inside an actor blocks it; use Request and a message", true
		}
		if bad {
			broken = append(broken, fmt.Sprintf("%s: %s is banned: %s", s.at(x), x.Sel.Name, why))
		}
		return true
	})
	return broken
}

// The list finds what it is there for.
func TestBanListBites(t *testing.T) {
	for _, c := range []struct {
		path, text string
		broken     int
	}{
		{"actors/a.go", "var a = actor.Bounded(1)", 1},
		{"actors/a.go", "var a = actor.Unbounded()", 0},
		{"actors/a.go", "func f() { c.Stash(); c.SetReceiveTimeout(1) }", 2},
		{"actors/a_test.go", "var a = actor.BoundedDropping(1)", 1},
		{"actors/a.go", "var f = c.RequestFuture(p, m, t)", 1},
		{"actors/a_test.go", "var f = c.RequestFuture(p, m, t)", 0},
		{"engine/a.go", "var f = c.RequestFuture(p, m, t)", 0},
		{"engine/a.go", `import "github.com/asynkron/protoactor-go/remote"`, 1},
		{"internal/wire/a_test.go", `import ("github.com/asynkron/protoactor-go/remote"; "google.golang.org/grpc/credentials")`, 0},
		{"internal/wire/a.go", `import ("github.com/asynkron/protoactor-go/remote"; "google.golang.org/grpc/credentials")`, 1},
		{"internal/wire/a.go", `import "github.com/asynkron/protoactor-go/persistence"`, 1},
		{"gpuexec/a.go", `import "github.com/NVIDIA/go-nvml/pkg/nvml"`, 1},
		{"gpuexec/nvmlinfo/a.go", `import "github.com/NVIDIA/go-nvml/pkg/nvml"`, 0},
	} {
		s := parseSource(t, c.path, "package a; "+c.text)
		if got := banViolations(s); len(got) != c.broken {
			t.Errorf("%s with %q: %q, want %d", c.path, c.text, got, c.broken)
		}
	}
}
