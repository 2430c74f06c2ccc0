package gpuexec

import "github.com/cbactor/cbactor/cuda"

// experts lays out the router of a layer, which is in f32 so that no score that is a little off
// takes another expert, and its experts: each matrix one behind the other.
func (l *laying) experts(n int, p *layer) {
	m, e := l.m, l.m.MoE
	router := fill{in: m.Hidden, width: m.Hidden, float: true, from: []source{{m.Weight(n, m.Router()), e.Experts}}}
	p.router = l.f32(e.Experts * m.Hidden)
	router.at = p.router
	l.fills = append(l.fills, router)
	if e.RouterBias {
		p.routerBias = l.vector(0, source{m.Bias(n, m.Router()), e.Experts})
	}
	p.gateUp = l.mixed(n, m.Hidden, module{"gate_proj", e.Intermediate}, module{"up_proj", e.Intermediate})
	p.down = l.mixed(n, e.Intermediate, module{"down_proj", m.Hidden})
}

// mixed is a matrix of every expert of a layer: [expert][n][k], with biases [expert][n].
func (l *laying) mixed(layer, in int, modules ...module) matrix {
	p := matrix{k: padded(in)}
	for e := range l.m.MoE.Experts {
		var weights, biases []source
		for _, one := range modules {
			weights = append(weights, source{l.m.ExpertWeight(layer, e, one.name), one.out})
			if l.m.MoE.RouterBias {
				biases = append(biases, source{l.m.ExpertBias(layer, e, one.name), one.out})
			}
		}
		if e == 0 {
			p.n = rowsOf(weights)
			p.at = l.bf16(l.m.MoE.Experts * p.n * p.k)
			if l.m.MoE.RouterBias {
				p.bias = l.f32(l.m.MoE.Experts * p.n)
			}
		}
		l.fills = append(l.fills, fill{at: p.at + cuda.Pointer(2*e*p.n*p.k), in: in, width: p.k, from: weights})
		if p.bias != 0 {
			l.fills = append(l.fills, fill{at: p.bias + cuda.Pointer(4*e*p.n), float: true, from: biases})
		}
	}
	return p
}
