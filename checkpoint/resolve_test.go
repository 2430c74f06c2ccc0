package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/internal/hubcache"
	"github.com/cbactor/cbactor/model"
)

func TestResolve(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("CBACTOR_CACHE", cache)
	for name, want := range map[string]string{"": Embedded, "tiny": Embedded, "./tiny": "./tiny", "models/x.gguf": "models/x.gguf"} {
		if got, err := Resolve(name); err != nil || got != want {
			t.Errorf("%q: got %q, want %q, error %v", name, got, want, err)
		}
	}
	for name, asset := range assets {
		if _, err := Resolve(name); !errors.Is(err, ErrAsset) || !strings.Contains(err.Error(), "make assets") {
			t.Errorf("%s: got %v", name, err)
		}
		path := filepath.Join(cache, asset)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Resolve(name); err != nil || got != path {
			t.Errorf("%s: got %q, error %v", name, got, err)
		}
	}
}

// A model of a hub is found once it was pulled, and a path of the same name goes first.
func TestResolvePulled(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("CBACTOR_CACHE", cache)
	t.Chdir(t.TempDir())
	for _, name := range []string{"org/name", "org/name@v1", "org/name:Q4_0"} {
		if _, err := Resolve(name); !errors.Is(err, ErrNotPulled) || !strings.Contains(err.Error(), "`cbactor pull "+name+"`") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ref, ok := hubcache.ParseRef("org/name")
	if !ok {
		t.Fatal("no name")
	}
	dir := ref.Dir(cache)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	record := hubcache.Record{Files: map[string]hubcache.File{"config.json": {}}, Missing: []string{"model.safetensors"}}
	for _, x := range []struct {
		missing []string
		want    string
	}{{record.Missing, ""}, {nil, dir}} {
		record.Missing = x.missing
		if err := record.Write(dir); err != nil {
			t.Fatal(err)
		}
		if got, err := Resolve("org/name"); got != x.want || (err != nil) != (x.want == "") || err != nil && !errors.Is(err, ErrNotPulled) {
			t.Errorf("with %v missing: %q, %v", x.missing, got, err)
		}
	}
	if err := os.MkdirAll("org/name", 0o777); err != nil {
		t.Fatal(err)
	}
	if got, err := Resolve("org/name"); got != "org/name" || err != nil {
		t.Errorf("a folder of the name: %q, %v", got, err)
	}
}

// The real files, where `make assets` was run.
func TestOpenAssets(t *testing.T) {
	stored := map[string]model.DType{"smollm2": model.Q4_1, "smollm2-bf16": model.BF16}
	opened := map[string]*Checkpoint{}
	for name, kind := range stored {
		path, err := Resolve(name)
		if errors.Is(err, ErrAsset) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		c := open(t, path)
		opened[name] = c
		cfg := c.Config
		if cfg.Hidden != 576 || cfg.Layers != 30 || cfg.Heads != 9 || cfg.KVHeads != 3 || cfg.HeadDim != 64 || cfg.Vocab != 49152 ||
			cfg.MaxPosition != 8192 || cfg.Rope.Theta != 100000 || !cfg.TiedHead || cfg.BOS != 1 || !reflect.DeepEqual(cfg.EOS, []int32{2}) || cfg.Stored != kind {
			t.Errorf("%s: %+v", name, cfg)
		}
		if c.EOSToken != "<|im_end|>" || c.AddBOS == nil || *c.AddBOS || !strings.Contains(c.ChatTemplate, "SmolLM") {
			t.Errorf("%s: EOS %q, BOS added %v", name, c.EOSToken, c.AddBOS)
		}
	}
	if v := opened["smollm2"].Vocab; len(v.Tokens) != 49152 || len(v.Merges) != 48900 || v.Pre != "smollm" {
		t.Errorf("%d tokens, %d merges, pre-tokenizer %q", len(v.Tokens), len(v.Merges), v.Pre)
	}
	const name = "model.layers.29.self_attn.k_proj.weight"
	a, b := wide(t, opened["smollm2"], name), wide(t, opened["smollm2-bf16"], name)
	for i, x := range a {
		if model.ToBF16(x) != model.ToBF16(b[i]) {
			t.Fatalf("%s: number %d is %g and %g", name, i, x, b[i])
		}
	}
}
