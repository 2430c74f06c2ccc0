package gpuexec

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor/tuning"
)

const (
	// trialLayers is how many layers a run has at most: their matrices are not all in the device's cache.
	trialLayers = 8
	// trialRows is what stands for many rows.
	trialRows = 512
	// decodeClasses of row counts are those of steps that decode.
	decodeClasses = 2
)

// trials are the runs that are measured: parts of a step, with the weights that are loaded.
type trials struct {
	*Executor
	weights *parameters
}

// product is the matrices of one shape. Of experts, a token takes some of all.
type product struct {
	kernels.Shape
	bytes     int64              // of all
	most      int                // tokens that a step has of it
	room      int                // tokens that its buffers have room for
	some, all int                // experts; 1 and 1: there are none
	layers    []func(*launching) // compute what has one, each
}

// rows is how many rows a tile is chosen by, of so many tokens; tokens is how many have so many.
func (p *product) rows(tokens int) int { return (tokens*p.some + p.all - 1) / p.all }
func (p *product) tokens(rows int) int { return rows * p.all / p.some }

// all asks for all that is to be tuned.
func (t *trials) all(to *tuning.Asker) error {
	if err := t.scatter(); err != nil {
		return err
	}
	c := &t.config.Tune
	for i, p := range t.products() {
		for _, path := range []struct {
			tuning.Effort
			from, end int // classes
		}{{c.Decode, 0, decodeClasses}, {c.Varlen, decodeClasses, len(kernels.RowEnds)}} {
			if path.Scope != tuning.Every && (path.Scope != tuning.Largest || i >= 2) {
				continue
			}
			if err := t.path(to, &p, path.Effort, path.from, path.end); err != nil {
				return err
			}
		}
	}
	return nil
}

// scatter makes the residual stream of as many tokens as a trial has random, so that they take different
// experts.
func (t *trials) scatter() error {
	x, random := make([]float32, min(trialRows, t.config.MaxTokens)*t.dims.Hidden), rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = float32(random.NormFloat64())
	}
	return t.compute.CopyIn(t.work.x, bytesOf(x))
}

// products are those of every shape, those of the most weights first.
func (t *trials) products() (list []product) {
	add := func(of kernels.Product, m *matrix, p product, run func(*launching)) {
		p.Shape = kernels.Shape{Product: of, Format: m.Format, N: m.n, K: m.k}
		i := slices.IndexFunc(list, func(q product) bool { return q.Shape == p.Shape })
		if i < 0 {
			i, list = len(list), append(list, p)
		}
		list[i].bytes += int64(p.all) * m.Format.Bytes(m.n, m.k)
		list[i].layers = append(list[i].layers, run)
	}
	one := product{most: t.config.MaxTokens, room: t.config.MaxTokens, some: 1, all: 1}
	for i := range t.weights.layers {
		layer := &t.weights.layers[i]
		add(kernels.Dense, &layer.qkv, one, func(l *launching) { l.product(l.work.y, &layer.qkv) })
		add(kernels.Dense, &layer.out, one, func(l *launching) { l.product(l.work.attn, &layer.out) })
		if !t.dims.HasExperts(i) {
			add(kernels.Gated, &layer.gateUp, one, func(l *launching) { l.gate(&layer.gateUp, kernels.Added{}) })
			add(kernels.Dense, &layer.down, one, func(l *launching) { l.product(l.work.act, &layer.down) })
			continue
		}
		some := product{most: one.most, room: one.room, some: t.dims.perToken, all: t.dims.MoE.Experts}
		add(kernels.GatedExperts, &layer.gateUp, some, func(l *launching) { l.experts(layer) })
		add(kernels.DenseExperts, &layer.down, some, func(l *launching) { l.experts(layer) })
	}
	head := one
	head.most, head.room = min(head.most, t.dims.headRows), t.dims.headRows
	add(kernels.Dense, &t.weights.head, head, func(l *launching) { l.headProduct(l.s.tokens) })
	slices.SortStableFunc(list, func(a, b product) int { return cmp.Compare(b.bytes, a.bytes) })
	return list
}

// path asks for the tiles of classes from one on to before another: of each, or one for all, which is the best
// for 64 and for 512 tokens.
func (t *trials) path(to *tuning.Asker, p *product, f tuning.Effort, from, end int) error {
	if !f.Classes {
		return t.ask(to, p, f, from, end)
	}
	for c := from; c < end; c++ {
		if err := t.ask(to, p, f, c, c+1); err != nil {
			return err
		}
	}
	return nil
}

// ask asks for the tile of some classes, by as many tokens as the last of them has.
func (t *trials) ask(to *tuning.Asker, p *product, f tuning.Effort, from, end int) error {
	tokens := min(p.tokens(kernels.RowEnds[end-1]), trialRows, p.most)
	rows := p.rows(tokens)
	if from > 0 && rows <= kernels.RowEnds[from-1] {
		return nil // no step has so many
	}
	if p.all == 1 && t.vendor.product(p.Format, p.N, p.K, rows, p.room) != nil {
		return nil // no kernel of ours would run
	}
	q := tuning.Question{
		Key:        fmt.Sprintf("%s %s %dx%d, %d tokens, %d rounds, tile", p.Product, p.Format, p.K, p.N, tokens, f.Rounds()),
		Candidates: kernels.Tiles(p.Shape, rows),
		Set: func(tile int) {
			for c := from; c < end; c++ {
				t.kernels.UseTile(p.Shape, c, tile)
			}
		},
		Run:    func() error { return t.run(p, tokens) },
		Rounds: f.Rounds(), Longest: f.Longest(),
	}
	return to.Ask(&q)
}

// run enqueues what has matrices of a shape, of some layers.
func (t *trials) run(p *product, tokens int) error {
	l := launching{Executor: t.Executor, s: &step{tokens: tokens, weights: t.weights}}
	for _, layer := range p.layers[:min(len(p.layers), trialLayers)] {
		layer(&l)
	}
	return l.err
}
