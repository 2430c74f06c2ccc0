package executor

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// ErrEcho is the class of a cache that Echo found wrong. It fails the whole step:
// somebody gave a slot blocks that are not its own.
var ErrEcho = errors.New("echo: wrong cache")

// EchoConfig is the size of an Echo. A zero field takes its default.
type EchoConfig struct {
	Vocab       int // 50,021, a prime
	PageSize    int // 16
	Blocks      int // 8 a group
	Slots       int // 16
	Tokens      int // 64 a step
	Context     int // what the blocks hold
	Outstanding int // 1
	HostBlocks  int // a group, 0: no host pool
	Adapters    int // loaded at a time, 0: none
	Sets        int // places for weight sets, one of which is taken by epoch 1; 2

	CopyCost float64 // as in Info
	Overlap  bool    // as in Info: a CopyIn is then made as late as it may be, behind the rows

	// Windows is a cache group for each entry, 0 for full attention; none is one
	// full group.
	Windows []int

	// Sectors, if set, are shared by the groups, of PerSector blocks of each; Blocks is
	// not used then.
	Sectors   int
	PerSector []int

	// Delay, if set, is called by Finish before the step runs. It may wait.
	Delay func(b *Batch)
	// Fail, if set, is asked when a row samples, with the sequence's ids. An
	// error fails that row alone, as unusable logits do in a model.
	Fail func(ids []int32) error
}

// Echo is an Executor without a model. Its cache is real: a KV slot holds the
// token, position and weight epoch that were written there, and a token is
//
//	next = Σ_g (g+1)·Σ_i (token_i+1)·(i+1)·(1+epoch_i+a) mod Vocab
//
// over the cache groups g and the positions i up to the last, but for a group with
// a window only the last Window of them, as a slot's block tables lead to them. So
// a block that is wrong, stale or not written changes the output; what is certainly
// wrong is an ErrEcho at once, also where an earlier token of the row would read it.
// Its host pool is as real: a block that a CopyIn has read is as if never written, and
// so is what a group had in a sector in which another has written since.
// a is EchoAdapter of the adapter of the sequence, whatever the epochs are.
//
// A row that is not greedy adds its key's uniform number times Vocab: temperature
// and filters are ignored, every id is as likely. Raw log-probabilities, those of
// prompts too, are EchoLogprob's.
//
// A request with anything that stands before the temperature in sampling.Params
// (Bias to Processor) is drawn by a sampling.Sampler, with EchoLogprob's values as
// logits: then nothing is ignored. That takes time in proportion to Vocab.
type Echo struct {
	config  EchoConfig
	check   *Checker
	caches  []echoCache // per group
	owner   []int       // per sector: the group that wrote there last, -1: none
	slots   []echoSlot
	loading sync.Mutex
	sets    [][]*weights.Set // per place: those that are loaded there

	queue  chan *Batch // holds Outstanding
	closed chan struct{}
	close  sync.Once
	failed error // a step that failed leaves sequences without their tokens: none runs after it

	drawn   sampling.Drawn    // of rows of which nothing is told
	sampler *sampling.Sampler // of rows with processors, made when first needed
	logits  []float32         // for it
}

// firstEpoch is that of the weights which an Echo has at first.
const firstEpoch = 1

// NewEcho makes an Echo.
func NewEcho(config EchoConfig) *Echo {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&config.Vocab, 50021}, {&config.PageSize, 16}, {&config.Blocks, 8}, {&config.Slots, 16},
		{&config.Tokens, 64}, {&config.Outstanding, 1}, {&config.Sets, 2},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	if len(config.Windows) == 0 {
		config.Windows = []int{0}
	}
	blocks := slices.Repeat([]int{config.Blocks}, len(config.Windows))
	if config.Sectors > 0 {
		for g, per := range config.PerSector {
			blocks[g] = config.Sectors * per
		}
	}
	if config.Context == 0 {
		config.Context = slices.Max(blocks) * config.PageSize
	}
	e := &Echo{
		config: config,
		slots:  make([]echoSlot, config.Slots),
		queue:  make(chan *Batch, config.Outstanding),
		closed: make(chan struct{}),
	}
	for g, w := range config.Windows {
		e.caches = append(e.caches, newEchoCache(&config, blocks[g], w))
	}
	e.owner = slices.Repeat([]int{-1}, config.Sectors)
	e.check = NewChecker(e.Info(), firstEpoch)
	e.sets = make([][]*weights.Set, config.Sets)
	e.sets[0] = []*weights.Set{{Epoch: firstEpoch}}
	pages := (config.Context + config.PageSize - 1) / config.PageSize
	for i := range e.slots {
		e.slots[i] = echoSlot{ids: make([]int32, 0, config.Context), tables: make([][]int32, len(e.caches))}
		for g := range e.caches {
			e.slots[i].tables[g] = make([]int32, pages)
		}
	}
	return e
}

// Info implements Executor.
func (e *Echo) Info() Info {
	groups := make([]Group, len(e.caches))
	for g := range groups {
		groups[g] = Group{Blocks: len(e.caches[g].step), Host: e.config.HostBlocks, Window: e.config.Windows[g]}
		if e.config.Sectors > 0 {
			groups[g].PerSector = e.config.PerSector[g]
		}
	}
	return Info{
		Name:           "echo",
		PageSize:       e.config.PageSize,
		Groups:         groups,
		Sectors:        e.config.Sectors,
		MaxSlots:       e.config.Slots,
		MaxTokens:      e.config.Tokens,
		MaxContext:     e.config.Context,
		Vocab:          e.config.Vocab,
		MaxOutstanding: e.config.Outstanding,
		MaxAdapters:    e.config.Adapters,
		MaxAdapterRank: echoRank(e.config.Adapters),
		CopyCost:       e.config.CopyCost,
		Overlap:        e.config.Overlap,
	}
}

// Start implements Executor.
func (e *Echo) Start(b *Batch) error {
	if err := e.alive(); err != nil {
		return err
	}
	if err := e.check.Check(b); err != nil {
		return err
	}
	e.queue <- b // has room, or Check had refused
	return nil
}

// Finish implements Executor. The step runs here.
func (e *Echo) Finish(r *Result) error {
	r.Reset()
	b, ok := e.oldest()
	if !ok {
		return ErrClosed
	}
	if e.config.Delay != nil {
		e.config.Delay(b)
	}
	began := time.Now()
	r.Step = b.Step
	if e.failed == nil {
		if err := e.run(b, r); err != nil {
			e.failed = fmt.Errorf("step %d: %w", b.Step, err)
		}
	}
	if e.failed != nil {
		r.Rows, r.Err = r.Rows[:0], e.failed
	}
	r.Compute = time.Since(began).Nanoseconds()
	e.check.Done(b.Step)
	return nil
}

// oldest waits for a step handed over. After Close it gives those still left.
func (e *Echo) oldest() (*Batch, bool) {
	select {
	case b := <-e.queue:
		return b, true
	case <-e.closed:
	}
	select {
	case b := <-e.queue:
		return b, true
	default:
		return nil, false
	}
}

// Close implements Executor.
func (e *Echo) Close() error {
	e.close.Do(func() { close(e.closed) })
	return nil
}

// alive answers ErrClosed after Close.
func (e *Echo) alive() error {
	select {
	case <-e.closed:
		return ErrClosed
	default:
		return nil
	}
}

// EchoRef is what an Echo of that vocabulary and those windows generates greedily
// after prompt in weight epoch epoch: the truth that a run through blocks is compared
// with. No windows are one group of full attention.
func EchoRef(prompt []int32, n, vocab int, epoch uint32, windows ...int) []int32 {
	ids := append([]int32(nil), prompt...)
	epochs := slices.Repeat([]uint32{epoch}, len(prompt)+n)
	for range n {
		ids = append(ids, EchoNext(ids, epochs, vocab, windows...))
	}
	return ids[len(prompt):]
}

// windowStart is the first position that position p attends to.
func windowStart(p, window int) int {
	if window == 0 {
		return 0
	}
	return max(0, p-window+1)
}

// echoTerm is (g+1)·(id+1)·(i+1)·(1+epoch) mod vocab.
func echoTerm(id int32, i int, epoch uint32, g int, vocab uint64) uint64 {
	return uint64(g+1) * (uint64(id+1) * uint64(i+1) % vocab) % vocab * ((1 + uint64(epoch)) % vocab) % vocab
}
