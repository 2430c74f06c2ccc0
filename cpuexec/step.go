package cpuexec

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/cpuexec/pool"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// aloneProducts takes one thread half a millisecond: with less, what threads gain
// is soon lost at a barrier when one of them has to wait for its CPU.
const aloneProducts = 4 << 20

// step is a step while it is computed: the sequences, the cache, the activations.
// Worker 0 prepares it, all workers compute, worker 0 ends it.
type step struct {
	dims
	config  *Config
	kernels *kernels.Set
	weights *packed // of the batch's epoch
	pool    *pool.Pool
	compute func(id int) // s.work, made once
	copy    func(id int) // s.copyParts, likewise

	packPart func(id int) // s.packSome, likewise
	panels   *packing     // that it fills
	packTime time.Duration

	threads int // that work at this step
	alone   int // products of weights and tokens up to which one thread computes

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

	firstGreedy int // of samples

	invFreq   []float64
	ropeScale float64
	seen      [kernels.Tile + 1][]int32 // [n]: each query head of a key head sees n positions of a tile
	qScale    float32                   // log2(e)/sqrt(headDim), folded into the rotation of q
	cos, sin  []float32                 // [token][headDim/2]

	x    []float32 // [token][hiddenWidth], the residual stream
	norm []float32 // [token][hiddenWidth]
	qkv  []float32 // [token][qkvWidth]
	attn []float32 // [token][attnWidth]
	act  []float32 // [token][interWidth]

	headIn   []float32 // [headRows][hiddenWidth]
	logits   []float32 // [headRows][vocabWidth]
	workers  []worker
	nextHead []atomic.Int32 // per layer: of tokens times key heads, the next to attend
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
	tile    []float32 // [rowBlock][2*Panel]
	low     []float32 // [rowBlock][Panel], with adapters
	scratch []float32 // of attention: states of the query heads of a key head, or scores
	sampler *sampling.Sampler
	best    best
}

func newStep(c *Config, d dims, set *kernels.Set, p *pool.Pool) *step {
	s := &step{
		dims: d, config: c, kernels: set, pool: p,
		tokens:   make([]token, 0, c.MaxTokens),
		samples:  make([]sample, 0, c.MaxTokens+c.MaxSlots),
		greedy:   make([]sample, 0, c.MaxSlots),
		order:    make([]int32, 0, c.MaxSlots),
		lowWidth: c.lowWidth(&d),
		workers:  make([]worker, c.Threads),
		nextHead: make([]atomic.Int32, d.layers),
		qScale:   queryScale(d.headDim),
		alone:    aloneProducts,
	}
	s.compute, s.copy, s.packPart = s.work, s.copyParts, s.packSome
	if c.MaxAdapters > 0 {
		s.runs = make([]run, 0, c.MaxTokens)
	}
	s.invFreq, s.ropeScale = c.Model.InvFreq()
	for n := range s.seen {
		s.seen[n] = slices.Repeat([]int32{int32(n)}, d.group)
	}
	for i := range s.workers {
		s.workers[i].sampler = sampling.NewSampler(c.Model.Vocab)
		s.workers[i].sampler.Use(passes(set))
	}
	return s
}

// cutWork cuts the activations out of a, in the sizes that workBytes sums.
func (s *step) cutWork(a *area) {
	n := s.config.MaxTokens
	s.x, s.norm = cut[float32](a, n*s.hiddenWidth), cut[float32](a, n*s.hiddenWidth)
	s.qkv = cut[float32](a, n*s.qkvWidth)
	s.attn = cut[float32](a, n*s.attnWidth)
	s.act = cut[float32](a, n*s.interWidth)
	s.cos, s.sin = cut[float32](a, n*s.headDim/2), cut[float32](a, n*s.headDim/2)
	s.low = cut[float32](a, n*s.lowWidth)
	head := s.config.headRows()
	s.headIn, s.logits = cut[float32](a, head*s.hiddenWidth), cut[float32](a, head*s.vocabWidth)
	for i := range s.workers {
		s.workers[i].tile = cut[float32](a, rowBlock*2*kernels.Panel)
		if s.lowWidth > 0 {
			s.workers[i].low = cut[float32](a, rowBlock*kernels.Panel)
		}
		s.workers[i].scratch = cut[float32](a, s.config.attentionFloats(&s.dims))
	}
}
