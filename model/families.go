package model

import "fmt"

// family is a row of the table of families: what its config.json may leave out,
// and the tensors of its checkpoints.
type family struct {
	name         string // model_type of config.json, general.architecture of GGUF
	architecture string // entry of "architectures"
	maxPosition  int    // defaults of the reference implementation
	normEps      float64
	bos          []int32
	eos          []int32
	outer        []param // tensors that exist once
	layer        []param // tensors of each layer, after "model.layers.<n>."
}

// param is one tensor of a family: its name and shape, and when it exists.
type param struct {
	name  string
	shape func(*Config) []int
	when  func(*Config) bool // nil: always
}

var families = []family{{
	name:         "llama",
	architecture: "LlamaForCausalLM",
	maxPosition:  2048,
	normEps:      1e-6,
	bos:          []int32{1},
	eos:          []int32{2},
	outer: []param{
		{"model.embed_tokens.weight", vocabByHidden, nil},
		{"model.norm.weight", hidden, nil},
		{"lm_head.weight", vocabByHidden, untied},
	},
	layer: []param{
		{"input_layernorm.weight", hidden, nil},
		{"self_attn.q_proj.weight", func(c *Config) []int { return []int{c.Heads * c.HeadDim, c.Hidden} }, nil},
		{"self_attn.k_proj.weight", kvByHidden, nil},
		{"self_attn.v_proj.weight", kvByHidden, nil},
		{"self_attn.o_proj.weight", func(c *Config) []int { return []int{c.Hidden, c.Heads * c.HeadDim} }, nil},
		{"self_attn.q_proj.bias", func(c *Config) []int { return []int{c.Heads * c.HeadDim} }, attnBias},
		{"self_attn.k_proj.bias", kv, attnBias},
		{"self_attn.v_proj.bias", kv, attnBias},
		{"self_attn.o_proj.bias", hidden, attnBias},
		{"self_attn.sinks", func(c *Config) []int { return []int{c.Heads} }, func(c *Config) bool { return c.Sinks }},
		{"post_attention_layernorm.weight", hidden, nil},
		{"mlp.gate_proj.weight", intermediateByHidden, nil},
		{"mlp.up_proj.weight", intermediateByHidden, nil},
		{"mlp.down_proj.weight", func(c *Config) []int { return []int{c.Hidden, c.Intermediate} }, nil},
		{"mlp.gate_proj.bias", intermediate, mlpBias},
		{"mlp.up_proj.bias", intermediate, mlpBias},
		{"mlp.down_proj.bias", hidden, mlpBias},
	},
}}

func hidden(c *Config) []int               { return []int{c.Hidden} }
func vocabByHidden(c *Config) []int        { return []int{c.Vocab, c.Hidden} }
func kv(c *Config) []int                   { return []int{c.KVHeads * c.HeadDim} }
func kvByHidden(c *Config) []int           { return []int{c.KVHeads * c.HeadDim, c.Hidden} }
func intermediate(c *Config) []int         { return []int{c.Intermediate} }
func intermediateByHidden(c *Config) []int { return []int{c.Intermediate, c.Hidden} }

func untied(c *Config) bool   { return !c.TiedHead }
func attnBias(c *Config) bool { return c.AttnBias }
func mlpBias(c *Config) bool  { return c.MLPBias }

// row is the family's row, nil when it is not known.
func (c *Config) row() *family {
	for i := range families {
		if families[i].name == c.Family {
			return &families[i]
		}
	}
	return nil
}

// familyOf finds the row for a config.json. Of the two names one may be missing.
func familyOf(architectures []string, modelType string) (*family, error) {
	if len(architectures) == 0 && modelType == "" {
		return nil, fmt.Errorf("%w: neither architectures nor model_type is given", ErrConfig)
	}
	for i := range families {
		f := &families[i]
		if (len(architectures) == 0 || architectures[0] == f.architecture) && (modelType == "" || modelType == f.name) {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%w: architecture %.80q with model_type %.80q is not known", ErrUnsupported, architectures[:min(1, len(architectures))], modelType)
}
