package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
)

// Requantised are the types of the matrices of products, by the names of their tensors, that
// ComputeInt8 does not compute as the blocks of integers which they are stored as: those that
// are one matrix with others of another type, and all with QuantizeColumn.
func (c *Config) Requantised() map[string]model.DType {
	found := map[string]model.DType{}
	if c.Compute != ComputeInt8 {
		return found
	}
	stored := make(map[string]model.DType, len(c.Stored))
	for _, t := range c.Stored {
		stored[t.Name] = t.DType
	}
	d := dimsOf(c.Model)
	formats := c.formats(&d)
	note := func(name string, computed kernels.Format) {
		if own, blocks := blockFormat(stored[name]); blocks && own.Packs() && own != computed {
			found[name] = stored[name]
		}
	}
	own, expert := d.joints(), d.expertJoints()
	for l := range formats.layers {
		for i := range ownJoints(c.Model, l) {
			for _, s := range formats.layers[l][i] {
				for _, m := range own[i].modules[s.from:s.end] {
					note(c.Model.Weight(l, m.name).Tensor, s.format)
				}
			}
		}
		if !c.Model.HasExperts(l) {
			continue
		}
		for i := range expert {
			for e := range d.experts {
				for _, m := range expert[i].modules {
					note(c.Model.ExpertWeight(l, e, m.name).Tensor, formats.experts[l][i])
				}
			}
		}
	}
	note(headName(c.Model), formats.head)
	return found
}
