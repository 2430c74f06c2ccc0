package sched

import (
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// sim runs the scheduler with the real books and the ECHO executor, in one
// goroutine: every message of a step is a call, and the test says when each
// arrives. What can be judged from outside is judged after every message.
type sim struct {
	t      failer
	config simConfig
	core   *Scheduler
	books  *blockmgr.Manager
	echo   *executor.Echo
	ledger *ledger
	bug    bug // planted, none by default

	asked    *blockmgr.Reserve // sent to the books, not answered
	decoding []*seq            // when it was asked
	oldest   *seq              // of the started, if it was decoding and nothing in flight, else nil
	news     bool              // something happened since it was asked
	answer   blockmgr.Reserved
	running  []*executor.Batch // handed over, oldest first
	handed   *executor.Batch   // by the last answer, nil: none
	tokens   Tokens            // of the last result

	all    map[Key]*outcome
	order  []Key // in order of ending
	copies int   // of blocks
}

// failer is what testing.T and rapid.T share.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

type simConfig struct {
	page, blocks, slots, tokens, depth, margin int
	sharing                                    bool
	policy                                     Policy
	failing                                    bool // some rows fail, see fails
}

func newSim(t failer, c simConfig) *sim {
	var fail func([]int32) error
	if c.failing {
		fail = fails
	}
	return &sim{t: t, config: c,
		core:   New(Config{Policy: c.policy, MaxTokens: c.tokens, MaxSlots: c.slots, PageSize: c.page, Blocks: c.blocks, Depth: c.depth, Sharing: c.sharing, Margin: c.margin}),
		books:  blockmgr.New(blockmgr.Config{PageSize: c.page, Blocks: []int{c.blocks}, Slots: c.slots, Sharing: c.sharing}),
		echo:   executor.NewEcho(executor.EchoConfig{Vocab: vocab, PageSize: c.page, Blocks: c.blocks, Slots: c.slots, Tokens: c.tokens, Context: c.page*c.blocks + 1, Outstanding: c.depth, Fail: fail}),
		ledger: newLedger(t, c.page, c.blocks),
		all:    map[Key]*outcome{}}
}

// resumedSim is a sim that plans from the start.
func resumedSim(t failer, c simConfig) *sim {
	s := newSim(t, c)
	s.core.Resume()
	return s
}

// submit sends a request for one sequence.
func (s *sim) submit(k Key, prompt []int32, maxNew int, eos ...int32) {
	s.send(Submit{Key: k, IDs: prompt, MaxNew: int32(maxNew), EOS: eos})
}

func (s *sim) send(r Submit) {
	for child := range max(r.N, 1) {
		s.all[r.Key+Key(child)] = alone(r, child, s.config.failing)
	}
	r.IDs, s.news = slices.Clone(r.IDs), true
	if err := s.core.Submit(r); err != nil {
		s.t.Fatal(err)
	}
	s.plan()
}

func (s *sim) cancel(k Key) {
	if o := s.all[k]; o != nil && o.end == Running {
		o.dropped = true
	}
	s.news = true
	s.core.Cancel(k)
	s.plan()
}

func (s *sim) pause() {
	s.core.Pause()
	s.plan()
}

func (s *sim) resume() {
	s.news = true
	s.core.Resume()
	s.plan()
}

// plan asks for the next plan, as the actor does after every event.
func (s *sim) plan() {
	s.t.Helper()
	r := s.core.Plan()
	if r == nil {
		s.atRest()
		return
	}
	if s.asked != nil {
		s.t.Fatal("two Reserves are out")
	}
	s.asked = r
	s.watch(r)
}

// answerReserve lets the books answer, and hands over what comes of it.
func (s *sim) answerReserve() {
	s.t.Helper()
	s.reserved()
	s.plan()
}

func (s *sim) reserved() {
	s.t.Helper()
	s.bug.spoilQuestion(s.asked)
	if err := s.books.Reserve(s.asked, &s.answer); err != nil {
		s.t.Fatal(err)
	}
	if err := s.books.Check(); err != nil {
		s.t.Fatal(err)
	}
	s.bug.spoilAnswer(&s.answer)
	s.ledger.answered(s.asked, &s.answer)
	s.asked = nil
	free := s.core.free
	b, err := s.core.Reserved(&s.answer)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.handed = b; b != nil {
		s.handOver(b)
	}
	s.nobodyLeftOut()
	s.news = s.news || b != nil || s.answer.Free > free
}

func (s *sim) handOver(b *executor.Batch) {
	s.t.Helper()
	if err := s.echo.Start(b); err != nil {
		s.t.Fatal(err)
	}
	s.ledger.handed(b)
	if s.running = append(s.running, b); len(s.running) > s.config.depth {
		s.t.Fatalf("%d batches are in flight", len(s.running))
	}
	for _, row := range b.Rows {
		s.all[s.core.bySlot[row.Slot].key].computed += row.Count
	}
	s.copies += len(b.Copies)
}

// finishStep runs the oldest batch and delivers its tokens.
func (s *sim) finishStep() {
	s.t.Helper()
	var res executor.Result
	if err := s.echo.Finish(&res); err != nil {
		s.t.Fatal(err)
	}
	s.running, s.news = s.running[1:], true
	s.ledger.done(res.Step)
	s.tokens.Reset()
	if err := s.core.StepDone(&res, &s.tokens); err != nil {
		s.t.Fatal(err)
	}
	s.bug.spoilTokens(s.core, &s.tokens)
	for _, it := range s.tokens.Items {
		if s.all[it.Key].take(it) {
			s.order = append(s.order, it.Key)
		}
		if err := s.all[it.Key].wrong; err != nil {
			s.t.Fatalf("request %d %v", it.Key, err)
		}
	}
	s.plan()
}

// step moves on by one message, the answer of the books before the result of a
// step; false: nothing is on the way.
func (s *sim) step() bool {
	s.t.Helper()
	switch {
	case s.asked != nil:
		s.answerReserve()
	case len(s.running) > 0:
		s.finishStep()
	default:
		return false
	}
	return true
}

// computed is the number of tokens in all rows.
func (s *sim) computed() (n int32) {
	for _, o := range s.all {
		n += o.computed
	}
	return n
}

func (s *sim) drain() {
	s.t.Helper()
	for n := 0; s.step(); n++ {
		if n > 1_000_000 {
			s.t.Fatal("the scheduler does not come to rest")
		}
	}
}
