package cpuexec

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/executor/tuning"
)

// trialProducts is about how many a run has: it takes a millisecond or two, and few layers
// where there are many rows. One layer is the least.
const trialProducts = 256 << 20

// trials are the runs that are measured: the parts of a step themselves, over rows of
// zeros and the weights that are loaded.
type trials struct {
	step  *step
	table tileTable
	tune  *tuning.Tune
}

// joint number joints stands for the head.
const headTrial = joints

// product is the matrices of one shape that have the same part in a layer.
type product struct {
	shape
	joint   int
	layers  []int // which have it; nil: it is the head
	experts int   // each of which has one in such a layer; 0: the layer has
}

// weights is how much memory its matrices take.
func (p *product) weights() int { return max(1, len(p.layers)) * max(1, p.experts) * p.bytes() }

// with has the step compute with w while ask runs.
func (t *trials) with(w *packed, ask func() error) error {
	s := t.step
	clock := s.clock
	s.weights, s.clock = w, nil
	s.pool.SetBusy(true)
	err := ask()
	s.pool.SetBusy(false)
	s.weights, s.clock, s.tokens = nil, clock, s.tokens[:0]
	return err
}

// all asks for all that is to be tuned.
func (t *trials) all(to *tuning.Asker) error {
	for i, p := range t.products() {
		for _, path := range []struct {
			tuning.Effort
			ask func(*tuning.Asker, *product, tuning.Effort) error
		}{{t.tune.Decode, t.decode}, {t.tune.Varlen, t.varlen}} {
			if path.Scope == tuning.Every || path.Scope == tuning.Largest && i < 2 {
				if err := path.ask(to, &p, path.Effort); err != nil {
					return err
				}
			}
		}
	}
	if f := t.tune.Varlen; f.Scope == tuning.Every && f.Classes {
		if err := t.spans(to, f); err != nil {
			return err
		}
	}
	if f := t.tune.Decode; f.Scope == tuning.Every && f.Classes {
		return t.alone(to, f)
	}
	return nil
}

// products are those of every shape, in the joint where it is first found, those of the
// most weights first.
func (t *trials) products() []product {
	w := t.step.weights
	list := []product{{shape: w.head.shape(), joint: headTrial}}
	add := func(m *matrix, joint, layer, experts int) {
		h := m.shape()
		i := slices.IndexFunc(list, func(p product) bool { return p.shape == h })
		if i < 0 {
			i, list = len(list), append(list, product{shape: h, joint: joint, experts: experts})
		}
		if p := &list[i]; p.joint == joint && p.experts == experts && !slices.Contains(p.layers, layer) {
			p.layers = append(p.layers, layer)
		}
	}
	for j := range joints {
		for l := range w.layers {
			layer := &w.layers[l]
			switch n := len(layer.experts); {
			case j < ownJoints(t.step.config.Model, l):
				for i := range layer.matrices[j] {
					add(&layer.matrices[j][i], j, l, 0)
				}
			case j == jointGateUp:
				add(&layer.experts[0].gateUp, j, l, n)
			case j == jointDown:
				add(&layer.experts[0].down, j, l, n)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b product) int { return cmp.Compare(b.weights(), a.weights()) })
	return list
}

// decode asks how many panels a single row passes in a call, and how many rows pass a
// panel in steps of up to 64 tokens.
func (t *trials) decode(to *tuning.Asker, p *product, f tuning.Effort) error {
	at := t.table.of(p.shape)
	q := tuning.Question{
		Key: fmt.Sprintf("%s, %d rounds, panels a call", p, f.Rounds()), Default: at.call,
		Set: func(v int) { at.call = v },
		Run: t.runs(p, 1), Rounds: f.Rounds(), Longest: f.Longest(),
	}
	shares := []int{2 * at.call, at.call / 2, at.call / 4}
	if f.Scope == tuning.Largest {
		shares = shares[:2]
	}
	for _, v := range shares {
		if v = min(v, tilePanels); v > 0 && v != at.call && !slices.Contains(q.Candidates, v) {
			q.Candidates = append(q.Candidates, v)
		}
	}
	if err := to.Ask(&q); err != nil {
		return err
	}
	if !f.Classes {
		return t.blocks(to, p, f, 0, varlen, classEnds[varlen-1])
	}
	for c := range varlen {
		if err := t.blocks(to, p, f, c, c+1, classEnds[c]); err != nil {
			return err
		}
	}
	return nil
}

// varlen asks for the block of rows of longer steps. 512 rows are many.
func (t *trials) varlen(to *tuning.Asker, p *product, f tuning.Effort) error {
	if p.joint == headTrial {
		return nil // which has at most maxHeadRows
	}
	if !f.Classes {
		return t.blocks(to, p, f, varlen, classes, 512)
	}
	for c := varlen; c < classes; c++ {
		if err := t.blocks(to, p, f, c, c+1, min(classEnds[c], 512)); err != nil {
			return err
		}
	}
	return nil
}

// blocks asks for the block of classes from one up to another, with so many rows, or as
// many as a step has room for.
func (t *trials) blocks(to *tuning.Asker, p *product, f tuning.Effort, from, end class, rows int) error {
	at, s := t.table.of(p.shape), t.step
	least := 1
	if from > 0 {
		least = classEnds[from-1] + 1
	}
	if rows = min(rows, s.config.MaxTokens); p.joint == headTrial {
		rows = min(rows, s.config.headRows())
	}
	if rows < least {
		return nil
	}
	q := tuning.Question{
		Key: fmt.Sprintf("%s, %d rounds, rows %d-%d, rows a block", p, f.Rounds(), least, classEnds[end-1]), Default: rowBlock,
		Set: func(v int) {
			for c := from; c < end; c++ {
				at.block[c] = v
			}
		},
		Run: t.runs(p, rows), Rounds: f.Rounds(), Longest: f.Longest(),
	}
	for _, v := range []int{32, 16, 48} {
		if v < rows && (f.Scope == tuning.Every || v <= 32) {
			q.Candidates = append(q.Candidates, v)
		}
	}
	return to.Ask(&q)
}

// runs multiplies so many rows with p's matrices, of as many experts and layers as
// trialProducts allows.
func (t *trials) runs(p *product, rows int) func() error {
	s := t.step
	some := max(1, trialProducts/(rows*p.k*p.panels*kernels.Panel)) // matrices
	experts := min(p.experts, some)
	layers := p.layers[:min(len(p.layers), max(1, some/max(1, experts)))]
	work := func(id int) {
		for _, l := range layers {
			s.multiplyLayer(id, l, p.joint)
			s.pool.Sync()
		}
		if p.joint == headTrial {
			s.headProduct(id, rows)
		}
	}
	return func() error {
		s.tokens = s.tokens[:rows]
		s.threads = len(s.workers)
		s.mixture.give(experts, rows)
		return s.pool.Run(work)
	}
}

// multiplyLayer is the part of a step that has a joint of a layer, all matrices of it, or its
// experts' that have rows.
func (s *step) multiplyLayer(id, layer, joint int) {
	w := &s.weights.layers[layer]
	switch {
	case joint == jointQKV:
		s.project(id, layer, &s.norm)
	case joint == jointOut:
		s.addProduct(id, layer, jointOut, &s.attn)
	case joint == jointGateUp && w.experts != nil:
		s.gateExperts(id, layer, w)
	case joint == jointGateUp:
		s.gate(id, layer, &s.norm)
	case joint == jointDown && w.experts != nil:
		s.multiplyDown(id, layer, w)
	case joint == jointDown:
		s.addProduct(id, layer, jointDown, &s.act)
	}
}
