package model

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/internal/fuzztest"
)

// FuzzParseConfig: a config.json is refused in one line, or is one that is written and read
// again, and whose rotary embedding can be computed.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"architectures":["LlamaForCausalLM"],"vocab_size":8,"hidden_size":4,"intermediate_size":4,"num_hidden_layers":1,"num_attention_heads":2}`))
	f.Add([]byte(`{"model_type":"gemma3","text_config":{"vocab_size":8,"hidden_size":4},"dtype":"bfloat16"}`))
	made, err := filepath.Glob("../test/testdata/families/made/*/config.json")
	if err != nil || len(made) == 0 {
		f.Fatalf("%d configurations: %v", len(made), err)
	}
	for _, path := range made {
		js, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(js)
	}
	fuzztest.Fuzz(f, 4<<20, func(t *testing.T, js []byte) {
		c, err := ParseConfig(js)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("the error has more than one line: %q", err)
			}
			return
		}
		for _, kind := range []Attention{Full, Sliding} {
			if inv, _ := c.InvFreq(kind); len(inv) != c.RotaryDims()/2 {
				t.Errorf("%d frequencies for %d dimensions", len(inv), c.RotaryDims())
			}
		}
		if written, err := c.JSON(); err == nil {
			if _, err := ParseConfig(written); err != nil {
				t.Errorf("what JSON writes of %s is refused: %v\n%s", js, err, written)
			}
		}
	})
}
