package cpuexec

import (
	"sync/atomic"
	"time"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/cpuexec/pool"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/sampling"
)

// aloneBytes of weights takes one thread half a millisecond to multiply a token with, in
// every format: with less, what threads gain is soon lost at a barrier when one of them has
// to wait for its CPU. Tune may find more.
const aloneBytes = 14 << 20

// step is a step while it is computed: the sequences, the cache, the activations.
// Worker 0 prepares it, all workers compute, worker 0 ends it.
type step struct {
	dims
	config  *Config
	kernels *kernels.Set
	weights *packed // of the batch's epoch
	pool    *pool.Pool
	clock   *clock       // nil: nobody reads it
	compute func(id int) // s.work, made once
	copy    func(id int) // s.copyParts, likewise

	packPart func(id int) // s.packSome, likewise
	panels   *packing     // that it fills
	packTime time.Duration

	threads int // that work at this step
	alone   int // bytes of weights times tokens up to which one thread computes
	spanLen int // tokens of a span at most

	slots []slot
	open  int // slots admitted and not retired
	cache cache

	adapters *adapters
	runs     []run   // tokens with adapters
	order    []int32 // of rows
	lowWidth int
	low      []float32 // [token][lowWidth], the ranks of a matrix

	copies  []executor.Copy
	tokens  []token  // what is computed
	samples []sample // rows of logits that are wanted, greedy ones last
	greedy  []sample // those while they are laid out
	spans   []span   // of the tokens
	rounds  []round  // of the spans, per cache group

	firstGreedy int // of samples

	rotations []rotation                // [kind of attention], or one of all
	seen      [kernels.Tile + 1][]int32 // [n]: each query of a span sees n positions of a tile
	qScale    float32                   // of scores, folded into the rotation of q
	scoreTop  float32                   // that scores are capped at; 0: they are not

	packs rowPacking // of inputs

	x    []float32 // [token][hiddenWidth], the residual stream
	norm input     // [token][hiddenWidth]
	qkv  []float32 // [token][qkvWidth]
	attn input     // [token][attnWidth]
	act  input     // [token][interWidth]
	out  []float32 // [token][hiddenWidth], what is normalised before it is added to x; nil: nothing is

	mixture       mixture
	residualScale float32 // of what is added to x

	headIn   input     // [headRows][hiddenWidth]
	logits   []float32 // [headRows][headWidth]
	whole    []float32 // [headRows][vocab], of all ranks; nil: logits are all
	workers  []worker
	shared   shared
	nextHead []atomic.Int32 // per layer: of items times key heads, the next to attend

	split     []float32      // attention states of spans that are split: [span][key head][segment][row]
	splitDone []atomic.Int32 // of them, by span and key head: segments that are done
}

// token is one position of a sequence.
type token struct {
	slot *slot
	id   int32
	pos  int
}

// sample is a use of the logits after a token: to draw the next id, or to score
// the one that the prompt has there.
type sample struct {
	row    int // of the Batch
	slot   *slot
	number executor.Slot // of the slot
	from   int           // index of the token
	pos    int           // of the id behind it
	score  bool
	told   *sampling.Drawn // in the Result; nil: not asked for
	drawn  sampling.Drawn  // where it goes then
	err    error
}

// worker is what a thread has for itself.
type worker struct {
	tile      []float32 // [tileFloats]: up to tilePanels rows of a panel, what packing widens, or queries
	low       []float32 // [rowBlock][Panel], with adapters
	norm      []float32 // [hiddenWidth], of a single token
	own       input     // a single row: norm, or another one that it packs for itself
	expertIn  input     // the rows of an expert
	expertAct input     // likewise
	attention attention
	best      best
	sampler   *sampling.Sampler
}

func newStep(c *Config, d dims, set *kernels.Set, p *pool.Pool) *step {
	s := &step{
		dims: d, config: c, kernels: set, pool: p, clock: newClock(c),
		tokens:   make([]token, 0, c.MaxTokens),
		samples:  make([]sample, 0, c.MaxTokens+c.MaxSlots),
		greedy:   make([]sample, 0, c.MaxSlots),
		order:    make([]int32, 0, c.MaxSlots),
		lowWidth: c.lowWidth(&d),
		workers:  make([]worker, c.Threads),
		nextHead: make([]atomic.Int32, d.layers),
		packs:    c.packs(),

		residualScale: float32(c.Model.ResidualScale),
		alone:         aloneBytes,
		spanLen:       d.spanTokens(),
	}
	s.compute, s.copy, s.packPart = s.work, s.copyParts, s.packSome
	if c.MaxAdapters > 0 {
		s.runs = make([]run, 0, c.MaxTokens)
	}
	s.qScale, s.scoreTop = scoreScale(c.Model)
	s.rotations = rotations(c.Model)
	s.newSpans()
	for i := range s.workers {
		s.workers[i].sampler = sampling.NewSampler(c.Model.Vocab)
		s.workers[i].sampler.Use(passes(set))
	}
	return s
}

// cutWork cuts the activations out of a, in the sizes that workBytes sums.
func (s *step) cutWork(a *area) {
	n := s.config.MaxTokens
	s.x = cut[float32](a, n*s.hiddenWidth)
	s.norm = cutInput(a, s.packs, n, s.hiddenWidth)
	s.qkv = cut[float32](a, n*s.qkvWidth)
	s.attn = cutInput(a, s.packs, n, s.attnWidth)
	s.act = cutInput(a, s.packs, n, s.interWidth)
	s.act.late = s.packs == packGroups
	s.attn.late = s.act.late || s.packs == packBlocks && s.group*s.headDim%kernels.Block != 0
	s.cutRotations(a)
	if s.config.Model.Norms != model.NormBefore {
		s.out = cut[float32](a, n*s.hiddenWidth)
	}
	s.mixture = s.cutMixture(a)
	s.low = cut[float32](a, n*s.lowWidth)
	s.split = cut[float32](a, s.config.splitFloats(&s.dims))
	head := s.config.headRows()
	s.headIn = cutInput(a, s.packs, head, s.hiddenWidth)
	s.logits = cut[float32](a, head*s.headWidth)
	if s.config.Ranks != nil {
		s.whole = cut[float32](a, head*s.vocab)
		s.shared.room = s.config.Ranks.Room()
	}
	for i := range s.workers {
		s.workers[i].tile = cut[float32](a, tileFloats(s.config.Model, &s.dims))
		s.workers[i].norm = cut[float32](a, s.hiddenWidth)
		s.workers[i].own.packed = cut[byte](a, s.packs.bytes(1, s.widest()))
		if s.lowWidth > 0 {
			s.workers[i].low = cut[float32](a, rowBlock*kernels.Panel)
		}
		s.workers[i].attention = s.cutAttention(a)
	}
}
