package checkpoint

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// What is bf16 already comes out as it was, with all that describes it.
func TestWriteBF16OfBF16(t *testing.T) {
	want := open(t, Embedded)
	dir := filepath.Join(t.TempDir(), "model")
	if err := WriteBF16(dir, want); err != nil {
		t.Fatal(err)
	}
	got := open(t, dir)
	if !reflect.DeepEqual(got.Config, want.Config) || !reflect.DeepEqual(got.Generation, want.Generation) {
		t.Errorf("got %+v, want %+v", got.Config, want.Config)
	}
	if string(got.TokenizerJSON) != string(want.TokenizerJSON) || got.ChatTemplate != want.ChatTemplate ||
		got.BOSToken != want.BOSToken || got.EOSToken != want.EOSToken {
		t.Error("text is not the same")
	}
	if err := os.Remove(filepath.Join(dir, "chat_template.jinja")); err != nil {
		t.Fatal(err)
	}
	if older := open(t, dir); older.ChatTemplate != want.ChatTemplate {
		t.Error("the chat template is not in tokenizer_config.json")
	}
	for _, tensor := range want.Config.Tensors() {
		if !slices.Equal(wide(t, got, tensor.Name), wide(t, want, tensor.Name)) {
			t.Errorf("%s is not the same", tensor.Name)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 1 {
		t.Errorf("left beside it: %v, error %v", entries, err)
	}
	if err := WriteBF16(dir, want); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("over a folder: got %v", err)
	}
}

func TestWriteBF16OfGGUF(t *testing.T) {
	for _, name := range []string{"llama-f32", "llama-f16", "llama-q8_0", "llama-q4_1"} {
		want := open(t, filepath.Join("testdata", name+".gguf"))
		dir := filepath.Join(t.TempDir(), "model")
		if err := WriteBF16(dir, want); err != nil {
			t.Fatal(err)
		}
		got := open(t, dir)
		if got.Config.Stored != model.BF16 || got.TokenizerJSON != nil {
			t.Errorf("%s: %+v", name, got.Config)
		}
		for _, tensor := range want.Config.Tensors() {
			a, b := wide(t, want, tensor.Name), wide(t, got, tensor.Name)
			for i, x := range a {
				rounded := math.Float32frombits(uint32(model.ToBF16(x)) << 16)
				if b[i] != rounded {
					t.Fatalf("%s: %s: number %d is %g, want %g", name, tensor.Name, i, b[i], rounded)
				}
			}
		}
	}
}

// A failure leaves nothing behind.
func TestWriteBF16Fails(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(c *Checkpoint)
		kind  error
	}{
		"missing tensor":  {func(c *Checkpoint) { delete(c.tensors, "model.norm.weight") }, ErrFormat},
		"unreadable type": {func(c *Checkpoint) { spoilType(c, "model.norm.weight") }, model.ErrUnsupported},
		"MXFP4": {func(c *Checkpoint) {
			c.tensors["experts"] = stored{Tensor: model.Tensor{DType: model.MXFP4, Shape: []int{1, 1, 32}}}
		}, model.ErrUnsupported},
		"divisors":   {func(c *Checkpoint) { c.Config.Rope.FreqDivisors = []float32{1} }, model.ErrUnsupported},
		"vocabulary": {func(c *Checkpoint) { c.TokenizerJSON, c.Vocab = nil, &Vocab{Model: "llama"} }, model.ErrUnsupported},
	} {
		c := open(t, Embedded)
		test.spoil(c)
		parent := t.TempDir()
		if err := WriteBF16(filepath.Join(parent, "m"), c); !errors.Is(err, test.kind) {
			t.Errorf("%s: got %v", name, err)
		}
		if entries, err := os.ReadDir(parent); err != nil || len(entries) != 0 {
			t.Errorf("%s: left %v, error %v", name, entries, err)
		}
	}
}

func spoilType(c *Checkpoint, name string) {
	t := c.tensors[name]
	t.DType, t.kind = model.Invalid, "Q2_K"
	c.tensors[name] = t
}

func TestVocabTokenizerJSON(t *testing.T) {
	v := &Vocab{
		Model: "gpt2", Pre: "smollm", Tokens: []string{"<s>", "<&>", "a", "Ġ", "aĠ", "a"}, Types: []TokenType{3, 4, 1, 1, 1, 1},
		Merges: []string{"a Ġ"}, BOS: 0, EOS: 0, UNK: -1, Pad: -1, AddBOS: true,
	}
	js, err := v.TokenizerJSON()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		AddedTokens []struct {
			ID      int
			Content string
			Special bool
		} `json:"added_tokens"`
		PreTokenizer struct {
			Pretokenizers []struct {
				Type     string
				UseRegex bool `json:"use_regex"`
			}
		} `json:"pre_tokenizer"`
		PostProcessor struct{ Type string } `json:"post_processor"`
		Model         struct {
			Vocab  map[string]int
			Merges [][]string
		}
	}
	if err := json.Unmarshal(js, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Model.Vocab, map[string]int{"<s>": 0, "<&>": 1, "a": 2, "Ġ": 3, "aĠ": 4}) || !reflect.DeepEqual(got.Model.Merges, [][]string{{"a", "Ġ"}}) {
		t.Errorf("model %+v", got.Model)
	}
	if a := got.AddedTokens; len(a) != 2 || a[0].Content != "<s>" || !a[0].Special || a[1].ID != 1 || a[1].Special {
		t.Errorf("added tokens %+v", a)
	}
	if p := got.PreTokenizer.Pretokenizers; len(p) != 1 || p[0].Type != "ByteLevel" || !p[0].UseRegex {
		t.Errorf("pre-tokenizers %+v", p)
	}
	if got.PostProcessor.Type != "TemplateProcessing" || !strings.Contains(string(js), `"<&>"`) {
		t.Errorf("post-processor %q", got.PostProcessor.Type)
	}
	for name, spoil := range map[string]func(v *Vocab){
		"pre-tokenizer": func(v *Vocab) { v.Pre = "nobody's" },
		"merge":         func(v *Vocab) { v.Merges = []string{"aĠ"} },
		"token":         func(v *Vocab) { v.Tokens = []string{"\xff", "", "", "", "", ""} },
	} {
		bad := *v
		spoil(&bad)
		if _, err := bad.TokenizerJSON(); !errors.Is(err, ErrFormat) && !errors.Is(err, model.ErrUnsupported) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
