package hub

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/internal/hub/hubtest"
	"github.com/cbactor/cbactor/internal/hubcache"
)

// A folder that is a copy of one repository is not made one of another.
func TestAnotherRepositorysFolder(t *testing.T) {
	s, files, dir := hubtest.New(t), aModel(), t.TempDir()
	s.Put(files)
	c := quick(t, Options{Endpoint: s.URL})
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); err != nil {
		t.Fatal(err)
	}
	record, err := hubcache.ReadRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	record.Repo = "some/other"
	if err := record.Write(dir); err != nil {
		t.Fatal(err)
	}
	s.Put(map[string][]byte{"README.md": nil})
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), "some/other") {
		t.Errorf("error %v", err)
	}
	holds(t, dir, files, wanted...)
}

// twoModels are two GGUF files of a repository.
func twoModels(seed uint64) map[string][]byte {
	return map[string][]byte{"a-Q8_0.gguf": noise(30_000, seed), "a-Q4_K_M.gguf": noise(20_000, seed+1)}
}

// What has come of a file stays when another is pulled.
func TestPartsOfOthersStay(t *testing.T) {
	s, files, dir := hubtest.New(t), twoModels(1), t.TempDir()
	s.Put(files)
	c := quick(t, Options{Endpoint: s.URL})
	c.stall = time.Minute // the first answer is held until its bytes are there
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	s.Hook(func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
		if !cdn {
			return false
		}
		_, err := w.Write(files["a-Q8_0.gguf"][:12_000])
		if err == nil {
			err = http.NewResponseController(w).Flush()
		}
		arrived(dir, 12_000)
		cancel(gone)
		return err == nil
	})
	if _, _, err := pulled(ctx, c, hubtest.Repo+":Q8_0", dir); !errors.Is(err, gone) {
		t.Fatalf("interrupted: %v", err)
	}
	s.Hook(nil)
	old := filepath.Join(dir, partsDir, "of-an-older-commit")
	if err := os.WriteFile(old, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := pulled(t.Context(), c, hubtest.Repo+":Q4_K_M", dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("a part that nothing goes on with was left")
	}
	r, _, err := pulled(t.Context(), c, hubtest.Repo+":Q8_0", dir)
	if err != nil || r.Fetched >= r.Bytes {
		t.Errorf("%d of %d bytes were fetched, %v", r.Fetched, r.Bytes, err)
	}
	holds(t, dir, files, "a-Q8_0.gguf", "a-Q4_K_M.gguf")
}

// A file of an older commit does not count as one of the new commit.
func TestPartOfANewerCommit(t *testing.T) {
	s, cache := hubtest.New(t), t.TempDir()
	ref := mustRef(t, hubtest.Repo)
	dir := ref.Dir(cache)
	s.Put(aModel())
	c := quick(t, Options{Endpoint: s.URL})
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); err != nil {
		t.Fatal(err)
	}
	now := aModel()
	now["config.json"], now[shard] = []byte(`{"model_type":"other"}`), noise(30_000, 9)
	s.Put(now)
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir, "config.json"); err != nil {
		t.Fatal(err)
	}
	if found, err := hubcache.Find(cache, ref); !errors.Is(err, hubcache.ErrPartial) {
		t.Errorf("a mixed copy is found as %q, %v", found, err)
	}
	if _, _, err := pulled(t.Context(), c, hubtest.Repo, dir); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, now, wanted...)
	if _, err := hubcache.Find(cache, ref); err != nil {
		t.Error(err)
	}
}

// The index of shards says which files are shards.
func TestShardsOfTheIndex(t *testing.T) {
	odd := map[string][]byte{
		"config.json": []byte("{}"), "model.safetensors.index.json": []byte(`{"weight_map":{"a":"part-a.safetensors","b":"sub/b.safetensors","c":"part-a.safetensors"}}`),
		"part-a.safetensors": noise(30, 1), "sub/b.safetensors": noise(2000, 2), "old-00001-of-00002.safetensors": noise(40, 3), "a.gguf": noise(50, 4),
	}
	lacking, empty, both := maps.Clone(odd), maps.Clone(odd), maps.Clone(odd)
	both["model.safetensors"] = noise(60, 5)
	delete(lacking, "sub/b.safetensors")
	empty["model.safetensors.index.json"] = []byte("{}")
	for name, x := range map[string]struct {
		files map[string][]byte
		want  []string
		err   error
	}{
		"odd names":       {odd, []string{"config.json", "model.safetensors.index.json", "part-a.safetensors", "sub/b.safetensors"}, nil},
		"one file first":  {both, []string{"config.json", "model.safetensors"}, nil},
		"a shard lacking": {lacking, nil, ErrChoice},
		"no shards":       {empty, nil, ErrChoice},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := hubtest.New(t), t.TempDir()
			s.Put(x.files)
			if _, _, err := pulled(t.Context(), quick(t, Options{Endpoint: s.URL}), hubtest.Repo, dir); !errors.Is(err, x.err) {
				t.Fatalf("error %v, want %v", err, x.err)
			}
			holds(t, dir, x.files, x.want...)
		})
	}
}
