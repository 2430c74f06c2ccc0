package text

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
)

// ofLlamaCpp is the path of a file of llama.cpp's models; the test is skipped when that
// was not fetched (make assets).
func ofLlamaCpp(t *testing.T, name string) string {
	t.Helper()
	dir, err := checkpoint.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "llama.cpp", "models", name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CBACTOR_REQUIRE_ASSETS") != "" {
			t.Fatal(err)
		}
		t.Skipf("%s is not there: run make assets", path)
	}
	return path
}

// vocabulary is the vocabulary of a file of llama.cpp's.
func vocabulary(t *testing.T, name string) *checkpoint.Vocab {
	t.Helper()
	v, err := checkpoint.OpenVocab(ofLlamaCpp(t, "ggml-vocab-"+name+".gguf"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Vocabularies of GGUF files, with the ids that llama.cpp's own tests want.
func TestVocabulariesMatchTheReference(t *testing.T) {
	files, err := filepath.Glob("testdata/llamacpp/*.golden.jsonl.gz")
	if err != nil || len(files) != 14 {
		t.Fatalf("%d goldens, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".golden.jsonl.gz")
		t.Run(name, func(t *testing.T) {
			c, err := fromVocab(vocabulary(t, name))
			if err != nil {
				t.Fatal(err)
			}
			c.prefix, c.suffix = nil, nil // the goldens are without
			checkGolden(t, c, "llamacpp/"+name)
			for _, l := range readGolden(t, "llamacpp/"+name) {
				if got := c.DecodeAll(l.IDs); got != *l.T {
					t.Errorf("%q: decoded %q", *l.T, got)
				}
			}
		})
	}
}
