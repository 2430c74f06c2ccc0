package cpuexec

import (
	"slices"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
)

// formats are those of the panels of all matrices.
type formats struct {
	layers  [][joints][]piece
	experts [][2]kernels.Format // of all experts of a layer
	head    kernels.Format
}

// formats follow from Compute, Quantize and what is stored.
func (c *Config) formats(d *dims) formats {
	stored := make(map[string]model.DType, len(c.Stored))
	for _, t := range c.Stored {
		stored[t.Name] = t.DType
	}
	all := formats{layers: make([][joints][]piece, d.layers), experts: make([][2]kernels.Format, d.layers), head: c.format(stored[headName(c.Model)])}
	joints := d.joints()
	for l := range all.layers {
		for i := range ownJoints(c.Model, l) {
			types := make([]model.DType, len(joints[i].modules))
			for m := range types {
				types[m] = stored[c.Model.Weight(l, joints[i].modules[m].name).Tensor]
			}
			all.layers[l][i] = c.pieces(&joints[i], types)
		}
		if c.Model.HasExperts(l) {
			all.experts[l] = c.expertFormats(l, d, stored)
		}
	}
	return all
}

// expertFormats are those of a layer's experts, which are alike.
func (c *Config) expertFormats(layer int, d *dims, stored map[string]model.DType) (f [2]kernels.Format) {
	for i, j := range d.expertJoints() {
		var types []model.DType
		for e := range d.experts {
			for _, m := range j.modules {
				types = append(types, stored[c.Model.ExpertWeight(layer, e, m.name).Tensor])
			}
		}
		f[i] = c.format(types...)
	}
	return f
}

// format is that of one matrix whose modules are stored so. Blocks of integers stay what they
// are where all modules have them in one type. Floats become what Quantize says; else
// modules of several types get 8 bits, but for Q4_1 beside floats that become the same.
func (c *Config) format(stored ...model.DType) kernels.Format {
	switch {
	case c.Compute == ComputeF32:
		return kernels.F32
	case c.Compute == ComputeBF16:
		if slices.ContainsFunc(stored, func(t model.DType) bool { return t != model.MXFP4 }) {
			return kernels.BF16
		}
		return kernels.MXFP4
	case c.Quantize == QuantizeColumn:
		return kernels.C8
	}
	format := c.formatOf(stored[0])
	for _, t := range stored[1:] {
		if c.formatOf(t) != format {
			return kernels.Q8
		}
	}
	return format
}

// formatOf is that of a module for itself where products are of integers.
func (c *Config) formatOf(stored model.DType) kernels.Format {
	if f, ok := blockFormat(stored); ok && f.Packs() {
		return f
	}
	if c.Quantize == QuantizeQ4 {
		return kernels.Q4
	}
	return kernels.Q8
}

// headName is the tensor that makes logits.
func headName(m *model.Config) string {
	if m.TiedHead {
		return "model.embed_tokens.weight"
	}
	return "lm_head.weight"
}

// hasBias tells whether a matrix of a layer has biases.
func hasBias(m *model.Config, joint int) bool {
	if sums(joint) && m.Part() != nil && m.Part().Rank > 0 {
		return false // it is the first rank's
	}
	switch joint {
	case jointQKV:
		return m.AttnBias
	case jointOut:
		return m.AttnBias && !m.OutNoBias
	}
	return m.MLPBias
}

// expertHasBias tells whether a matrix of an expert has biases: gate and up, or down.
func expertHasBias(m *model.Config, number int) bool {
	return m.MoE.RouterBias && (number == 0 || m.Part() == nil || m.Part().Rank == 0)
}

// sums says that what a joint answers is added up over all ranks.
func sums(joint int) bool { return joint == jointOut || joint == jointDown }
