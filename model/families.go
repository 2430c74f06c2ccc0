package model

import (
	"fmt"
	"slices"
)

// family is a row of the table of families: what its config.json may leave out, which of its
// fields say something of the options, and how tensors of its checkpoints are called.
type family struct {
	name         string // model_type of config.json
	architecture string // entry of "architectures"
	nested       names  // of a configuration that has this one as its text_config; "": none

	// Defaults of the reference implementation.
	maxPosition, kvHeads, headDim int // kvHeads 0: as many as heads; headDim 0: the hidden size over the heads
	normEps, theta                float64
	tied                          bool
	bos, eos                      []int32
	sizes                         map[string]int // of sizes that released files leave out

	always   func(*Config) // the options that all of its models have; nil: none
	settings []setting
	rope     func(f *fields, c *Config, theta float64) // nil: one for all layers

	fused   bool // q, k and v are one tensor, and so are gate and up
	experts expertNames
}

// names are those of a family in config.json.
type names struct{ modelType, architecture string }

var families = []family{{
	name: "llama", architecture: "LlamaForCausalLM",
	maxPosition: 2048, normEps: 1e-6, theta: 1e4, bos: ids(1), eos: ids(2),
	settings: []setting{attentionBias(false), mlpBias},
}, {
	name: "mistral", architecture: "MistralForCausalLM",
	maxPosition: 1 << 17, kvHeads: 8, normEps: 1e-6, theta: 1e4, bos: ids(1), eos: ids(2),
	settings: []setting{windowOfAll(4096)},
}, {
	name: "mixtral", architecture: "MixtralForCausalLM",
	maxPosition: 1 << 17, kvHeads: 8, normEps: 1e-5, theta: 1e6, bos: ids(1), eos: ids(2),
	settings: []setting{windowOfAll(0), experts(8, 2), normalizeExperts},
	experts:  expertNames{router: "block_sparse_moe.gate", each: "block_sparse_moe.experts.", gate: "w1", up: "w3", down: "w2"},
}, {
	name: "qwen2", architecture: "Qwen2ForCausalLM",
	maxPosition: 32768, kvHeads: 32, normEps: 1e-6, theta: 1e4,
	always:   func(c *Config) { c.AttnBias, c.OutNoBias = true, true },
	settings: []setting{windowOfLater(28)},
}, {
	name: "qwen3", architecture: "Qwen3ForCausalLM",
	maxPosition: 32768, kvHeads: 32, headDim: 128, normEps: 1e-6, theta: 1e4,
	always:   func(c *Config) { c.QKNorm = QKNormHead },
	settings: []setting{attentionBias(false), windowOfLater(28)},
}, {
	name: "qwen3_moe", architecture: "Qwen3MoeForCausalLM",
	maxPosition: 32768, kvHeads: 4, normEps: 1e-6, theta: 1e4,
	always:   func(c *Config) { c.QKNorm = QKNormHead },
	settings: []setting{attentionBias(false), windowIfUsed, experts(128, 8), expertSize, someDense, normalize},
	experts:  expertNames{router: "mlp.gate", each: "mlp.experts.", gate: "gate_proj", up: "up_proj", down: "down_proj"},
}, {
	name: "gemma2", architecture: "Gemma2ForCausalLM",
	maxPosition: 8192, kvHeads: 4, headDim: 256, normEps: 1e-6, theta: 1e4, tied: true, bos: ids(2), eos: ids(1),
	always:   func(c *Config) { c.Norms, c.NormOffset = NormAround, 1 },
	settings: []setting{attentionBias(false), geluTanh, rootOfHidden, queryScalar, softcaps, windowByType(4096, everyOther), causal},
}, {
	name: "gemma3_text", architecture: "Gemma3ForCausalLM", nested: names{"gemma3", "Gemma3ForConditionalGeneration"},
	maxPosition: 1 << 17, kvHeads: 4, headDim: 256, normEps: 1e-6, theta: 1e6, tied: true, bos: ids(2), eos: ids(1),
	sizes:    map[string]int{"vocab_size": 262208, "num_attention_heads": 8},
	always:   func(c *Config) { c.Norms, c.NormOffset, c.QKNorm = NormAround, 1, QKNormHead },
	settings: []setting{attentionBias(false), geluTanh, rootOfHidden, queryScalar, finalSoftcap, windowByType(4096, allButEvery), causal},
	rope:     ropeByType,
}, {
	name: "phi3", architecture: "Phi3ForCausalLM",
	maxPosition: 4096, normEps: 1e-5, theta: 1e4, bos: ids(1), eos: ids(32000),
	settings: []setting{windowOfAll(0), partialRotary},
	rope:     ropeOfPart,
	fused:    true,
}, {
	name: "olmo2", architecture: "Olmo2ForCausalLM",
	maxPosition: 2048, normEps: 1e-5, theta: 1e4, eos: ids(50279),
	always:   func(c *Config) { c.Norms, c.QKNorm = NormAfter, QKNormWhole },
	settings: []setting{attentionBias(false)},
}, {
	name: "smollm3", architecture: "SmolLM3ForCausalLM",
	maxPosition: 32768, kvHeads: 4, normEps: 1e-6, theta: 2e6, tied: true, bos: ids(128000), eos: ids(128001),
	settings: []setting{attentionBias(false), mlpBias, noRope, windowOfNoRope},
}, {
	name: "granite", architecture: "GraniteForCausalLM",
	maxPosition: 2048, normEps: 1e-6, theta: 1e4, bos: ids(1), eos: ids(2),
	settings: []setting{attentionBias(false), mlpBias, multipliers},
}, {
	name: "gpt_oss", architecture: "GptOssForCausalLM",
	maxPosition: 1 << 17, kvHeads: 8, headDim: 64, normEps: 1e-5, theta: 150000,
	always:   func(c *Config) { c.Sinks, c.Activation = true, ClampedSiLU },
	settings: []setting{attentionBias(true), windowByType(128, everyOther), experts(128, 4), allExperts, clamped},
	rope:     ropeOrYarn,
	experts:  expertNames{router: "mlp.router", all: "mlp.experts."},
}}

func ids(id int32) []int32 { return []int32{id} }

// row is the family's row, nil when it is not known.
func (c *Config) row() *family {
	i := slices.IndexFunc(families, func(f family) bool { return f.name == c.Family })
	if i < 0 {
		return nil
	}
	return &families[i]
}

// familyOf finds the row for a config.json. Of the two names one may be missing. nested
// tells that they name a configuration whose text_config is the family's.
func familyOf(architectures []string, modelType string) (row *family, nested bool, err error) {
	if len(architectures) == 0 && modelType == "" {
		return nil, false, fmt.Errorf("%w: neither architectures nor model_type is given", ErrConfig)
	}
	is := func(n names) bool {
		return (len(architectures) == 0 || architectures[0] == n.architecture) && (modelType == "" || modelType == n.modelType)
	}
	for i := range families {
		f := &families[i]
		switch {
		case is(names{f.name, f.architecture}):
			return f, false, nil
		case f.nested != names{} && is(f.nested):
			return f, true, nil
		}
	}
	return nil, false, fmt.Errorf("%w: architecture %.80q with model_type %.80q is not known", ErrUnsupported, architectures[:min(1, len(architectures))], modelType)
}
