package gpuexec

import "github.com/cbactor/cbactor/model"

// The products of a layer with weights of its own. A layer with a mixture of experts has the first two.
const (
	jointQKV = iota
	jointOut
	jointGateUp
	jointDown
	joints
)

// joint is modules of a layer that are one product: they have the same inputs.
type joint struct {
	in      int
	modules []module
}

// module is a linear layer of the model, with so many outputs.
type module struct {
	name string
	out  int
}

// jointsOf are those of a layer without experts.
func jointsOf(m *model.Config) [joints]joint {
	q, kv := m.Heads*m.HeadDim, m.KVHeads*m.HeadDim
	return [joints]joint{
		jointQKV:    {m.Hidden, []module{{"self_attn.q_proj", q}, {"self_attn.k_proj", kv}, {"self_attn.v_proj", kv}}},
		jointOut:    {q, []module{{"self_attn.o_proj", m.Hidden}}},
		jointGateUp: {m.Hidden, []module{{"mlp.gate_proj", m.Intermediate}, {"mlp.up_proj", m.Intermediate}}},
		jointDown:   {m.Intermediate, []module{{"mlp.down_proj", m.Hidden}}},
	}
}

// ownJoints is how many of them a layer has.
func ownJoints(m *model.Config, layer int) int {
	if m.HasExperts(layer) {
		return jointGateUp
	}
	return joints
}

// outputs is how many all modules have.
func (j *joint) outputs() (n int) {
	for _, one := range j.modules {
		n += one.out
	}
	return n
}
