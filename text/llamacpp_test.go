package text

import (
	"os"
	"path/filepath"
	"slices"
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

// Phi-3's added tokens take the white space behind them along, but for three, as its
// tokenizer.json has it; others of a GGUF file take none.
func TestPhi3StripsBehindAddedTokens(t *testing.T) {
	v := &checkpoint.Vocab{Model: "llama", Tokens: []string{"<unk>", "<s>", "</s>", "<|user|>", "▁", "a", "\n", "▁a"}, Scores: []float32{0, 0, 0, 0, -3, -4, -5, -1},
		Types: []checkpoint.TokenType{2, 3, 3, 4, 1, 1, 1, 1}, BOS: 1, EOS: 2, UNK: 0, Pad: -1, AddSpacePrefix: true}
	for text, want := range map[string][2][]int32{ // as others have it, and Phi-3
		"<|user|>\n a": {{3, 4, 6, 7}, {3, 7}},
		"</s> a":       {{2, 4, 7}, {2, 7}},
		"<s>\na":       {{1, 4, 6, 5}, {1, 4, 6, 5}},
	} {
		for i, phi3 := range []bool{false, true} {
			v.Phi3 = phi3
			c, err := fromVocab(v)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.EncodeRaw(text); !slices.Equal(got, want[i]) {
				t.Errorf("%q, Phi-3 %t: %v, want %v", text, phi3, got, want[i])
			}
		}
	}
	real := vocabulary(t, "phi-3")
	if other := vocabulary(t, "llama-spm"); !real.Phi3 || other.Phi3 {
		t.Fatalf("Phi-3 is taken for %t, Llama for %t", real.Phi3, other.Phi3)
	}
	c, err := fromVocab(real)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.EncodeRaw("<|user|>\nHi<|end|>\n<|assistant|>\n"), []int32{32010, 6324, 32007, 32001}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v as microsoft/Phi-3-mini-4k-instruct has it", got, want)
	}
}
