package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sched"
)

// ErrLoad is the class of a load that cannot run with a Config.
var ErrLoad = errors.New("the load does not fit")

// Vocabularies of the tokens: a large prime, and for ids above it a larger one, which
// every id but the last is below.
const (
	vocab     = 50021
	wideVocab = 1<<31 - 1
)

// Config is what runs a load.
type Config struct {
	Sched sched.Config
	Costs Costs
}

// Costs is how long a step takes in virtual seconds: Step, and Token and Read for
// each token computed and each cache position read, Copy for each block copied. With
// Sched.Overlap, copies from the host pool run beside the rows.
type Costs struct{ Step, Token, Read, Copy float64 }

// copyCost is executor.Info's: a token's part of a block, copied out and in. It is
// infinite where tokens cost nothing.
func (c Costs) copyCost(pageSize int) float64 {
	if c.Copy == 0 {
		return 0
	}
	return 2 * c.Copy / (float64(pageSize) * c.Token)
}

// run is the state of a simulation.
type run struct {
	core    *sched.Scheduler
	blocks  *blockmgr.Manager
	host    *blockmgr.Host
	echo    *executor.Echo
	costs   Costs
	overlap bool
	load    []Request
	next    int // of load, to arrive
	now     float64
	flight  []*executor.Batch
	result  executor.Result
	tokens  sched.Tokens
	answer  blockmgr.Reserved
	moved   blockmgr.Swapped
	request []track // by key
	open    int
	total   int // blocks
	vocab   int
	report  *Report
}

// track follows one request.
type track struct {
	got         []int32
	first       float64 // when its first token came
	cached      int32
	preemptions int32
}

// check finds the longest request and the vocabulary of a load, and refuses what can
// never run.
func check(c sched.Config, load []Request) (longest, ids int, err error) {
	ids, capacity := vocab, c.Blocks*c.PageSize+1 // the last token needs no place
	for i, q := range load {
		if q.MaxNew > capacity || len(q.Prompt)+q.MaxNew > capacity {
			return 0, 0, fmt.Errorf("%w: request %d has %d prompt tokens and %d to generate, the cache has room for %d: give it more blocks",
				ErrLoad, i+1, len(q.Prompt), q.MaxNew, capacity-1)
		}
		longest = max(longest, len(q.Prompt)+q.MaxNew)
		for _, id := range q.Prompt {
			if id < 0 || id >= wideVocab {
				return 0, 0, fmt.Errorf("%w: request %d has the token id %d: they are from 0 to %d", ErrLoad, i+1, id, wideVocab-1)
			}
			if id >= vocab {
				ids = wideVocab
			}
		}
	}
	return longest, ids, nil
}

// Run simulates a load to its end. An error that is no ErrLoad is a bug of the
// scheduler or the books.
func Run(cfg Config, load []Request) (*Report, error) {
	c := cfg.Sched
	c.CopyCost = cfg.Costs.copyCost(c.PageSize)
	longest, ids, err := check(c, load)
	if err != nil {
		return nil, err
	}
	r := &run{core: sched.New(c), blocks: blockmgr.New(blockmgr.Config{PageSize: c.PageSize, Blocks: []int{c.Blocks}, Slots: c.MaxSlots, Sharing: c.Sharing}),
		host: blockmgr.NewHost([]int{c.Host}), costs: cfg.Costs, overlap: c.Overlap, load: load, request: make([]track, len(load)+1), total: c.Blocks, vocab: ids, report: &Report{Requests: len(load)},
		echo: executor.NewEcho(executor.EchoConfig{Vocab: ids, PageSize: c.PageSize, Blocks: c.Blocks, HostBlocks: c.Host, Slots: c.MaxSlots, Tokens: c.MaxTokens, Context: longest + 1, Outstanding: c.Depth, CopyCost: c.CopyCost, Overlap: c.Overlap})}
	r.core.Resume()
	err = r.loop()
	if closing := r.echo.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	r.finish()
	return r.report, nil
}

// loop lets requests arrive and steps run until all have ended.
func (r *run) loop() error {
	for r.next < len(r.load) || r.open > 0 {
		if err := r.arrive(); err != nil {
			return err
		}
		if err := r.plan(); err != nil {
			return err
		}
		switch {
		case len(r.flight) > 0:
			if err := r.step(); err != nil {
				return err
			}
		case r.next < len(r.load):
			r.now = r.load[r.next].Arrive
		case r.open > 0:
			return fmt.Errorf("sim: %d requests are open and nothing is planned", r.open)
		}
	}
	return r.plan() // what ended last is released
}

func (r *run) arrive() error {
	for r.next < len(r.load) && r.load[r.next].Arrive <= r.now {
		q := &r.load[r.next]
		r.next++
		r.open++
		if err := r.core.Submit(sched.Submit{Key: sched.Key(r.next), IDs: append([]int32(nil), q.Prompt...), MaxNew: int32(q.MaxNew), Priority: int32(q.Priority)}); err != nil {
			return err
		}
	}
	return nil
}

// plan exchanges the messages of scheduler, blocks and swap until nothing is left to say.
func (r *run) plan() error {
	for {
		if m := r.core.Swap(); m != nil {
			if err := r.swap(m); err != nil {
				return err
			}
		}
		q := r.core.Plan()
		if q == nil {
			return nil
		}
		if err := r.blocks.Reserve(q, &r.answer); err != nil {
			return err
		}
		b, err := r.core.Reserved(&r.answer)
		if err != nil {
			return err
		}
		if err := r.start(b); err != nil {
			return err
		}
	}
}

func (r *run) swap(m *blockmgr.Swap) error {
	if err := r.host.Swap(m, &r.moved); err != nil {
		return err
	}
	if len(m.Out)+len(m.In) == 0 {
		return nil
	}
	b, err := r.core.Swapped(&r.moved)
	if err != nil {
		return err
	}
	for _, c := range r.moved.Copies {
		if c.Out {
			r.report.SwappedOut++
		} else {
			r.report.SwappedIn++
		}
	}
	return r.start(b)
}

func (r *run) start(b *executor.Batch) error {
	if b == nil {
		return nil
	}
	r.flight = append(r.flight, b)
	return r.echo.Start(b)
}

// step runs the oldest batch and lets its time pass.
func (r *run) step() error {
	b := r.flight[0]
	r.flight = r.flight[1:]
	r.now += r.time(b)
	for i := range b.Rows {
		r.report.Computed += int(b.Rows[i].Count)
	}
	r.report.Steps++
	r.result.Reset()
	if err := r.echo.Finish(&r.result); err != nil {
		return err
	}
	r.tokens.Reset()
	if err := r.core.StepDone(&r.result, &r.tokens); err != nil {
		return err
	}
	for i := range r.tokens.Items {
		r.take(&r.tokens.Items[i])
	}
	waiting, started := r.core.Load()
	r.report.sample(Sample{At: r.now, Used: r.total - r.answer.Free, Waiting: waiting, Running: started})
	return r.report.bad
}

// time is how long a batch takes.
func (r *run) time(b *executor.Batch) float64 {
	before, beside, rows := 0.0, 0.0, 0.0
	for _, c := range b.Copies {
		if r.overlap && c.Kind == executor.CopyIn {
			beside += r.costs.Copy
		} else {
			before += r.costs.Copy
		}
	}
	for i := range b.Rows {
		row := &b.Rows[i]
		rows += float64(row.Count) * (r.costs.Token + r.costs.Read*float64(row.Start+row.Count))
	}
	return r.costs.Step + before + max(beside, rows)
}

func (r *run) take(it *sched.Item) {
	t := &r.request[it.Key]
	if len(t.got) == 0 {
		t.first = r.now
	}
	t.got = append(t.got, it.IDs...)
	t.cached, t.preemptions = it.Cached, it.Preemptions
	if it.Finish == sched.Running {
		return
	}
	r.open--
	q := &r.load[it.Key-1]
	want := executor.EchoRef(q.Prompt, q.MaxNew, r.vocab, 1)
	if r.report.bad == nil && (it.Err != nil || !slices.Equal(t.got, want)) {
		r.report.bad = fmt.Errorf("sim: request %d got other tokens than alone (%d of %d): %v", it.Key, len(t.got), len(want), it.Err)
	}
	r.report.ended(len(q.Prompt), len(t.got), t.first-q.Arrive, r.now-q.Arrive, t)
	t.got = nil
}

func (r *run) finish() {
	r.report.Seconds = r.now
	r.report.Blocks = r.total
}
