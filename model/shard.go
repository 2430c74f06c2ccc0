package model

import (
	"fmt"
	"strconv"
)

// Shard is which part of a model a rank computes of those that compute it together: query heads
// with the key heads that they share, intermediate numbers of MLPs and of every expert, and
// outputs of the head. Its Config has the sizes of that part, but for Vocab, and Weight, Bias
// and their like lead to it in the whole model's tensors. All else every rank has: the
// embedding, norms, what chooses experts.
//
// What o_proj and down_proj answer is to be added up over all ranks; their biases are the first
// one's.
type Shard struct {
	Rank, Of int
	Whole    *Config

	Query, KVHead, MLP, Expert int // the first query head, key head, number of Intermediate and of MoE.Intermediate
}

// Heads are those of a rank: query heads from one on, over key heads from one on.
type Heads struct{ Query, Queries, KVHead, KVHeads int }

// cutUnit is what intermediate numbers and outputs are divided by multiples of, where there
// are enough: a panel of the CPU executor, and a block of its activations.
const cutUnit = 32

// Shard is the part of a rank, of so many. Key heads are divided, some ranks have one more than
// others where they must; of more ranks than key heads several have the same one. stored says what
// tensors are stored as: what is stored in blocks is cut between blocks alone. Errors wrap
// ErrShard.
func (c *Config) Shard(rank, of int, stored []Tensor) (*Config, error) {
	if c.part != nil || rank < 0 || rank >= of {
		return nil, fmt.Errorf("%w: rank %d of %d", ErrShard, rank, of)
	}
	if of > c.KVHeads && (c.Heads%of != 0 || of%c.KVHeads != 0) {
		return nil, fmt.Errorf("%w: %d query heads over %d key heads among %d ranks, take %s", ErrShard, c.Heads, c.KVHeads, of, c.rankCounts())
	}
	local, s := *c, &Shard{Rank: rank, Of: of, Whole: c}
	local.part = s
	heads := s.HeadsOf(rank)
	s.Query, local.Heads, s.KVHead, local.KVHeads = heads.Query, heads.Queries, heads.KVHead, heads.KVHeads
	units := c.inputBlocks(stored)
	if s.Query*c.HeadDim%units.out != 0 || local.Heads*c.HeadDim%units.out != 0 {
		return nil, fmt.Errorf("%w: o_proj is stored in blocks of %d numbers, which %d heads of %d on rank %d are no multiple of", ErrShard, units.out, local.Heads, c.HeadDim, rank)
	}
	var err error
	if s.MLP, local.Intermediate, err = s.cut(c.Intermediate, units.down, rank); err != nil {
		return nil, err
	}
	if c.MoE != nil {
		experts := *c.MoE
		local.MoE = &experts
		s.Expert, experts.Intermediate, err = s.cut(c.MoE.Intermediate, units.expert, rank)
	}
	return &local, err
}

// rankCounts are how many ranks heads can be divided among.
func (c *Config) rankCounts() string {
	text := "1"
	for of := 2; of <= c.Heads; of++ {
		if of <= c.KVHeads || c.Heads%of == 0 && of%c.KVHeads == 0 {
			text += ", " + strconv.Itoa(of)
		}
	}
	return text
}

// Part is which part of a model c is; nil: all of it.
func (c *Config) Part() *Shard { return c.part }

// HeadsOf are those of any rank.
func (s *Shard) HeadsOf(rank int) Heads {
	w := s.Whole
	group := w.Heads / w.KVHeads
	first := w.KVHeads * rank / s.Of
	if s.Of > w.KVHeads {
		n := w.Heads / s.Of
		return Heads{rank * n, n, first, 1}
	}
	n := w.KVHeads*(rank+1)/s.Of - first
	return Heads{first * group, n * group, first, n}
}

// HeadRows is which outputs of the head, so many from the first on, a rank computes; a model that
// is whole has one rank.
func (c *Config) HeadRows(rank int) (first, count int) {
	of := 1
	if c.part != nil {
		of = c.part.Of
	}
	units := (c.Vocab + cutUnit - 1) / cutUnit
	first, end := min(c.Vocab, units*rank/of*cutUnit), min(c.Vocab, units*(rank+1)/of*cutUnit)
	return first, end - first
}

// inputBlocks is what the inputs of matrices can be cut at multiples of.
type inputBlocks struct{ out, down, expert int }

func (c *Config) inputBlocks(stored []Tensor) inputBlocks {
	block := make(map[string]int, len(stored))
	for _, t := range stored {
		block[t.Name] = t.DType.Block()
	}
	b := inputBlocks{1, 1, 1}
	for l := range c.Layers {
		b.out = max(b.out, block[c.Weight(l, "self_attn.o_proj").Tensor])
		if !c.HasExperts(l) {
			b.down = max(b.down, block[c.Weight(l, "mlp.down_proj").Tensor])
			continue
		}
		for e := range c.MoE.Experts {
			b.expert = max(b.expert, block[c.ExpertWeight(l, e, "down_proj").Tensor])
		}
	}
	return b
}

// cut is the part of n intermediate numbers that falls to a rank, at multiples of a block: who has
// fewer heads has more of them, so that all multiply as much.
func (s *Shard) cut(n, block, rank int) (from, count int, err error) {
	unit := max(block, cutUnit)
	if block <= cutUnit && n < s.Of*cutUnit {
		unit = block
	}
	units := (n + unit - 1) / unit
	if units < s.Of {
		return 0, 0, fmt.Errorf("%w: %d numbers in blocks of %d cannot be divided among %d ranks", ErrShard, n, unit, s.Of)
	}
	first, end := 0, 0
	for r := range rank + 1 { // each has one unit at least
		first = end
		end = min(max(int(s.evenly(r+1)*float64(units)+0.5), first+1), units-s.Of+r+1)
	}
	return first * unit, min(n, end*unit) - first*unit, nil
}

// evenly is where the part of a rank begins, from 0 to 1, of what an MLP multiplies.
func (s *Shard) evenly(rank int) float64 {
	w := s.Whole
	mlp := w.Intermediate
	if w.MoE != nil {
		mlp = w.MoE.PerToken * w.MoE.Intermediate
	}
	heads := float64(2*(w.Heads+w.KVHeads)*w.HeadDim) / float64(3*mlp) // of what an MLP multiplies
	before := float64(w.KVHeads)
	if rank < s.Of {
		before = float64(s.HeadsOf(rank).KVHead)
	}
	even := float64(rank) / float64(s.Of)
	if s.Of > w.KVHeads {
		return even
	}
	return even + heads*(even-before/float64(w.KVHeads))
}

// of leads from a module in the whole model's tensors to the part of it.
func (s *Shard) of(r Rows, module string, inner int) Rows {
	dim := s.Whole.HeadDim
	switch module {
	case "self_attn.q_proj":
		r.First += r.Step * s.Query * dim
	case "self_attn.k_proj", "self_attn.v_proj":
		r.First += r.Step * s.KVHead * dim
	case "self_attn.o_proj":
		r.From = s.Query * dim
	case "mlp.gate_proj", "mlp.up_proj", "gate_proj", "up_proj":
		r.First += r.Step * inner
	case "mlp.down_proj", "down_proj":
		r.From = inner
	}
	return r
}
