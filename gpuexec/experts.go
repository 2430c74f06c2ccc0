package gpuexec

import "github.com/cbactor/cbactor/cuda/kernels"

// experts computes what the experts of a layer answer, as one part of a product. Its tokens are sorted
// by expert on the device; an expert's matrices are multiplied with the rows of its tokens alone.
func (l *launching) experts(layer *layer) {
	d, w, t := &l.dims, &l.work, l.s.tokens
	kind := kernels.RouteAll
	switch {
	case d.MoE.ChosenOnly:
		kind = kernels.RouteChosen
	case d.MoE.Normalize:
		kind = kernels.RouteNormalised
	}
	rows, experts := t*d.perToken, d.MoE.Experts
	l.do(l.kernels.Route(l.compute, w.chosen, w.weight, w.x, layer.norms[2], layer.router, layer.routerBias, t, d.Hidden, experts, d.perToken, float32(d.NormEps), kind))
	l.do(l.kernels.SortExperts(l.compute, w.order, w.row, w.starts, w.chosen, rows, experts))
	l.do(l.kernels.GemmGateExperts(l.compute, w.expertAct, w.y, layer.gateUp.Weights, layer.gateUp.bias, w.order, w.starts,
		rows, d.perToken, experts, layer.gateUp.n, layer.gateUp.k, d.expertWidth, int(d.Activation)))
	l.do(l.kernels.GemmExperts(l.compute, w.expertOut, w.expertAct, layer.down.Weights, layer.down.bias, w.starts, rows, experts, layer.down.n, layer.down.k))
	l.do(l.kernels.Mix(l.compute, w.parts, w.expertOut, w.weight, w.row, t, d.perToken, d.Hidden))
}
