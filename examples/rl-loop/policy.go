package main

import (
	"math"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/weights"
)

const normName = "model.norm.weight"

// policy is the end of the model: what it makes of its last state. All before it stays
// what it is.
type policy struct {
	hidden  int
	embed   []float32   // [vocabulary][hidden]
	inverse []float64   // of embed' * embed, [hidden][hidden]
	norms   [][]float32 // weights of the norm, one for each step, that of the checkpoint first
}

// newPolicy reads the end of the embedded model, whose head is its embedding.
func newPolicy(model *checkpoint.Checkpoint) (*policy, error) {
	set, err := weights.Load(model.Config, model, 1, "")
	if err != nil {
		return nil, err
	}
	norm, _ := set.Tensor(normName) // Load has found every tensor
	embed, _ := set.Tensor("model.embed_tokens.weight")
	first := make([]float32, model.Config.Hidden)
	norm.Row(first, 0)
	rows := make([]float32, model.Config.Vocab*model.Config.Hidden)
	for v := range model.Config.Vocab {
		embed.Row(rows[v*len(first):][:len(first)], v)
	}
	return policyOf(first, rows), nil
}

func policyOf(norm, embed []float32) *policy {
	p := &policy{hidden: len(norm), embed: embed, norms: [][]float32{norm}}
	p.inverse = make([]float64, p.hidden*p.hidden)
	for v := range len(embed) / p.hidden {
		for i, a := range p.row(v) {
			for j, b := range p.row(v) {
				p.inverse[i*p.hidden+j] += float64(a) * float64(b)
			}
		}
	}
	invert(p.inverse, p.hidden)
	return p
}

func (p *policy) row(v int) []float32 { return p.embed[v*p.hidden:][:p.hidden] }

// newest is the weight of the norm after the last step.
func (p *policy) newest() []float32 { return p.norms[len(p.norms)-1] }

// state is the normed state behind logits that came of a weight of the norm.
func (p *policy) state(logits, norm []float32) []float32 {
	x, sum := make([]float32, p.hidden), p.sum(logits)
	for i := range x {
		h := 0.0
		for j, s := range sum {
			h += p.inverse[i*p.hidden+j] * float64(s)
		}
		x[i] = float32(h) / norm[i]
	}
	return x
}

// meanSquare is 1 of every normed state, but for the norm's epsilon.
func meanSquare(x []float32) float64 { return float64(dot(x, x)) / float64(len(x)) }

// gradient is that of a token's log-probability by the weight of the norm, in the
// state x. probs gets the probabilities of all tokens.
func (p *policy) gradient(x []float32, token int32, probs []float32) (g []float32, logprob float64) {
	h, norm := make([]float32, p.hidden), p.newest()
	for i := range h {
		h[i] = norm[i] * x[i]
	}
	for v := range probs {
		probs[v] = dot(p.row(v), h)
	}
	softmax(probs)
	g = p.sum(probs)
	for i, e := range p.row(int(token)) {
		g[i] = x[i] * (e - g[i])
	}
	return g, math.Log(float64(probs[token]))
}

// sum is the sum of the rows of the embedding, each times its share. Shares that are
// too small to be seen in it are left out.
func (p *policy) sum(shares []float32) []float32 {
	const unseen = 1e-9
	sum := make([]float32, p.hidden)
	for v, s := range shares {
		if s < unseen && s > -unseen {
			continue
		}
		for i, e := range p.row(v) {
			sum[i] += s * e
		}
	}
	return sum
}
