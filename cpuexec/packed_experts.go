package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
)

// routerJoint is the matrix that scores experts. It is in float32 whatever else is computed
// in: a score that is a little off takes another expert.
func (d *dims) routerJoint(m *model.Config) joint {
	return joint{in: d.hidden, width: padded(d.experts), modules: []module{{m.Router(), d.experts}}}
}

// mixture lays out the router and the experts of a layer.
func (p *packer) mixture(l *layer, number int, m *model.Config) {
	r := p.dims.routerJoint(m)
	l.perToken = m.MoE.PerToken
	l.router = p.matrix(kernels.F32, p.columns(&r, false, func(module string) model.Rows { return m.Weight(number, module) }), r.in, r.width, m.MoE.Experts)
	if m.MoE.RouterBias {
		l.router.bias = p.bias(p.columns(&r, true, func(module string) model.Rows { return m.Bias(number, module) }), r.width)
	}
	l.experts = make([]expert, m.MoE.Experts)
	joints, formats := p.dims.expertJoints(), p.formats.experts[number]
	for e := range l.experts {
		for i, into := range []*matrix{&l.experts[e].gateUp, &l.experts[e].down} {
			j := &joints[i]
			*into = p.matrix(formats[i], p.columns(j, false, func(module string) model.Rows { return m.ExpertWeight(number, e, module) }), j.in, j.width, outputs(j.modules))
			if expertHasBias(m, i) {
				into.bias = p.bias(p.columns(j, true, func(module string) model.Rows { return m.ExpertBias(number, e, module) }), j.width)
			}
		}
	}
}

// mixtureBytes is what that takes.
func (d *dims) mixtureBytes(m *model.Config, formats [2]kernels.Format) int64 {
	r := d.routerJoint(m)
	n := matrixBytes(kernels.F32, r.in, r.width)
	one := int64(0)
	for i, j := range d.expertJoints() {
		one += matrixBytes(formats[i], j.in, j.width)
		if expertHasBias(m, i) {
			one += lines(j.width)
		}
	}
	if m.MoE.RouterBias {
		n += lines(r.width)
	}
	return n + int64(d.experts)*one
}
