package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMetadata(t *testing.T) {
	value := func(list []Entry, key string) string {
		for _, e := range list {
			if e.Key == key {
				return e.Value
			}
		}
		return ""
	}
	list, err := Metadata(Embedded)
	if err != nil || value(list, "model_type") != `"llama"` || value(list, "architectures") != `["LlamaForCausalLM"]` {
		t.Errorf("the embedded model: %v, %v", list, err)
	}
	dir := t.TempDir()
	long := `{"b": {"c": [1, 2]}, "a": "` + strings.Repeat("ü", maxEntry) + `"}`
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err = Metadata(dir)
	if err != nil || len(list) != 2 || list[0].Key != "a" || !strings.HasSuffix(list[0].Value, "ü…") || list[1].Value != `{"c":[1,2]}` {
		t.Errorf("a folder: %v, %v", list, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"a": 1, "text_config": {"b": [2, 3]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err = Metadata(dir)
	if err != nil || value(list, "text_config") != `{"b":[2,3]}` || value(list, "text_config.b") != "[2,3]" {
		t.Errorf("a folder of a model that sees: %v, %v", list, err)
	}
	if _, err := Metadata(filepath.Join(dir, "nowhere")); !errors.Is(err, ErrNotFound) {
		t.Errorf("nothing: %v", err)
	}
	if _, err := Metadata(filepath.Join(dir, "config.json")); !errors.Is(err, ErrFormat) {
		t.Errorf("no model: %v", err)
	}
	for v, want := range map[any]string{"a\nb": `"a\nb"`, uint64(3): "3", true: "true"} {
		if got := ggufWords(v); got != want {
			t.Errorf("%v is told as %s", v, got)
		}
	}
	if got := ggufWords(&ggufList{n: 2, texts: []string{"a", "b"}}); got != "2 texts" {
		t.Error(got)
	}
}
