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
// tied, then layer by layer. DType is Invalid: the checkpoint chooses it. The list
// is empty for a family that is not known.
func (c *Config) Tensors() []Tensor {
	row := c.row()
	if row == nil {
		return nil
	}
	out := row.appendTensors(nil, "", row.outer, c)
	for l := range c.Layers {
		out = row.appendTensors(out, LayerPrefix(l), row.layer, c)
	}
	return out
}

func (f *family) appendTensors(out []Tensor, prefix string, params []param, c *Config) []Tensor {
	for _, p := range params {
		if p.when == nil || p.when(c) {
			out = append(out, Tensor{Name: prefix + p.name, Shape: p.shape(c)})
		}
	}
	return out
}

// Redundant tells whether a tensor that Tensors does not list may be left unread:
// a tied head that was written out, or the rotary embedding's frequencies, which
// old versions of the reference implementation stored. Any other extra tensor
// means that the model is not what its configuration says.
func (c *Config) Redundant(name string) bool {
	return c.TiedHead && name == "lm_head.weight" || strings.HasSuffix(name, ".rotary_emb.inv_freq")
}
