package gpuexec

import (
	"slices"

	"github.com/cbactor/cbactor/cuda"
)

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
	var weights, biases [][]source // by expert
	for e := range l.m.MoE.Experts {
		var w, b []source
		for _, one := range modules {
			w = append(w, source{l.m.ExpertWeight(layer, e, one.name), one.out})
			if l.m.MoE.RouterBias {
				b = append(b, source{l.m.ExpertBias(layer, e, one.name), one.out})
			}
		}
		weights, biases = append(weights, w), append(biases, b)
	}
	p := matrix{n: rowsOf(weights[0]), k: padded(in)}
	p.Format = l.formats.of(slices.Concat(weights...)...)
	size := p.Format.Bytes(p.n, p.k)
	p.At = l.bytes(int64(len(weights)) * size)
	for e := range weights {
		l.fills = append(l.fills, fill{at: p.At + cuda.Pointer(int64(e)*size), in: in, width: p.k, format: p.Format, from: weights[e]})
	}
	if l.m.MoE.RouterBias {
		p.bias = l.f32(len(biases) * p.n)
		for e := range biases {
			l.fills = append(l.fills, fill{at: p.bias + cuda.Pointer(4*e*p.n), float: true, from: biases[e]})
		}
	}
	return p
}
