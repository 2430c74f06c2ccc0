package checkpoint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/model"
)

// ggufArch is the architecture that is read.
const ggufArch = "llama"

// llamaKeys are the settings of the architecture that are understood or change
// nothing. Any other is refused: it might change what the model computes.
var llamaKeys = []string{
	"vocab_size", "context_length", "embedding_length", "block_count", "feed_forward_length", "tensor_data_layout",
	"attention.head_count", "attention.head_count_kv", "attention.key_length", "attention.value_length",
	"attention.layer_norm_rms_epsilon",
	"rope.dimension_count", "rope.freq_base", "rope.scaling.type", "rope.scaling.factor", "rope.scale_linear",
	"rope.scaling.original_context_length", "rope.scaling.finetuned", "rope.scaling.attn_factor",
	"rope.scaling.yarn_beta_fast", "rope.scaling.yarn_beta_slow",
}

// readGGUFConfig makes the configuration, the vocabulary and the chat template
// from the metadata.
func (c *Checkpoint) readGGUFConfig(file *ggufFile) error {
	f := &ggufFields{meta: file.meta}
	if arch := f.text("general.architecture", ""); arch != ggufArch && f.err == nil {
		return fmt.Errorf("%w: GGUF architecture %.80q is not known", model.ErrUnsupported, arch)
	}
	if err := refuseUnknownKeys(file.meta); err != nil {
		return err
	}
	c.Vocab = readVocab(f)
	c.ChatTemplate = f.text("tokenizer.chat_template", "")
	c.Config = c.llamaConfig(f)
	if f.err != nil {
		return f.err
	}
	if c.Vocab != nil {
		if err := c.Vocab.check(c.Config.Vocab); err != nil {
			return err
		}
		c.AddBOS = &c.Vocab.AddBOS
		c.BOSToken, c.EOSToken = c.Vocab.text(c.Vocab.BOS), c.Vocab.text(c.Vocab.EOS)
	}
	for _, key := range []string{"eos", "eot", "eom"} {
		c.addEOS(f.id("tokenizer.ggml." + key + "_token_id"))
	}
	return f.err
}

// refuseUnknownKeys refuses settings of the architecture that are not understood.
func refuseUnknownKeys(meta ggufMeta) error {
	var unknown []string
	for key := range meta {
		if name, ok := strings.CutPrefix(key, ggufArch+"."); ok && !slices.Contains(llamaKeys, name) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("%w: GGUF setting %.80s is not known", model.ErrUnsupported, unknown[0])
}

// llamaConfig reads the settings. Sizes that are missing are 0, which Validate refuses.
func (c *Checkpoint) llamaConfig(f *ggufFields) *model.Config {
	key := func(name string) string { return ggufArch + "." + name }
	cfg := &model.Config{
		Family:       "llama",
		Hidden:       f.number(key("embedding_length"), 0),
		Intermediate: f.number(key("feed_forward_length"), 0),
		Layers:       f.number(key("block_count"), 0),
		Heads:        f.number(key("attention.head_count"), 0),
		MaxPosition:  f.number(key("context_length"), 0),
		NormEps:      f.float(key("attention.layer_norm_rms_epsilon"), 0),
		TiedHead:     !c.has("lm_head.weight"),
		AttnBias:     c.has(model.LayerPrefix(0) + "self_attn.q_proj.bias"),
		MLPBias:      c.has(model.LayerPrefix(0) + "mlp.gate_proj.bias"),
		BOS:          f.id("tokenizer.ggml.bos_token_id"),
	}
	if embedding, ok := c.tensors["model.embed_tokens.weight"]; ok {
		cfg.Vocab = embedding.Shape[0]
	}
	cfg.KVHeads = f.number(key("attention.head_count_kv"), cfg.Heads)
	cfg.HeadDim = f.number(key("attention.key_length"), cfg.Hidden/max(cfg.Heads, 1))
	for _, name := range []string{"rope.dimension_count", "attention.value_length"} {
		if n := f.number(key(name), cfg.HeadDim); n != cfg.HeadDim {
			f.fail(key(name), n, fmt.Sprintf("the head dimension %d", cfg.HeadDim))
		}
	}
	if n := f.number(key("vocab_size"), cfg.Vocab); n != cfg.Vocab {
		f.fail(key("vocab_size"), n, fmt.Sprintf("the %d rows of the embedding", cfg.Vocab))
	}
	if cfg.Layers > len(c.tensors) { // before memory is taken for them
		f.fail(key("block_count"), cfg.Layers, "at most the number of tensors")
	} else {
		cfg.Attn = make([]model.Attention, cfg.Layers)
	}
	cfg.Rope = ggufRope(f, cfg.MaxPosition)
	return cfg
}

func (c *Checkpoint) has(name string) bool {
	_, ok := c.tensors[name]
	return ok
}

// ggufRope reads the rotary embedding. llama.cpp computes yarn's ramp with rounded
// borders, and its attention factor multiplies the computed one.
func ggufRope(f *ggufFields, context int) model.Rope {
	key := func(name string) string { return ggufArch + ".rope." + name }
	rope := model.Rope{Kind: model.RopeDefault, Theta: f.float(key("freq_base"), 10000)}
	factor := f.float(key("scaling.factor"), f.float(key("scale_linear"), 1))
	kind := f.text(key("scaling.type"), "linear")
	attention := f.float(key("scaling.attn_factor"), 1)
	switch {
	case kind == "none" || kind == "linear" && factor == 1:
	case kind == "linear":
		rope.Kind, rope.Factor = model.RopeLinear, factor
	case kind == "yarn":
		rope.Kind, rope.Factor, rope.Truncate = model.RopeYarn, factor, true
		rope.OriginalMaxPosition = f.number(key("scaling.original_context_length"), context)
		rope.BetaFast = f.float(key("scaling.yarn_beta_fast"), 32)
		rope.BetaSlow = f.float(key("scaling.yarn_beta_slow"), 1)
	default:
		f.refuse(key("scaling.type"), kind)
	}
	if attention != 1 {
		f.refuse(key("scaling.attn_factor"), attention)
	}
	return rope
}
