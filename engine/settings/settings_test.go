package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
)

func TestYAML(t *testing.T) {
	const text = `# an engine
page_size: 16          # tokens
max_memory_percent: 0.5
scheduler_type: "fifo"
allow_block_sharing: false
num_blocks: null
cpu_offload_space: ~
use_cuda_graph: [true, false]
hints: {max_prompt: 100, requests: 4}
varlen_compile_config:
  mode: max-autotune
  dynamic: true
ranks: 2
`
	want := [][3]string{
		{"page_size", "16", "cb.yaml:2:1"}, {"max_memory_percent", "0.5", "cb.yaml:3:1"}, {"scheduler_type", "fifo", "cb.yaml:4:1"},
		{"allow_block_sharing", "false", "cb.yaml:5:1"}, {"num_blocks", "null", "cb.yaml:6:1"}, {"cpu_offload_space", "null", "cb.yaml:7:1"},
		{"use_cuda_graph", "true,false", "cb.yaml:8:1"}, {"hints", "max_prompt=100,requests=4", "cb.yaml:9:1"},
		{"varlen_compile_config", "mode=max-autotune,dynamic=true", "cb.yaml:10:1"}, {"ranks", "2", "cb.yaml:13:1"},
	}
	list, err := ReadYAML([]byte(text), "cb.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got [][3]string
	for _, g := range list {
		got = append(got, [3]string{g.Name, g.Text, g.Where})
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %v,\nwant %v", got, want)
	}
	var cfg engine.Config
	if err := cfg.Apply(list); err != nil || cfg.CPUOffloadSpace != 0 {
		t.Errorf("null reserves %v GiB (%v)", cfg.CPUOffloadSpace, err)
	}
	for _, empty := range []string{"", "\n", "# nothing\n", "---\n", "null\n", "{}\n"} {
		if list, err := ReadYAML([]byte(empty), "cb.yaml"); err != nil || len(list) > 0 {
			t.Errorf("%q: %v, %v", empty, list, err)
		}
	}
}

// Every error names the place, is one line and an ErrConfig.
func TestBadYAML(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\na: 2\n":                        `cb.yaml:2:1: bad engine configuration: mapping key "a" already defined`,
		"a: [1,\n":                            "cb.yaml:1:4: ",
		"a: \"x":                              "cb.yaml:1:4: ",
		"page_size: 16\n\tnum_blocks: 3\n":    "cb.yaml:2:",
		"- page_size\n":                       "cb.yaml:1:1: bad engine configuration: no mapping",
		"page_size 16\n":                      "cb.yaml:1:1: bad engine configuration: no mapping",
		"a: 1\n---\nb: 2\n":                   "cb.yaml:3:2: bad engine configuration: a second document",
		"a: &x 1\nb: 2\n":                     "cb.yaml:1:4: bad engine configuration: a value that is no plain",
		"a: 1\nb: !!int 3\n":                  "cb.yaml:2:4: bad engine configuration: a value that is no plain",
		"<<: {a: 1}\n":                        "cb.yaml:1:1: bad engine configuration: a key that is no plain",
		"1: 2\n":                              "cb.yaml:1:1: bad engine configuration: a key that is no plain",
		"a: |\n  text\n":                      "cb.yaml:1:4: bad engine configuration: a value that is no plain",
		"a: [[1]]\n":                          "cb.yaml:1:5: bad engine configuration: a value that is no plain",
		"a: [\"1,2\"]\n":                      "cb.yaml:1:5: bad engine configuration: a comma within",
		"a: {b: {c: 1}}\n":                    "bad engine configuration: a value that is no plain",
		"a: {1: 2}\n":                         "cb.yaml:1:5: bad engine configuration: a key that is no plain",
		"a: " + strings.Repeat("[", 1<<15):    "cb.yaml:1:12: bad engine configuration: brackets within",
		"a: 1 #" + strings.Repeat("x", 1<<16): "cb.yaml: bad engine configuration: more than 64 KiB",
	} {
		_, err := ReadYAML([]byte(text), "cb.yaml")
		if !errors.Is(err, engine.ErrConfig) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "cb.yaml:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// What YAML reads and a field does not take is refused with its place.
func TestBadValuesOfYAML(t *testing.T) {
	for text, want := range map[string]string{
		"page_sise: 16\n":                         `cb.yaml:1:1: bad engine configuration: there is no "page_sise": did you mean page_size?`,
		"seed: 1\npage_size: 0x20\n":              "cb.yaml:2:1: bad engine configuration: page_size is 0x20: must be a whole number from 1 to 4096",
		"page_size: 1_000\n":                      "page_size is 1_000: must be a whole number",
		"page_size: 16.5\n":                       "page_size is 16.5: must be a whole number",
		"max_memory_percent: .nan\n":              "max_memory_percent is .nan: must be a number from 0.000001 to 1",
		"allow_block_sharing: yes\n":              "allow_block_sharing is yes: must be true, false or auto",
		"hints: {requests: [1]}\n":                "",
		"model: tiny\n":                           "cb.yaml:1:1: bad engine configuration: the model is no field: give it as --model",
		"page_size: [16]\n":                       "cb.yaml:1:12: bad engine configuration: a list, and page_size takes one value",
		"a: {b: 1}\n":                             `cb.yaml:1:1: bad engine configuration: there is no "a"`,
		"hints:\n  requests: 3\n  max_promt: 4\n": `cb.yaml:3:3: bad engine configuration: hints is max_promt=4: "max_promt" is none of`,
		"hints: {}\n":                             `hints is "": "" is no name=value`,
		"page_size: 8\nblock_size: 16\n":          "cb.yaml:2:1: bad engine configuration: page_size and block_size are the same",
		"threads: [1, 2]\n":                       "cb.yaml:1:10: bad engine configuration: a list, and threads takes one value",
	} {
		list, err := ReadYAML([]byte(text), "cb.yaml")
		if err == nil {
			err = new(engine.Config).Apply(list)
		}
		if !errors.Is(err, engine.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cb.yaml")
	if _, err := ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("threads: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := ReadFile(path)
	if err != nil || len(list) != 1 || list[0].Where != path+":1:1" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := ReadFile(filepath.Dir(path)); err == nil {
		t.Error("a folder is read")
	}
}

func TestEnviron(t *testing.T) {
	list, err := Environ([]string{"HOME=/", "CBACTOR_PAGE_SIZE=16", "CBACTOR_CACHE=x", "CBACTOR_CPU=avx2", "CBACTOR_CUBLASLT=y", "CBACTOR_TEST_DRIVER=z", "CBACTOR_THREADS=", "CBACTOR_NOTHING=", "CBACTOR_BLOCK_SIZE=8", "PAGE_SIZE=3"})
	want := []engine.Given{{Name: "page_size", Text: "16", Called: "CBACTOR_PAGE_SIZE"}, {Name: "block_size", Text: "8", Called: "CBACTOR_BLOCK_SIZE"}}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = Environ([]string{"CBACTOR_PAGESIZE=16"})
	if !errors.Is(err, engine.ErrConfig) || !strings.Contains(err.Error(), `"CBACTOR_PAGESIZE": did you mean CBACTOR_PAGE_SIZE?`) {
		t.Errorf("error %v", err)
	}
	for name, want := range map[string]string{"CBACTOR_MODEL": "give the model as --model", "CBACTOR_FROBNICATE": "docs/configuration.md has all"} {
		if _, err := Environ([]string{name + "=x"}); !errors.Is(err, engine.ErrConfig) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for _, f := range engine.Fields() {
		if list, err := Environ([]string{Variable(f.Name) + "=x"}); err != nil || len(list) != 1 || list[0].Name != f.Name {
			t.Errorf("%s: %+v, %v", f.Name, list, err)
		}
	}
}

// No file makes the reader panic, and what it accepts has a place.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{"page_size: 16\n", "hints: {max_new: 3}\nranks: [a, b]\n", "a: &x [1]\nb: *x\n", "? a\n: b\n", "\t", "a: |\n  x\n", "---\n...\n", "!!map {a: 1}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ReadYAML(data, "f")
		if err != nil {
			if !errors.Is(err, engine.ErrConfig) {
				t.Errorf("error %v", err)
			}
			return
		}
		for _, g := range list {
			if !strings.HasPrefix(g.Where, "f:") {
				t.Errorf("%+v has no place", g)
			}
		}
		if err := new(engine.Config).Apply(list); err != nil && !errors.Is(err, engine.ErrConfig) {
			t.Errorf("error %v", err)
		}
	})
}
