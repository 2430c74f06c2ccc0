package model

import (
	"strconv"
	"strings"
)

// LayerPrefix is what the names of a layer's tensors begin with.
func LayerPrefix(layer int) string {
	return "model.layers." + strconv.Itoa(layer) + "."
}

// Tensors lists the tensors that a checkpoint of this model must have, with
// their Hugging Face names and shapes: embedding, final norm, output head unless
// tied, then layer by layer. DType is Invalid: the checkpoint chooses it, and shapes are
// those of floats (Tensor.As). The list is empty for a family that is not known.
func (c *Config) Tensors() []Tensor {
	if c.part != nil {
		return c.part.Whole.Tensors()
	}
	row := c.row()
	if row == nil {
		return nil
	}
	l := list{{Name: "model.embed_tokens.weight", Shape: []int{c.Vocab, c.Hidden}}, {Name: "model.norm.weight", Shape: []int{c.Hidden}}}
	if !c.TiedHead {
		l.add("lm_head.weight", c.Vocab, c.Hidden)
	}
	for n := range c.Layers {
		prefix := LayerPrefix(n)
		for _, name := range c.LayerNorms(n) {
			if name != "" {
				l.add(name, c.Hidden)
			}
		}
		l.attention(prefix, c, row)
		switch {
		case c.HasExperts(n):
			l.experts(prefix, c, &row.experts)
		case row.fused:
			l.linear(prefix+"mlp.gate_up_proj", c.MLPBias, 2*c.Intermediate, c.Hidden)
			l.linear(prefix+"mlp.down_proj", c.MLPBias, c.Hidden, c.Intermediate)
		default:
			l.linear(prefix+"mlp.gate_proj", c.MLPBias, c.Intermediate, c.Hidden)
			l.linear(prefix+"mlp.up_proj", c.MLPBias, c.Intermediate, c.Hidden)
			l.linear(prefix+"mlp.down_proj", c.MLPBias, c.Hidden, c.Intermediate)
		}
	}
	return l
}

// FewestTensors is how many Tensors lists at least, computed from the sizes alone.
func (c *Config) FewestTensors() int {
	each := 0
	if row := c.row(); c.MoE != nil && row != nil && row.experts.each != "" {
		for l := range c.Layers {
			if c.HasExperts(l) {
				each += 3 * c.MoE.Experts
			}
		}
	}
	return c.Layers + each
}

// list is tensors that are listed.
type list []Tensor

func (l *list) add(name string, shape ...int) { *l = append(*l, Tensor{Name: name, Shape: shape}) }

// linear adds a linear layer, and its bias if it has one.
func (l *list) linear(name string, bias bool, out, in int) {
	l.add(name+".weight", out, in)
	if bias {
		l.add(name+".bias", out)
	}
}

func (l *list) attention(prefix string, c *Config, row *family) {
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	if row.fused {
		l.linear(prefix+"self_attn.qkv_proj", c.AttnBias, q+2*kv, c.Hidden)
	} else {
		l.linear(prefix+"self_attn.q_proj", c.AttnBias, q, c.Hidden)
		l.linear(prefix+"self_attn.k_proj", c.AttnBias, kv, c.Hidden)
		l.linear(prefix+"self_attn.v_proj", c.AttnBias, kv, c.Hidden)
	}
	l.linear(prefix+"self_attn.o_proj", c.AttnBias && !c.OutNoBias, c.Hidden, q)
	switch c.QKNorm {
	case QKNormHead:
		q, kv = c.HeadDim, c.HeadDim
		fallthrough
	case QKNormWhole:
		l.add(prefix+"self_attn.q_norm.weight", q)
		l.add(prefix+"self_attn.k_norm.weight", kv)
	}
	if c.Sinks {
		l.add(prefix+"self_attn.sinks", c.Heads)
	}
}

func (l *list) experts(prefix string, c *Config, names *expertNames) {
	m := c.MoE
	l.linear(prefix+names.router, m.RouterBias, m.Experts, c.Hidden)
	if names.each != "" {
		for e := range m.Experts {
			expert := prefix + names.each + strconv.Itoa(e) + "."
			l.add(expert+names.gate+".weight", m.Intermediate, c.Hidden)
			l.add(expert+names.up+".weight", m.Intermediate, c.Hidden)
			l.add(expert+names.down+".weight", c.Hidden, m.Intermediate)
		}
		return
	}
	all := func(name string, out, in int) {
		l.add(prefix+names.all+name, m.Experts, in, out)
		l.add(prefix+names.all+name+"_bias", m.Experts, out)
	}
	all("gate_up_proj", 2*m.Intermediate, c.Hidden)
	all("down_proj", c.Hidden, m.Intermediate)
}

// Redundant tells whether a tensor that Tensors does not list may be left unread:
// a tied head that was written out, the rotary embedding's frequencies, which
// old versions of the reference implementation stored, or, of a model that sees, what
// turns images into embeddings. Any other extra tensor
// means that the model is not what its configuration says.
func (c *Config) Redundant(name string) bool {
	if c.TiedHead && name == "lm_head.weight" || strings.HasSuffix(name, ".rotary_emb.inv_freq") {
		return true
	}
	row := c.row()
	return row != nil && row.nested != names{} && seeing(name)
}

func seeing(name string) bool {
	name = strings.TrimPrefix(name, "model.")
	return strings.HasPrefix(name, "vision_tower.") || strings.HasPrefix(name, "multi_modal_projector.")
}

// TensorName is the name in Tensors of a tensor that a file calls stored: another one only
// where the model is the text part of one that sees, too.
func (c *Config) TensorName(stored string) string {
	if row := c.row(); row == nil || row.nested == (names{}) {
		return stored
	}
	if rest, ok := strings.CutPrefix(stored, "model.language_model."); ok {
		return "model." + rest
	}
	return strings.TrimPrefix(stored, "language_model.")
}
