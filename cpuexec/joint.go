package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
)

// The matrices of a layer, each one or several modules of the model side by side. A layer
// with a mixture of experts has the last two for each of them.
const (
	jointQKV = iota
	jointOut
	jointGateUp
	jointDown
	joints

	noJoint = -1 // an expert's
)

// joint says what a matrix is made of, or several behind one another (piece).
type joint struct {
	in, width int // rows of a panel, columns of all panels
	modules   []module
	alternate bool // panels of the modules in turn; else the columns of one behind those of the other
}

// module is a linear layer of the model.
type module struct {
	name string // behind the layer's prefix
	out  int
}

// ownJoints is how many of the joints a layer has once.
func ownJoints(m *model.Config, layer int) int {
	if m.HasExperts(layer) {
		return jointGateUp
	}
	return joints
}

// expertJoints are the matrices of an expert: jointGateUp and jointDown.
func (d *dims) expertJoints() [2]joint {
	return [2]joint{
		{in: d.hidden, width: 2 * d.expertWidth, modules: []module{{"gate_proj", d.expert}, {"up_proj", d.expert}}, alternate: true},
		{in: d.expert, width: d.hiddenWidth, modules: []module{{"down_proj", d.hidden}}},
	}
}

// joints are the matrices of a layer without experts.
func (d *dims) joints() [joints]joint {
	kv := d.kvHeads * d.headDim
	return [joints]joint{
		jointQKV:    {in: d.hidden, width: d.qkvWidth, modules: []module{{"self_attn.q_proj", d.attnDim()}, {"self_attn.k_proj", kv}, {"self_attn.v_proj", kv}}},
		jointOut:    {in: d.attnDim(), width: d.hiddenWidth, modules: []module{{"self_attn.o_proj", d.hidden}}},
		jointGateUp: {in: d.hidden, width: 2 * d.interWidth, modules: []module{{"mlp.gate_proj", d.inter}, {"mlp.up_proj", d.inter}}, alternate: true},
		jointDown:   {in: d.inter, width: d.hiddenWidth, modules: []module{{"mlp.down_proj", d.hidden}}},
	}
}

// parts are those of an adapter that belong to the modules in a layer; nil: none.
func (j *joint) parts(m *model.Config, layer int, by model.AdapterModules) []*model.AdapterPart {
	list := make([]*model.AdapterPart, len(j.modules))
	for i := range list {
		list[i] = by.Of(m, layer, j.modules[i].name, j.in, j.modules[i].out)
	}
	return list
}

// outputs is how many modules have together.
func outputs(modules []module) (n int) {
	for i := range modules {
		n += modules[i].out
	}
	return n
}

// column says which module's which output is column c; ok is false for padding.
func (j *joint) column(c int) (module, row int, ok bool) {
	if j.alternate {
		module = c / kernels.Panel % len(j.modules)
		row = c/(len(j.modules)*kernels.Panel)*kernels.Panel + c%kernels.Panel
		return module, row, row < j.modules[module].out
	}
	for m := range j.modules {
		if c < j.modules[m].out {
			return m, c, true
		}
		c -= j.modules[m].out
	}
	return 0, 0, false
}

// reach is which modules, from first to before end, have columns in panel p.
func (j *joint) reach(p int) (first, end int) {
	first = len(j.modules)
	for c := p * kernels.Panel; c < (p+1)*kernels.Panel; c++ {
		if m, _, ok := j.column(c); ok {
			first, end = min(first, m), max(end, m+1)
		}
	}
	return min(first, end), end
}
