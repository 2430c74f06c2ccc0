package hubcache_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/internal/hubcache"
)

func TestParseRef(t *testing.T) {
	for text, want := range map[string]hubcache.Ref{
		"org/name":                      {Org: "org", Name: "name", Revision: "main"},
		"Org-1/Na_me.2":                 {Org: "Org-1", Name: "Na_me.2", Revision: "main"},
		"org/name@v1":                   {Org: "org", Name: "name", Revision: "v1"},
		"org/name:a/b-Q4_K_M.gguf":      {Org: "org", Name: "name", Revision: "main", File: "a/b-Q4_K_M.gguf"},
		"org/name@refs/pr/1:model.gguf": {Org: "org", Name: "name", Revision: "refs/pr/1", File: "model.gguf"},
	} {
		got, ok := hubcache.ParseRef(text)
		if !ok || got != want {
			t.Errorf("%q: %+v %v, want %+v", text, got, ok, want)
		}
		if got.String() != text {
			t.Errorf("%q is written %q", text, got)
		}
	}
	for _, text := range []string{"", "name", "a/b/c", "/name", "org/", "../name", "org/..", "a..b/c", "./model", ".x/y", "-x/y", "org/name:", "org/name@", "org/name@../x", "org/name@.", "org/na me", "org/name@a b", `org\name`, "org/" + strings.Repeat("x", 200)} {
		if got, ok := hubcache.ParseRef(text); ok {
			t.Errorf("%q is taken as %+v", text, got)
		}
	}
}

// A folder of the cache is never outside of it, and two revisions have two.
func TestDir(t *testing.T) {
	seen := map[string]bool{}
	for _, text := range []string{"a/b", "a/b@v1", "a/b@refs/pr/1", "a/b@refs%2Fpr%2F1"} {
		r, ok := hubcache.ParseRef(text)
		dir := r.Dir("cache")
		if !ok || seen[dir] || filepath.Dir(dir) != filepath.Join("cache", "hub", "a", "b") {
			t.Errorf("%q: %q", text, dir)
		}
		seen[dir] = true
	}
}

func TestFind(t *testing.T) {
	whole := hubcache.File{Size: 1, Digest: "git:00"}
	for name, x := range map[string]struct {
		files   []string
		missing []string
		ref     string
		want    string
		err     error
	}{
		"nothing":           {ref: "a/b", err: hubcache.ErrNotPulled},
		"a folder":          {files: []string{"config.json", "model.safetensors"}, ref: "a/b", want: "."},
		"a part":            {files: []string{"config.json"}, missing: []string{"model.safetensors"}, ref: "a/b", err: hubcache.ErrPartial},
		"one file":          {files: []string{"m-q8_0.gguf"}, ref: "a/b", want: "m-q8_0.gguf"},
		"several files":     {files: []string{"m-q8_0.gguf", "m-Q4_K_M.gguf"}, ref: "a/b", err: hubcache.ErrSeveral},
		"a file by name":    {files: []string{"m-q8_0.gguf", "m-Q4_K_M.gguf"}, ref: "a/b:m-q8_0.gguf", want: "m-q8_0.gguf"},
		"a file by its end": {files: []string{"m-q8_0.gguf", "sub/m-Q4_K_M.gguf"}, missing: []string{"x"}, ref: "a/b:q4_k_m", want: "sub/m-Q4_K_M.gguf"},
		"another file":      {files: []string{"m-q8_0.gguf"}, ref: "a/b:Q6_K", err: hubcache.ErrNotPulled},
		"which":             {files: []string{"m-q8_0.gguf", "n-q8_0.gguf"}, ref: "a/b:q8_0", err: hubcache.ErrNotPulled},
	} {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			ref, ok := hubcache.ParseRef(x.ref)
			if !ok {
				t.Fatal("no name")
			}
			record := hubcache.Record{Repo: "a/b", Files: map[string]hubcache.File{}, Missing: x.missing}
			for _, f := range x.files {
				record.Files[f] = whole
			}
			dir := ref.Dir(cache)
			if len(x.files) > 0 {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					t.Fatal(err)
				}
				if err := record.Write(dir); err != nil {
					t.Fatal(err)
				}
			}
			got, err := hubcache.Find(cache, ref)
			if !errors.Is(err, x.err) {
				t.Fatalf("error %v, want %v", err, x.err)
			}
			if err == nil && got != filepath.Join(dir, x.want) {
				t.Errorf("%q, want %q", got, x.want)
			}
		})
	}
}

// What is no record is as none: it is written anew.
func TestDamagedRecord(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, hubcache.Prefix+"hub.json"), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := hubcache.ReadRecord(dir)
	if err != nil || got.Files == nil || len(got.Files) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"config.json": true, "a/b.gguf": true, "..a": true, ".gitattributes": true,
		"": false, ".": false, "..": false, "../a": false, "a/../b": false, "/etc/passwd": false, `a\b`: false, "C:x": false,
		"a//b": false, "a/": false, ".cbactor-hub.json": false, ".CBactor-hub.json": false, "a\x00b": false, "a\nb": false, "\xff": false,
	} {
		if got := hubcache.ValidName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
