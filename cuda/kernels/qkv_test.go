package kernels

import (
	"fmt"
	"math"
	"testing"
)

// heads are those of a test's model.
type heads struct{ q, kv, dim, rot int }

func (h heads) columns() int { return (h.q + 2*h.kv) * h.dim }

// wantHeads is a token's row of q, k and v: bias added, normalised, turned by angles, q
// times scale.
func wantHeads(row, bias, qNorm, kNorm []float32, h heads, whole bool, angles []float32, scale float64) []float64 {
	x := wide(row)
	for i := range x {
		x[i] += float64(bias[i])
	}
	for _, part := range []struct {
		from, count int
		w           []float32
	}{{0, h.q, qNorm}, {h.q, h.kv, kNorm}} {
		if part.w == nil {
			continue
		}
		all, size := x[part.from*h.dim:][:part.count*h.dim], h.dim
		if whole {
			size = len(all)
		}
		for at := 0; at < len(all); at += size {
			copy(all[at:], normed(all[at:][:size], part.w, testEps))
		}
	}
	for head := range h.q + h.kv {
		turn(x[head*h.dim:][:h.rot], angles)
	}
	for i := range h.q * h.dim {
		x[i] *= scale
	}
	return x
}

// turn rotates element i with that half the length on, by cosines and sines.
func turn(x []float64, angles []float32) {
	half := len(x) / 2
	for i := range half {
		a, b, cos, sin := x[i], x[i+half], float64(angles[i]), float64(angles[i+half])
		x[i], x[i+half] = a*cos-b*sin, b*cos+a*sin
	}
}

func TestQKV(t *testing.T) {
	for _, c := range []struct {
		heads
		norm, whole bool
	}{
		{heads{3, 1, 64, 64}, false, false},
		{heads{4, 2, 20, 10}, true, false},
		{heads{2, 2, 256, 0}, true, true},
		{heads{6, 3, 20, 20}, true, true},
	} {
		t.Run(fmt.Sprintf("dim %d, %d turned", c.dim, c.rot), func(t *testing.T) {
			onBoth(t, func(r *rig) { checkQKV(r, c.heads, c.norm, c.whole) })
		})
	}
}

func checkQKV(r *rig, h heads, norm, whole bool) {
	const tokens, count, page, pages, blocks, scale = 4, 2, 4, 5, 12, 0.125
	width, columns := HeadWidth(h.dim), h.columns()
	pos, slot := []int32{0, 7, -1, 18}, []int32{1, 0, 0, 1}
	tables := []int32{3, 9, 0, 0, 0, 5, 1, 2, 8, 11}
	parts, bias := r.numbers(count*tokens*columns, 1), r.numbers(columns, 1)
	angles := make([]float32, pages*page*h.rot)
	for p := range pages * page {
		for i := range h.rot / 2 {
			angle := float64(p) / math.Pow(100, float64(i)/float64(h.rot))
			angles[p*h.rot+i], angles[p*h.rot+h.rot/2+i] = float32(math.Cos(angle)), float32(math.Sin(angle))
		}
	}
	stride := 3 * h.kv * 2 * page * width
	a := QKV{
		Parts: r.floats(parts), Bias: r.floats(bias), Pos: r.ints(pos...), Slot: r.ints(slot...), Tables: r.ints(tables...),
		Count: count, T: tokens, Heads: h.q, KVHeads: h.kv, Dim: h.dim, Rot: h.rot, NormWhole: whole, Eps: testEps, Scale: scale,
		Pages: pages, Page: page, BlockStride: stride,
	}
	var qNorm, kNorm []float32
	if norm {
		q, k := h.dim, h.dim
		if whole {
			q, k = h.q*h.dim, h.kv*h.dim
		}
		qNorm, kNorm = r.numbers(q, 1), r.numbers(k, 1)
		a.QNorm, a.KNorm = r.floats(qNorm), r.floats(kNorm)
	}
	if h.rot > 0 {
		a.Rope = r.floats(angles)
	}
	a.Q, a.Pool = r.halves(make([]float32, tokens*h.q*width)), r.halves(make([]float32, blocks*stride))
	r.ok(r.set.QKV(r.stream, &a))
	q, pool := r.getHalves(a.Q, tokens*h.q*width), r.getHalves(a.Pool, blocks*stride)
	written := 0
	for t, p := range pos {
		if p < 0 {
			r.same("padding", q[t*h.q*width:][:h.q*width], make([]float32, h.q*width))
			continue
		}
		row := make([]float32, columns)
		for i := range row {
			row[i] = parts[t*columns+i] + parts[(tokens+t)*columns+i]
		}
		want := wantHeads(row, bias, qNorm, kNorm, h, whole, angles[int(p)*h.rot:][:h.rot], scale)
		at := int(tables[int(slot[t])*pages+int(p)/page])*stride + int(p)%page*width
		for head := range h.q + 2*h.kv {
			got := q[(t*h.q+min(head, h.q-1))*width:][:width]
			if head >= h.q {
				kv, value := (head-h.q)%h.kv, (head-h.q)/h.kv
				got = pool[at+(2*kv+value)*page*width:][:width]
				written += width
			}
			r.near(fmt.Sprintf("token %d, head %d", t, head), got, want[head*h.dim:][:h.dim], ofHalf)
			r.same("behind a head", got[h.dim:], make([]float32, width-h.dim))
		}
	}
	for _, x := range pool {
		if x != 0 {
			written--
		}
	}
	if written < 0 {
		r.Errorf("%d numbers more than those of the tokens were written to the cache", -written)
	}
}
