package cpuexec

import (
	"math"

	"github.com/cbactor/cbactor/model"
)

// rotation is the angles of a step's positions, by the rotary embedding of one kind of
// layers.
type rotation struct {
	inv      []float64
	scale    float64
	cos, sin []float32 // [token][len(inv)]
}

// at sets the angles of token i, which is at a position. Their product with a frequency is
// rounded to float32, as the reference implementation does: far out that is part of its
// answers.
func (r *rotation) at(i, pos int) {
	cos, sin := r.cos[i*len(r.inv):], r.sin[i*len(r.inv):]
	for j, f := range r.inv {
		angle := float32(pos) * float32(f)
		y, x := math.Sincos(float64(angle))
		cos[j], sin[j] = float32(x*r.scale), float32(y*r.scale)
	}
}

// rotations are those of a model: one, or two where sliding layers have their own.
func rotations(m *model.Config) []rotation {
	list := make([]rotation, 1, 2)
	if m.SlidingRope != nil {
		list = list[:2]
	}
	for kind := range list {
		list[kind].inv, list[kind].scale = m.InvFreq(model.Attention(kind))
	}
	return list
}

// rotationBytes is the size of the angles of so many tokens.
func rotationBytes(m *model.Config, tokens int) int64 {
	n := 2 * lines(tokens*m.RotaryDims()/2)
	if m.SlidingRope != nil {
		n *= 2
	}
	return n
}

// cutRotations cuts that out of a.
func (s *step) cutRotations(a *area) {
	for i := range s.rotations {
		r := &s.rotations[i]
		n := s.config.MaxTokens * len(r.inv)
		r.cos, r.sin = cut[float32](a, n), cut[float32](a, n)
	}
}

// turn rotates the queries that share a key head, side by side and scaled by the way, and
// the key, of token i, in a layer.
func (s *step) turn(q, k []float32, i, layer int) {
	m, dim := s.config.Model, s.headDim
	if m.NoRope != nil && m.NoRope[layer] {
		scale(q, s.qScale)
		return
	}
	r := &s.rotations[0]
	if len(s.rotations) > 1 {
		r = &s.rotations[m.Attn[layer]]
	}
	half := len(r.inv)
	cos, sin := r.cos[i*half:][:half], r.sin[i*half:][:half]
	if 2*half == dim {
		s.kernels.Rope(q, cos, sin, dim, s.qScale)
		s.kernels.Rope(k, cos, sin, dim, 1)
		return
	}
	for ; len(q) > 0; q = q[dim:] { // the end of a head stays as it is
		s.kernels.Rope(q[:2*half], cos, sin, 2*half, s.qScale)
		scale(q[2*half:dim], s.qScale)
	}
	s.kernels.Rope(k[:2*half], cos, sin, 2*half, 1)
}

// scale multiplies all of x.
func scale(x []float32, f float32) {
	for i := range x {
		x[i] *= f
	}
}
