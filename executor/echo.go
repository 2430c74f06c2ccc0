package executor

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrEcho is the class of a cache that Echo found wrong. It fails the whole step:
// somebody gave a slot blocks that are not its own.
var ErrEcho = errors.New("echo: wrong cache")

// EchoConfig is the size of an Echo. A zero field takes its default.
type EchoConfig struct {
	Vocab       int // 50,021, a prime
	PageSize    int // 16
	Blocks      int // 8
	Slots       int // 16
	Tokens      int // 64 a step
	Context     int // what the blocks hold
	Outstanding int // 1
	HostBlocks  int // 0: no host pool

	// Delay, if set, is called by Finish before the step runs. It may wait.
	Delay func(b *Batch)
	// Fail, if set, is asked when a row samples, with the sequence's ids. An
	// error fails that row alone, as unusable logits do in a model.
	Fail func(ids []int32) error
}

// Echo is an Executor without a model. Its cache is real: a KV slot holds the
// token, position and weight epoch that were written there, and a token is
//
//	next = Σ (token_i+1)·(i+1)·(1+epoch_i) mod Vocab, i = 0 … last position
//
// over what a slot's block table leads to. So a block that is wrong, stale or
// not written changes the output; what is certainly wrong is an ErrEcho at once.
// Its host pool is as real: a block that a CopyIn has read is as if never written.
// A row that is not greedy adds its key's uniform number times Vocab.
type Echo struct {
	config EchoConfig
	check  *Checker
	cache  echoCache
	slots  []echoSlot
	queue  chan *Batch // holds Outstanding
	closed chan struct{}
	close  sync.Once
	failed error // a step that failed leaves sequences without their tokens: none runs after it
}

// NewEcho makes an Echo.
func NewEcho(config EchoConfig) *Echo {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&config.Vocab, 50021}, {&config.PageSize, 16}, {&config.Blocks, 8}, {&config.Slots, 16},
		{&config.Tokens, 64}, {&config.Outstanding, 1},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	if config.Context == 0 {
		config.Context = config.Blocks * config.PageSize
	}
	e := &Echo{
		config: config,
		cache:  newEchoCache(&config),
		slots:  make([]echoSlot, config.Slots),
		queue:  make(chan *Batch, config.Outstanding),
		closed: make(chan struct{}),
	}
	e.check = NewChecker(e.Info())
	pages := (config.Context + config.PageSize - 1) / config.PageSize
	for i := range e.slots {
		e.slots[i] = echoSlot{ids: make([]int32, 0, config.Context), table: make([]int32, pages)}
	}
	return e
}

// Info implements Executor.
func (e *Echo) Info() Info {
	return Info{
		Name:           "echo",
		PageSize:       e.config.PageSize,
		Groups:         []Group{{Blocks: e.config.Blocks, Host: e.config.HostBlocks}},
		MaxSlots:       e.config.Slots,
		MaxTokens:      e.config.Tokens,
		MaxContext:     e.config.Context,
		Vocab:          e.config.Vocab,
		MaxOutstanding: e.config.Outstanding,
	}
}

// Start implements Executor.
func (e *Echo) Start(b *Batch) error {
	select {
	case <-e.closed:
		return ErrClosed
	default:
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

// EchoRef is what an Echo of that vocabulary generates greedily after prompt in
// weight epoch epoch: the truth that a run through blocks is compared with.
func EchoRef(prompt []int32, n, vocab int, epoch uint32) []int32 {
	ids := append([]int32(nil), prompt...)
	for range n {
		sum := uint64(0)
		for i, id := range ids {
			sum = (sum + echoTerm(id, i, epoch, uint64(vocab))) % uint64(vocab)
		}
		ids = append(ids, int32(sum))
	}
	return ids[len(prompt):]
}

// echoTerm is (id+1)·(i+1)·(1+epoch) mod vocab.
func echoTerm(id int32, i int, epoch uint32, vocab uint64) uint64 {
	return uint64(id+1) * uint64(i+1) % vocab * ((1 + uint64(epoch)) % vocab) % vocab
}
