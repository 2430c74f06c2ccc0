package cpuexec

import (
	"errors"
	"math"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
)

// Ranks is what an executor that computes a part of a model (model.Config.Shard) shows numbers
// to the others by, and sees theirs. All show the same things in the same order. It is used by
// one goroutine at a time.
type Ranks interface {
	// Room is where what is shown next is written: ExchangeFloats numbers.
	Room() []float32
	// Show shows the first n of them, waits for the others, and answers what each rank shows, its
	// own too, in their order. It stays until the next Show is called.
	Show(n int) ([][]float32, error)
}

// ExchangeFloats is the most numbers that a rank shows at a time: what half a layer answers of
// all tokens, queries and keys, logits.
func (c Config) ExchangeFloats() (int, error) {
	c, err := c.withDefaults()
	if err != nil {
		return 0, err
	}
	d := dimsOf(c.Model)
	most := max(c.MaxTokens*d.hiddenWidth, 2*c.headRows())
	rows := 0
	for rank := range c.ranks() {
		_, n := c.Model.HeadRows(rank)
		rows = max(rows, n)
	}
	most = max(most, c.headRows()*padded(rows))
	if gathers(c.Model) {
		for rank := range c.ranks() {
			h := c.Model.Part().HeadsOf(rank)
			most = max(most, c.MaxTokens*(h.Queries+h.KVHeads)*d.headDim)
		}
	}
	return most, nil
}

// ranks is how many compute the model.
func (c *Config) ranks() int {
	if part := c.Model.Part(); part != nil {
		return part.Of
	}
	return 1
}

// shared is what a step has of other ranks.
type shared struct {
	room []float32   // where this rank's numbers go next; nil: there are no others
	all  [][]float32 // those shown last, per rank
	err  error       // of showing them
}

// show shows n numbers of room and waits for those of the others. All threads call it, behind a
// sync.
func (s *step) show(id, n int) {
	if r := s.config.Ranks; id == 0 {
		s.shared.all, s.shared.err = r.Show(n)
		s.shared.room = r.Room()
	}
	s.sync(id, OpExchange)
	if s.shared.err != nil {
		panic(s.shared.err)
	}
}

// sum adds what all ranks answer of half a layer, which lies in room, to the residual stream, in
// the order of ranks; or puts it where settle finds it. With one rank it is there.
func (s *step) sum(id int) {
	if s.shared.room == nil {
		return
	}
	n := len(s.tokens) * s.hiddenWidth
	s.show(id, n)
	lo, hi := share(n/kernels.Panel, id, s.threads)
	lo, hi = lo*kernels.Panel, hi*kernels.Panel
	rows := (hi - lo) / kernels.Panel
	for rank, part := range s.shared.all {
		switch {
		case rows == 0:
		case s.out != nil && rank == 0:
			copy(s.out[lo:hi], part[lo:hi])
		case s.out != nil:
			s.kernels.AddTile(s.out[lo:], part[lo:], rows, kernels.Panel, kernels.Panel)
		case s.residualScale != 0:
			addScaled(s.x[lo:hi], part[lo:hi], s.residualScale)
		default:
			s.kernels.AddTile(s.x[lo:], part[lo:], rows, kernels.Panel, kernels.Panel)
		}
	}
	s.sync(id, OpExchange)
}

// showBest lets all ranks know the largest logits of n greedy rows. With one rank they are known.
func (s *step) showBest(id, n int) {
	if s.shared.room == nil {
		return
	}
	if id == 0 {
		for r := range n {
			at, most := s.largestHere(r)
			s.shared.room[2*r], s.shared.room[2*r+1] = most, math.Float32frombits(uint32(s.headFirst)+uint32(max(at, 0)))
		}
	}
	s.show(id, 2*n)
}

// largestOfAll is the id of the largest logit that showBest has shown of greedy row r; -1 as
// largest has it.
func (s *step) largestOfAll(r int) int32 {
	id, most := int32(-1), float32(math.Inf(-1))
	for _, best := range s.shared.all {
		switch v := best[2*r]; {
		case v != v:
			return -1
		case v > most:
			id, most = int32(math.Float32bits(best[2*r+1])), v
		}
	}
	return id
}

// gatherLogits makes n rows of logits whole.
func (s *step) gatherLogits(id, n int) {
	if s.shared.room == nil || n == 0 {
		return
	}
	lo, hi := share(n, id, s.threads)
	copy(s.shared.room[lo*s.headWidth:hi*s.headWidth], s.logits[lo*s.headWidth:])
	s.sync(id, OpExchange)
	s.show(id, n*s.headWidth)
	for rank, part := range s.shared.all {
		first, count := s.config.Model.HeadRows(rank)
		for i := lo; i < hi; i++ {
			copy(s.whole[i*s.vocab+first:][:count], part[i*padded(count):])
		}
	}
	s.sync(id, OpExchange)
}

// rank is this rank's number.
func (s *step) rank() int {
	if part := s.config.Model.Part(); part != nil {
		return part.Rank
	}
	return 0
}

// drawer is the rank that draws from row i of logits: the first one what it alone can answer, or
// a user's processor wants to see once; of the others each its share.
func (s *step) drawer(m *sample, i int) int {
	if m.score || m.told != nil || m.slot.sampling.Processor != nil {
		return 0
	}
	return i % s.config.ranks()
}

const (
	drawnWell   = 1 // something was told that has no id
	drawnFailed = math.MaxUint32
)

// errElsewhere is what a row fails of here that has failed on the rank that draws it.
var errElsewhere = errors.New("cpuexec: another rank could not draw")

// showDrawn lets all ranks know what was drawn of some rows. With one rank it is known.
func (s *step) showDrawn(id int, some []sample) {
	if s.shared.room == nil || len(some) == 0 {
		return
	}
	lo, hi := share(len(some), id, s.threads)
	for i := lo; i < hi; i++ {
		s.shared.room[i] = math.Float32frombits(some[i].shown())
	}
	s.sync(id, OpExchange)
	s.show(id, len(some))
	for i := lo; i < hi; i++ {
		m, from := &some[i], s.drawer(&some[i], i)
		if from == s.rank() {
			continue
		}
		switch bits := math.Float32bits(s.shared.all[from][i]); {
		case bits != drawnFailed:
			m.drawn.ID = int32(bits)
		case s.rank() == 0: // it says why
			m.draw(s.workers[id].sampler, s.row(i))
		default:
			m.err = errElsewhere
		}
	}
	s.sync(id, OpExchange)
}

// shown is what others learn of m.
func (m *sample) shown() uint32 {
	switch {
	case m.err != nil:
		return drawnFailed
	case m.score:
		return drawnWell
	}
	return uint32(m.drawn.ID)
}

// gathers says that ranks show each other queries and keys, which are normalised all together.
func gathers(m *model.Config) bool { return m.QKNorm == model.QKNormWhole && m.Part() != nil }

// qkWidth is the length of queries and keys side by side.
func (d *dims) qkWidth() int { return d.attnDim() + d.kvHeads*d.headDim }

// normWhole is normHeads for queries and keys of which other ranks have a part.
func (s *step) normWhole(id int, w *layer) {
	n, part, dim := s.qkWidth(), s.config.Model.Part(), s.headDim
	lo, hi := share(len(s.tokens), id, s.threads)
	for t := lo; t < hi; t++ {
		copy(s.shared.room[t*n:][:n], s.qkv[t*s.qkvWidth:])
	}
	s.sync(id, OpNorm)
	s.show(id, len(s.tokens)*n)
	for t := lo; t < hi; t++ {
		queries := s.qkv[t*s.qkvWidth:][:s.attnDim()]
		keys := s.qkv[t*s.qkvWidth+s.attnDim():][:s.kvHeads*dim]
		whole := s.workers[id].tile[:part.Whole.Heads*dim]
		for rank, shown := range s.shared.all {
			h := part.HeadsOf(rank)
			copy(whole[h.Query*dim:], shown[t*(h.Queries+h.KVHeads)*dim:][:h.Queries*dim])
		}
		s.normHead(id, whole, w.qNorm)
		copy(queries, whole[part.Query*dim:])
		whole = whole[:part.Whole.KVHeads*dim]
		for rank, shown := range s.shared.all {
			h := part.HeadsOf(rank)
			copy(whole[h.KVHead*dim:], shown[(t*(h.Queries+h.KVHeads)+h.Queries)*dim:][:h.KVHeads*dim])
		}
		s.normHead(id, whole, w.kNorm)
		copy(keys, whole[part.KVHead*dim:])
	}
}
