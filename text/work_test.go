package text

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Twice the text takes at most 2.3 times the work, whatever it is; where it is quadratic it
// takes 4 times. Work is counted, as time depends on what else runs: how often each piece of
// code of this package ran, and of those that look at texts for it.
func TestEncodingTakesLinearTime(t *testing.T) {
	const counted = "github.com/cbactor/cbactor/text/testdata/work,github.com/cbactor/cbactor/text,github.com/dlclark/regexp2/v2/...,golang.org/x/text/unicode/norm,strings"
	program := filepath.Join(t.TempDir(), "work")
	if out, err := exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg="+counted, "-o", program, "./testdata/work").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	size := 20 << 10
	var names []string
	var texts [][]byte // JSON has no strings of bad bytes
	for name, text := range longTexts {
		names, texts = append(names, name), append(texts, []byte(text(size)), []byte(text(2*size)))
	}
	for tokenizer, ask := range workAsks(t) {
		ask.Texts = texts
		input, err := json.Marshal(ask)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program)
		cmd.Stdin, cmd.Stderr, cmd.Env = bytes.NewReader(input), os.Stderr, append(os.Environ(), "GOCOVERDIR="+t.TempDir())
		out, err := cmd.Output()
		var work []uint64
		if err == nil {
			err = json.Unmarshal(out, &work)
		}
		if err != nil || len(work) != len(texts) {
			t.Fatalf("%s: %d answers, %v", tokenizer, len(work), err)
		}
		for i, kind := range names {
			once, twice := work[2*i], work[2*i+1]
			t.Logf("%s, %s: %d, %.2f times for twice as long", tokenizer, kind, once, float64(twice)/float64(once))
			if once < uint64(size)/10 || twice > once*23/10 {
				t.Errorf("%s, %s: %d, and %d for twice as long", tokenizer, kind, once, twice)
			}
		}
	}
}

// workAsk is what testdata/work is asked.
type workAsk struct {
	Tokenizer json.RawMessage `json:",omitempty"`
	Vocab     any             `json:",omitempty"`
	Texts     [][]byte
}

// workAsks are the tokenizers of kinds, as files have them.
func workAsks(t *testing.T) map[string]workAsk {
	asks := map[string]workAsk{"a regular expression": {Vocab: vocabOf(t, "bpe_bytelevel_gpt2", "gpt-4o")}}
	for _, name := range smallTokenizers {
		data, err := os.ReadFile("testdata/" + name + ".tokenizer.json")
		if err != nil {
			t.Fatal(err)
		}
		asks[name] = workAsk{Tokenizer: data}
	}
	return asks
}
