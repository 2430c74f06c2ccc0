package test

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"testing"
)

// docs/invariants.md names tests that exist.
func TestInvariantsHaveTheirTests(t *testing.T) {
	page, err := os.ReadFile("../docs/invariants.md")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test && f.Recv == nil {
				have[path.Base(s.folder())+"."+f.Name.Name] = true
			}
		}
	}
	named := regexp.MustCompile("`([a-z]+\\.Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 30 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, m := range named {
		if !have[m[1]] {
			t.Errorf("there is no %s", m[1])
		}
	}
}
