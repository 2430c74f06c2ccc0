package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/cbactor/cbactor/"

// source is a Go file of this module. All are looked at, for whatever system.
type source struct {
	path string // from the module's root, with slashes
	test bool
	file *ast.File
	fset *token.FileSet
}

// folder is the package's path from the module's root.
func (s source) folder() string { return path.Dir(s.path) }

func (s source) at(n ast.Node) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(n.Pos()).Line)
}

// imports are the import paths of the file.
func (s source) imports() []string {
	var paths []string
	for _, i := range s.file.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			panic(err) // the parser let it pass
		}
		paths = append(paths, p)
	}
	return paths
}

func parseSource(t *testing.T, name string, text any) source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, filepath.Join("..", name), text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{filepath.ToSlash(name), strings.HasSuffix(name, "_test.go"), file, fset}
}

// sources are all Go files of the module. Generators are modules of their own.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := fs.WalkDir(os.DirFS(".."), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." {
			_, err := os.Stat(filepath.Join("..", p, "go.mod"))
			if err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" {
				return fs.SkipDir
			}
		}
		if !d.IsDir() && strings.HasSuffix(p, ".go") {
			all = append(all, parseSource(t, p, nil))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("found %d Go files only", len(all))
	}
	return all
}
