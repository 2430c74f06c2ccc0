package checkpoint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/model"
)

// readGGUFConfig makes the configuration, the vocabulary, the chat template and what is
// recommended of sampling from the metadata, and tells the architecture.
func (c *Checkpoint) readGGUFConfig(file *ggufFile) (*ggufArch, error) {
	f := &ggufFields{meta: file.meta, tensors: make(map[string]*ggufTensor, len(file.tensors))}
	for i := range file.tensors {
		f.tensors[file.tensors[i].name] = &file.tensors[i]
	}
	name := f.text("general.architecture", "")
	arch, ok := findArch(name)
	if !ok && f.err == nil {
		return nil, fmt.Errorf("%w: GGUF architecture %.80q is not known", model.ErrUnsupported, name)
	}
	if f.err != nil {
		return nil, f.err
	}
	if err := arch.refuseUnknownKeys(file.meta); err != nil {
		return nil, err
	}
	c.Vocab = readVocab(f)
	c.ChatTemplate = f.text("tokenizer.chat_template", "")
	c.Generation = f.readSampling()
	var err error
	if c.Config, err = arch.config(f); err != nil {
		return nil, err
	}
	if c.Vocab != nil {
		if err := c.Vocab.check(c.Config.Vocab); err != nil {
			return nil, err
		}
		c.AddBOS = &c.Vocab.AddBOS
		c.BOSToken, c.EOSToken = c.Vocab.text(c.Vocab.BOS), c.Vocab.text(c.Vocab.EOS)
	}
	for _, key := range []string{"eos", "eot", "eom"} {
		c.addEOS(f.id("tokenizer.ggml." + key + "_token_id"))
	}
	return arch, f.err
}

// refuseUnknownKeys refuses settings of the architecture that are not understood.
func (a *ggufArch) refuseUnknownKeys(meta ggufMeta) error {
	var unknown []string
	for key := range meta {
		name, ok := strings.CutPrefix(key, a.name+".")
		if ok && !slices.Contains(commonKeys, name) && !slices.Contains(a.keys, name) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("%w: GGUF setting %.80q is not known", model.ErrUnsupported, unknown[0])
}

// config says the settings as config.json would, so that a family has one reading. Sizes
// that are missing are 0, which is refused there.
func (a *ggufArch) config(f *ggufFields) (*model.Config, error) {
	key := func(name string) string { return a.name + "." + name }
	heads := f.number(key("attention.head_count"), 0)
	hidden := f.number(key("embedding_length"), 0)
	headDim := f.number(key("attention.key_length"), hidden/max(heads, 1))
	context := f.number(key("context_length"), 0)
	fields := map[string]any{
		"model_type":              a.family(f),
		"hidden_size":             hidden,
		"intermediate_size":       f.number(key("feed_forward_length"), 0),
		"num_hidden_layers":       f.number(key("block_count"), 0),
		"num_attention_heads":     heads,
		"num_key_value_heads":     f.number(key("attention.head_count_kv"), heads),
		"head_dim":                headDim,
		"max_position_embeddings": context,
		"rms_norm_eps":            f.float(key("attention.layer_norm_rms_epsilon"), 0),
		"tie_word_embeddings":     f.tensors["output.weight"] == nil,
		"bos_token_id":            f.id("tokenizer.ggml.bos_token_id"),
		"eos_token_id":            nil, // several keys name them
		"rope_theta":              f.float(key("rope.freq_base"), 10000),
		"rope_scaling":            a.ropeScaling(f, context),
	}
	a.checkSizes(f, fields, headDim)
	if a.settings != nil {
		a.settings(f, fields)
	}
	if f.err != nil {
		return nil, f.err
	}
	js, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("%w: GGUF: %w", ErrFormat, err)
	}
	cfg, err := model.ParseConfig(js)
	if err != nil {
		return nil, fmt.Errorf("GGUF: %w", err)
	}
	return cfg, nil
}

// checkSizes compares what a file says twice, and that layers are no more than tensors
// before memory is taken for them.
func (a *ggufArch) checkSizes(f *ggufFields, fields map[string]any, headDim int) {
	key := func(name string) string { return a.name + "." + name }
	same := []string{"attention.value_length", "rope.dimension_count"}
	if a.fused { // a part of each head may be turned
		same = same[:1]
	}
	for _, name := range same {
		if n := f.number(key(name), headDim); n != headDim {
			f.fail(key(name), n, fmt.Sprintf("the head dimension %d", headDim))
		}
	}
	rows := 0
	if embedding := f.tensors["token_embd.weight"]; embedding != nil {
		rows = embedding.shape[0]
	}
	fields["vocab_size"] = rows
	if n := f.number(key("vocab_size"), rows); n != rows {
		f.fail(key("vocab_size"), n, fmt.Sprintf("the %d rows of the embedding", rows))
	}
	if n := f.number(key("block_count"), 0); n > len(f.tensors) {
		f.fail(key("block_count"), n, "at most the number of tensors")
	}
}

// ropeScaling says how the rotary embedding is stretched, nil for not at all. llama.cpp
// computes yarn's ramp with rounded borders, and its attention factor multiplies the
// computed one.
func (a *ggufArch) ropeScaling(f *ggufFields, context int) any {
	key := func(name string) string { return a.name + ".rope." + name }
	factor := f.float(key("scaling.factor"), f.float(key("scale_linear"), 1))
	if attention := f.float(key("scaling.attn_factor"), 1); attention != 1 {
		f.refuse(key("scaling.attn_factor"), attention)
	}
	switch kind := f.text(key("scaling.type"), "linear"); {
	case kind == "none" || kind == "linear" && factor == 1:
	case kind == "linear":
		return map[string]any{"rope_type": kind, "factor": factor}
	case kind == "yarn":
		return map[string]any{
			"rope_type": kind, "factor": factor, "truncate": true,
			"original_max_position_embeddings": f.number(key("scaling.original_context_length"), context),
			"beta_fast":                        f.float(key("scaling.yarn_beta_fast"), 32),
			"beta_slow":                        f.float(key("scaling.yarn_beta_slow"), 1),
		}
	default:
		f.refuse(key("scaling.type"), kind)
	}
	return nil
}
