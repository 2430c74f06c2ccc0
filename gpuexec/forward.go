package gpuexec

import (
	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/model"
)

// launching enqueues the kernels of a step, in order. What fails first is err: kernels that are
// enqueued behind it do no harm.
type launching struct {
	*Executor
	s   *step
	err error
}

func (l *launching) do(err error) {
	if l.err == nil {
		l.err = err
	}
}

// layers computes the residual stream of all tokens.
func (l *launching) layers() {
	d, w, p, t := &l.dims, &l.work, l.s.weights, l.s.tokens
	scale := float32(1)
	if d.EmbedScale != 0 {
		scale = float32(d.EmbedScale)
	}
	l.do(l.kernels.Embed(l.compute, w.x, p.embedding, l.s.sent.ids, w.last, l.s.sent.pos, t, d.Hidden, d.hiddenWidth, scale))
	l.do(l.kernels.Norm(l.compute, w.y, w.x, 0, p.layers[0].norms[0], t, d.Hidden, d.hiddenWidth, float32(d.NormEps)))
	for n := range p.layers {
		layer := &p.layers[n]
		l.attention(n, layer)
		l.residual(l.product(w.attn, &layer.out), layer.out.bias, l.added(n, jointOut, w.attn), layer.norms[1], layer.norms[2])
		next := cuda.Pointer(0) // what the next layer, or nobody, normalises
		if n+1 < len(p.layers) {
			next = p.layers[n+1].norms[0]
		}
		if d.HasExperts(n) {
			l.experts(layer)
			l.residual(1, 0, kernels.Added{}, layer.norms[3], next)
			continue
		}
		l.gate(&layer.gateUp, l.added(n, jointGateUp, w.y))
		l.residual(l.product(w.act, &layer.down), layer.down.bias, l.added(n, jointDown, w.act), layer.norms[3], next)
	}
}

// product multiplies all tokens' rows with a matrix, and answers in how many parts the result is.
func (l *launching) product(rows cuda.Pointer, m *matrix) int {
	if l.byVendor(l.work.parts, rows, m, l.s.tokens, l.config.MaxTokens) {
		return 1
	}
	count := kernels.Parts(l.s.tokens, m.n, m.k)
	l.do(l.kernels.Gemm(l.compute, l.work.parts, rows, m.Weights, l.s.tokens, m.n, m.k, count))
	return count
}

// gate multiplies all tokens' rows with the matrix of gate and up, and gates them with what adapters add.
func (l *launching) gate(m *matrix, added kernels.Added) {
	d, w, t := &l.dims, &l.work, l.s.tokens
	if l.byVendor(w.parts, w.y, m, t, l.config.MaxTokens) {
		l.do(l.kernels.GateParts(l.compute, w.act, w.parts, m.bias, added, t, m.n, d.actWidth, int(d.Activation)))
		return
	}
	l.do(l.kernels.GemmGate(l.compute, w.act, w.y, m.Weights, m.bias, added, t, m.n, m.k, d.actWidth, int(d.Activation)))
}

// added computes what adapters add to a joint of layer n, whose product takes such rows.
func (l *launching) added(n, number int, rows cuda.Pointer) kernels.Added {
	a, w, bit := &l.dims.adapters, &l.work, 1<<number
	if l.s.joints&int32(bit) == 0 {
		return kernels.Added{}
	}
	j := &a.joints[number]
	l.do(l.kernels.Lora(l.compute, &kernels.Lora{
		Delta: w.delta, Low: w.low, X: rows, Adapters: l.adapters.room.at, Items: l.s.sent.loras, Count: l.s.loras,
		T: l.s.tokens, K: padded(j.in), Joint: bit, Modules: len(j.modules), First: j.modules[0].out, Rest: j.modules[len(j.modules)-1].out,
		Place: a.place(), Before: a.before[n][number], MaxRank: a.maxRank,
	}))
	return kernels.Added{Delta: w.delta, Adapted: l.s.sent.adapted, Joint: bit}
}

// residual adds what half a layer answers, with what adapters add to it, normalised where there is a norm of
// it, and makes of the stream what the next product takes.
func (l *launching) residual(count int, bias cuda.Pointer, added kernels.Added, post, pre cuda.Pointer) {
	d, w := &l.dims, &l.work
	scale := float32(1)
	if d.ResidualScale != 0 {
		scale = float32(d.ResidualScale)
	}
	l.do(l.kernels.Residual(l.compute, w.x, w.y, w.parts, bias, added, post, pre, count, l.s.tokens, d.Hidden, d.hiddenWidth, scale, float32(d.NormEps)))
}

// attention computes what the attention of layer n answers, behind which its output matrix stands.
func (l *launching) attention(n int, layer *layer) {
	d, w, c, sent := &l.dims, &l.work, &l.config, &l.s.sent
	count := l.product(w.y, &layer.qkv)
	place := l.layout.layers[n]
	group := &l.layout.groups[place.group]
	pool, stride := l.pool.at+cuda.Pointer(place.page), group.block/2
	table := pages(c.MaxContext, c.PageSize)
	l.do(l.kernels.QKV(l.compute, &kernels.QKV{
		Q: w.q, Pool: pool, Parts: w.parts, Bias: layer.qkv.bias, Added: l.added(n, jointQKV, w.y), QNorm: layer.qNorm, KNorm: layer.kNorm, Rope: l.rope(n),
		Pos: sent.pos, Slot: sent.slots, Tables: w.tables[place.group], Count: count, T: l.s.tokens,
		Heads: d.Heads, KVHeads: d.KVHeads, Dim: d.HeadDim, Rot: d.rotary, NormWhole: d.QKNorm == model.QKNormWhole,
		Eps: float32(d.NormEps), Scale: d.qScale, Pages: table, Page: c.PageSize, BlockStride: stride,
	}))
	l.do(l.kernels.Attention(l.compute, &kernels.Attention{
		Out: w.attn, State: w.state, Q: w.q, Pool: pool, Sinks: layer.sinks, Items: sent.items,
		Pos: sent.pos, Slot: sent.slots, Tables: w.tables[place.group], N: l.s.items, T: l.s.tokens,
		Heads: d.Heads, KVHeads: d.KVHeads, Dim: d.HeadDim, LdOut: d.attnWidth,
		Pages: table, Page: c.PageSize, BlockStride: stride, Window: group.window, Cap: float32(d.AttnSoftcap), Segs: l.s.segments,
	}))
	if l.s.segments > 1 {
		l.do(l.kernels.AttentionMerge(l.compute, w.attn, w.state, layer.sinks, sent.pos, l.s.tokens, d.Heads, d.HeadDim, d.attnWidth, l.s.segments, group.window))
	}
}

// rope is the table of angles of layer n; 0: it turns nothing.
func (l *launching) rope(n int) cuda.Pointer {
	d := &l.dims
	switch {
	case d.NoRope != nil && d.NoRope[n]:
		return 0
	case d.ropes() > 1:
		return l.work.rope[d.Attn[n]]
	}
	return l.work.rope[0]
}
