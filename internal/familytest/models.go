package familytest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// Model is a model of a family with its golden.
type Model struct {
	Name   string
	folder string
	made   bool // by the formula
}

// Models are those of the folder in CBACTOR_FAMILIES, else those of the formula.
func Models(t testing.TB) []Model {
	t.Helper()
	if folder := os.Getenv("CBACTOR_FAMILIES"); folder != "" {
		return models(t, folder, false)
	}
	return Made(t)
}

// Made are the models of the formula.
func Made(t testing.TB) []Model {
	t.Helper()
	return models(t, filepath.Join(root(t), "test", "testdata", "families", "made"), true)
}

// root is the module's: what was compiled elsewhere finds it, too, from where the test runs.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test's folder")
		}
	}
}

// Named is a model of the formula.
func Named(t testing.TB, name string) Model {
	t.Helper()
	list := Made(t)
	i := slices.IndexFunc(list, func(m Model) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("there is no model %s", name)
	}
	return list[i]
}

func models(t testing.TB, folder string, made bool) []Model {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var list []Model
	for _, e := range entries {
		if e.IsDir() {
			list = append(list, Model{e.Name(), filepath.Join(folder, e.Name()), made})
		}
	}
	if len(list) == 0 {
		t.Fatalf("there is no model in %s", folder)
	}
	return list
}

// Config is the model's.
func (m Model) Config(t testing.TB) *model.Config {
	t.Helper()
	js, err := os.ReadFile(filepath.Join(m.folder, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := model.ParseConfig(js)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Folder is a checkpoint of the model, which may lie in the test's own folder.
func (m Model) Folder(t testing.TB) string {
	t.Helper()
	if !m.made {
		return m.folder
	}
	folder := t.TempDir()
	js, err := os.ReadFile(filepath.Join(m.folder, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := m.Config(t)
	for name, data := range map[string][]byte{"config.json": js, "model.safetensors": safetensors(t, c)} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
