package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// ggufModel builds whole GGUF models of one layer: hidden 8, 2 heads of 4, one
// key-value head, F32.
type ggufModel struct {
	keys    []string
	names   []string
	shapes  [][]uint64 // as in the file, innermost first
	content []float32
}

func newGGUFModel() *ggufModel {
	m := &ggufModel{keys: []string{
		ggufArchKey, ggufU32("llama.block_count", 1), ggufU32("llama.context_length", 16), ggufU32("llama.embedding_length", 8),
		ggufU32("llama.feed_forward_length", 4), ggufU32("llama.attention.head_count", 2), ggufU32("llama.attention.head_count_kv", 1),
		ggufF32("llama.attention.layer_norm_rms_epsilon", 1e-5),
	}}
	for _, name := range []string{"attn_norm", "ffn_norm"} {
		m.add("blk.0."+name+".weight", 8)
	}
	m.add("token_embd.weight", 8, 6)
	m.add("output_norm.weight", 8)
	m.add("blk.0.attn_q.weight", 8, 8)
	m.add("blk.0.attn_k.weight", 8, 4)
	m.add("blk.0.attn_v.weight", 8, 4)
	m.add("blk.0.attn_output.weight", 8, 8)
	m.add("blk.0.ffn_gate.weight", 8, 4)
	m.add("blk.0.ffn_up.weight", 8, 4)
	m.add("blk.0.ffn_down.weight", 4, 8)
	return m
}

// add appends a tensor whose numbers count up over the whole file.
func (m *ggufModel) add(name string, dims ...uint64) {
	m.names = append(m.names, name)
	m.shapes = append(m.shapes, dims)
	n := uint64(1)
	for _, d := range dims {
		n *= d
	}
	for range (n + 7) / 8 * 8 { // alignment of 32 bytes
		m.content = append(m.content, float32(len(m.content)))
	}
}

func (m *ggufModel) open() (*Checkpoint, error) {
	file := m.file()
	return openGGUF(bytes.NewReader(file), int64(len(file)))
}

func (m *ggufModel) file() []byte {
	b := ggufBuilder{keys: m.keys}
	at := uint64(0)
	for i, name := range m.names {
		b.tensors = append(b.tensors, ggufEntry(name, 0, at, m.shapes[i]...))
		n := uint64(4)
		for _, d := range m.shapes[i] {
			n *= d
		}
		at += (n + 31) / 32 * 32
	}
	for _, x := range m.content {
		b.data = binary.LittleEndian.AppendUint32(b.data, math.Float32bits(x))
	}
	return b.bytes()
}

func ggufF32(key string, v float32) string {
	return ggufKey(key, ggufFloat32, le32(math.Float32bits(v)))
}

// Rows of q and k come back in Hugging Face's order, biases too; others stay.
func TestGGUFRowOrder(t *testing.T) {
	m := newGGUFModel()
	m.add("blk.0.attn_q.bias", 8)
	m.add("blk.0.attn_k.bias", 4)
	m.add("blk.0.attn_v.bias", 4)
	c, err := m.open()
	if err != nil {
		t.Fatal(err)
	}
	if !c.Config.AttnBias || c.Config.MLPBias || !c.Config.TiedHead || c.Config.Vocab != 6 || c.Config.HeadDim != 4 {
		t.Errorf("%+v", c.Config)
	}
	for name, rows := range map[string][]int{
		"q_proj.weight": {0, 2, 1, 3, 4, 6, 5, 7},
		"q_proj.bias":   {0, 2, 1, 3, 4, 6, 5, 7},
		"k_proj.weight": {0, 2, 1, 3},
		"k_proj.bias":   {0, 2, 1, 3},
		"v_proj.weight": {0, 1, 2, 3},
		"o_proj.weight": {0, 1, 2, 3, 4, 5, 6, 7},
	} {
		got := wide(t, c, "model.layers.0.self_attn."+name)
		width := len(got) / len(rows)
		for row, from := range rows {
			if want := slices.Min(got) + float32(from*width); got[row*width] != want {
				t.Errorf("%s: row %d begins with %g, want %g", name, row, got[row*width], want)
			}
		}
	}
}

func TestGGUFRope(t *testing.T) {
	for name, test := range map[string]struct {
		keys []string
		want model.Rope
	}{
		"default": {nil, model.Rope{Kind: model.RopeDefault, Theta: 10000}},
		"theta":   {[]string{ggufF32("llama.rope.freq_base", 500)}, model.Rope{Kind: model.RopeDefault, Theta: 500}},
		"linear":  {[]string{ggufStr("llama.rope.scaling.type", "linear"), ggufF32("llama.rope.scaling.factor", 4)}, model.Rope{Kind: model.RopeLinear, Theta: 10000, Factor: 4}},
		"old":     {[]string{ggufF32("llama.rope.scale_linear", 2)}, model.Rope{Kind: model.RopeLinear, Theta: 10000, Factor: 2}},
		"none":    {[]string{ggufStr("llama.rope.scaling.type", "none"), ggufF32("llama.rope.scaling.factor", 4)}, model.Rope{Kind: model.RopeDefault, Theta: 10000}},
		"yarn": {[]string{ggufStr("llama.rope.scaling.type", "yarn"), ggufF32("llama.rope.scaling.factor", 4), ggufU32("llama.rope.scaling.original_context_length", 4)},
			model.Rope{Kind: model.RopeYarn, Theta: 10000, Factor: 4, OriginalMaxPosition: 4, BetaFast: 32, BetaSlow: 1, Truncate: true}},
	} {
		m := newGGUFModel()
		m.keys = append(m.keys, test.keys...)
		c, err := m.open()
		if err != nil || !reflect.DeepEqual(c.Config.Rope, test.want) {
			t.Errorf("%s: got %+v, want %+v, error %v", name, c, test.want, err)
		}
	}
	m := newGGUFModel()
	m.add(ropeFreqs, 2)
	c, err := m.open()
	if err != nil {
		t.Fatal(err)
	}
	if d := c.Config.Rope.FreqDivisors; len(d) != 2 || d[1] != d[0]+1 || c.tensors[ropeFreqs].Name != "" {
		t.Errorf("divisors %v", d)
	}
}

func TestGGUFVocab(t *testing.T) {
	list := func(elem uint32, n uint64, rest ...string) string {
		return le32(elem) + le64(n) + strings.Join(rest, "")
	}
	tokens := ggufKey("tokenizer.ggml.tokens", ggufArray, list(ggufString, 3, ggufText("<s>"), ggufText("a"), ggufText("</s>")))
	m := newGGUFModel()
	m.keys = append(m.keys, tokens,
		ggufStr("tokenizer.ggml.model", "gpt2"), ggufStr("tokenizer.ggml.pre", "smollm"),
		ggufKey("tokenizer.ggml.merges", ggufArray, list(ggufString, 1, ggufText("a a"))),
		ggufKey("tokenizer.ggml.token_type", ggufArray, list(ggufInt32, 3, le32(3), le32(1), le32(3))),
		ggufU32("tokenizer.ggml.bos_token_id", 0), ggufU32("tokenizer.ggml.eos_token_id", 2), ggufU32("tokenizer.ggml.eot_token_id", 1),
		ggufU32("tokenizer.ggml.padding_token_id", math.MaxUint32),
		ggufKey("tokenizer.ggml.add_bos_token", ggufBool, "\x01"), ggufStr("tokenizer.chat_template", "T"),
		ggufKey("general.sampling.temp", ggufFloat32, le32(math.Float32bits(0.5))), ggufKey("general.sampling.top_k", ggufInt32, le32(20)))
	c, err := m.open()
	if err != nil {
		t.Fatal(err)
	}
	if g := c.Generation; g.DoSample == nil || !*g.DoSample || *g.Temperature != 0.5 || *g.TopK != 20 {
		t.Errorf("recommended are %+v", g)
	}
	want := &Vocab{Model: "gpt2", Pre: "smollm", Tokens: []string{"<s>", "a", "</s>"}, Types: []TokenType{3, 1, 3}, Merges: []string{"a a"},
		BOS: 0, EOS: 2, UNK: -1, Pad: -1, AddBOS: true}
	if !reflect.DeepEqual(c.Vocab, want) {
		t.Errorf("got %+v, want %+v", c.Vocab, want)
	}
	if c.ChatTemplate != "T" || c.BOSToken != "<s>" || c.EOSToken != "</s>" || !*c.AddBOS || c.Config.BOS != 0 || !reflect.DeepEqual(c.Config.EOS, []int32{2, 1}) {
		t.Errorf("%+v, config %+v", c, c.Config)
	}

	for name, keys := range map[string][]string{
		"types of another length": {tokens, ggufKey("tokenizer.ggml.token_type", ggufArray, list(ggufInt32, 1, le32(1)))},
		"types as bytes":          {tokens, ggufKey("tokenizer.ggml.token_type", ggufArray, list(ggufUint8, 3, "\x01\x01\x01"))},
		"scores as a text":        {tokens, ggufStr("tokenizer.ggml.scores", "x")},
		"tokens as a number":      {ggufU32("tokenizer.ggml.tokens", 5)},
		"more tokens than rows":   {ggufKey("tokenizer.ggml.tokens", ggufArray, list(ggufString, 7, strings.Repeat(ggufText("a"), 7)))},
		"start token too large":   {tokens, ggufU32("tokenizer.ggml.bos_token_id", 3)},
		"end token a text":        {tokens, ggufStr("tokenizer.ggml.eos_token_id", "x")},
		"template not UTF-8":      {ggufStr("tokenizer.chat_template", "\xff")},
	} {
		m := newGGUFModel()
		m.keys = append(m.keys, keys...)
		if _, err := m.open(); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestGGUFModelRefuses(t *testing.T) {
	replace := func(key string) func(m *ggufModel) {
		return func(m *ggufModel) {
			name := key[8 : 8+binary.LittleEndian.Uint64([]byte(key))]
			m.keys = slices.DeleteFunc(m.keys, func(k string) bool { return strings.HasPrefix(k, ggufText(name)) })
			m.keys = append(m.keys, key)
		}
	}
	add := func(name string, dims ...uint64) func(m *ggufModel) {
		return func(m *ggufModel) { m.add(name, dims...) }
	}
	for name, test := range map[string]struct {
		spoil func(m *ggufModel)
		kind  error
		says  string
	}{
		"architecture":        {replace(ggufStr("general.architecture", "mamba")), model.ErrUnsupported, "mamba"},
		"architecture number": {replace(ggufU32("general.architecture", 5)), ErrFormat, "general.architecture"},
		"experts":             {replace(ggufU32("llama.expert_shared_count", 8)), model.ErrUnsupported, "llama.expert_shared_count"},
		"a window":            {replace(ggufU32("llama.attention.sliding_window", 8)), model.ErrUnsupported, "sliding_window"},
		"yarn's attention":    {replace(ggufF32("llama.rope.scaling.attn_factor", 0.5)), model.ErrUnsupported, "attn_factor"},
		"rope type":           {replace(ggufStr("llama.rope.scaling.type", "longrope")), model.ErrUnsupported, "longrope"},
		"half a head":         {replace(ggufU32("llama.rope.dimension_count", 2)), ErrFormat, "dimension_count"},
		"heads":               {replace(ggufU32("llama.attention.head_count", 0)), model.ErrConfig, "heads"},
		"rows of q":           {replace(ggufU32("llama.attention.head_count_kv", 2)), ErrFormat, "k_proj"},
		"layers":              {replace(ggufU32("llama.block_count", 1<<31-1)), ErrFormat, "block_count"},
		"context":             {replace(ggufU32("llama.context_length", 0)), model.ErrConfig, "context"},
		"negative":            {replace(ggufKey("llama.context_length", ggufInt32, le32(1<<32-1))), ErrFormat, "context_length"},
		"epsilon":             {replace(ggufF32("llama.attention.layer_norm_rms_epsilon", float32(math.NaN()))), ErrFormat, "epsilon"},
		"vocabulary":          {replace(ggufU32("llama.vocab_size", 7)), ErrFormat, "vocab_size"},
		"tensor":              {add("blk.0.attn_q_norm.weight", 4), model.ErrUnsupported, "attn_q_norm"},
		"layer's spelling":    {add("blk.00.attn_q.weight", 8, 8), model.ErrUnsupported, "blk.00"},
		"divisors":            {add(ropeFreqs, 4), ErrFormat, ropeFreqs},
	} {
		m := newGGUFModel()
		test.spoil(m)
		err := cheaply(t, name, 16<<20, func() error { _, err := m.open(); return err })
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %v that names %s", name, err, test.kind, test.says)
		}
	}
}

// A type that cannot be read is refused by name, and only when it is needed.
func TestGGUFUnreadableType(t *testing.T) {
	file := withTensors(ggufEntry("token_embd.weight", 10, 0, 256, 2))
	parsed, err := readGGUF(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if kind := parsed.tensors[0].kind; kind.name != "Q2_K" || kind.dtype != model.Invalid {
		t.Errorf("%+v", kind)
	}
}

// A header of more experts than the file has tensors is refused before a list of theirs is made.
func TestGGUFOfManyExperts(t *testing.T) {
	m := newGGUFModel()
	m.names, m.shapes = m.names[:8], m.shapes[:8] // all but those of an MLP
	m.keys = append(m.keys, ggufU32("llama.expert_count", 4096), ggufU32("llama.expert_used_count", 2))
	_, err := m.open()
	const says = "model.layers.0.block_sparse_moe.experts.0.w1.weight; the configuration is of a model of 12289 tensors or more"
	if !errors.Is(err, ErrFormat) || !errors.Is(err, model.ErrMissing) || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v", err)
	}
}
