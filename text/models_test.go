package text

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
)

// modelGolden is what the reference made of a model's prompts: Transformers
// 5.23.0.
type modelGolden struct {
	Cases []struct {
		Text      *string
		Messages  []Message
		PromptIDs []int32 `json:"prompt_ids"`
		Greedy    []int32 `json:"greedy"`
		Output    string  `json:"output"` // special tokens kept
	} `json:"cases"`
}

func readModelGolden(t *testing.T, path string) modelGolden {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var g modelGolden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Cases) == 0 {
		t.Fatal("no cases")
	}
	return g
}

// openModel is the checkpoint and the codec of a model; the test is skipped
// when the model was not fetched.
func openModel(t *testing.T, name string) (*checkpoint.Checkpoint, *Codec) {
	t.Helper()
	path, err := checkpoint.Resolve(name)
	if err != nil {
		t.Skipf("%s is not there: %v", name, err)
	}
	c, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	codec, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	return c, codec
}

// checkModel compares prompts and outputs with the golden.
func checkModel(t *testing.T, codec *Codec, g modelGolden) {
	t.Helper()
	for i, c := range g.Cases {
		var ids []int32
		if c.Text != nil {
			ids = codec.Encode(*c.Text)
		} else {
			var err error
			if ids, err = codec.EncodeChat(c.Messages); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(ids, c.PromptIDs) {
			t.Errorf("case %d: prompt ids %v, want %v", i, ids, c.PromptIDs)
		}
		if got := codec.DecodeAll(c.Greedy); got != c.Output {
			t.Errorf("case %d: output %q, want %q", i, got, c.Output)
		}
		shown := strings.NewReplacer("<|im_end|>", "", "<|endoftext|>", "").Replace(c.Output)
		s := NewSession(codec)
		var streamed strings.Builder
		for _, id := range c.Greedy {
			streamed.WriteString(s.Push([]int32{id}))
		}
		streamed.WriteString(s.Finish())
		if streamed.String() != shown || s.Text() != shown || codec.Decode(c.Greedy) != shown {
			t.Errorf("case %d: streamed %q, text %q, decoded %q, want %q", i, &streamed, s.Text(), codec.Decode(c.Greedy), shown)
		}
	}
	t.Logf("%d cases", len(g.Cases))
}

func TestTinyMatchesTheReference(t *testing.T) {
	_, codec := openModel(t, "tiny")
	checkModel(t, codec, readModelGolden(t, "../checkpoint/tiny/golden.json"))
}

func TestSmolLM2MatchesTheReference(t *testing.T) {
	_, codec := openModel(t, "smollm2")
	checkModel(t, codec, readModelGolden(t, "testdata/smollm2.chat.golden.json"))
	checkGolden(t, codec, "smollm2")
}
