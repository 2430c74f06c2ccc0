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
	ledger *ledger // nil: not a single full group
	host   *blockmgr.Host
	bug    bug // planted, none by default

	asked    *blockmgr.Reserve // sent to the books, not answered
	decoding []*seq            // when it was asked
	oldest   *seq              // of the started, if it was decoding and nothing in flight, else nil
	news     bool              // something happened since it was asked
	answer   blockmgr.Reserved
	found    []int32           // per slot: tokens found in shared blocks when it started
	moving   []*blockmgr.Swap  // sent to the host ledger, in order
	running  []*executor.Batch // handed over, oldest first
	handed   *executor.Batch   // by the last answer, nil: none
	tokens   Tokens            // of the last result
	onBatch  func(*executor.Batch)

	serving Commit // the last, in force or not
	loaded  uint32 // the oldest epoch that is

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
	page, blocks, slots, tokens, depth, host, reads int
	margin                                          float64
	sharing                                         bool
	policy                                          Policy
	failing                                         bool // some rows fail, see fails
	copyCost                                        float64
	overlap                                         bool

	windows []int // a cache group each, 0: full; none: one full group of blocks
	sizes   []int // blocks of each; none: blocks
	sectors int   // the groups share these, of sizes blocks each
}

// cache is the geometry of the books.
func (c *simConfig) cache() blockmgr.Config {
	windows, sizes := c.windows, c.sizes
	if windows == nil {
		windows = []int{0}
	}
	if sizes == nil {
		sizes = slices.Repeat([]int{c.blocks}, len(windows))
	}
	return blockmgr.Config{PageSize: c.page, Blocks: sizes, Sectors: c.sectors, PerSector: sizes, Window: windows, Chunk: c.tokens, Slots: c.slots, Sharing: c.sharing}
}

// longest is how many positions the cache holds, or as many as a test wants.
func (c *simConfig) longest() int { return min(c.cache().Longest(), 4096) }

func newSim(t failer, c simConfig) *sim {
	var fail func([]int32) error
	if c.failing {
		fail = fails
	}
	cache := c.cache()
	books := blockmgr.New(cache)
	var empty blockmgr.Reserved
	if err := books.Reserve(new(blockmgr.Reserve), &empty); err != nil {
		t.Fatal(err)
	}
	s := &sim{t: t, config: c,
		core:  New(Config{Policy: c.policy, MaxTokens: c.tokens, MaxSlots: c.slots, PageSize: c.page, Blocks: empty.Free, Depth: c.depth, Sharing: c.sharing, Margin: c.margin, Host: c.host, MaxReads: c.reads, CopyCost: c.copyCost, Overlap: c.overlap}),
		books: books,
		host:  blockmgr.NewHost(slices.Repeat([]int{c.host}, len(cache.Window))),
		echo: executor.NewEcho(executor.EchoConfig{Vocab: vocab, PageSize: c.page, Blocks: slices.Max(cache.Blocks), Slots: c.slots, Tokens: c.tokens, Context: c.longest() + 1,
			Sectors: c.sectors, PerSector: cache.PerSector, HostBlocks: c.host, CopyCost: c.copyCost, Overlap: c.overlap, Outstanding: c.depth, Fail: fail, Windows: cache.Window, Sets: 1000}),
		serving: Commit{Epoch: 1}, loaded: 1, all: map[Key]*outcome{}, found: make([]int32, c.slots)}
	if c.windows == nil {
		s.ledger = newLedger(t, c.page, c.blocks, c.host)
	}
	return s
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
		s.all[r.Key+Key(child)] = alone(r, child, s.config.failing, s.config.windows...)
		s.all[r.Key+Key(child)].claims.before = s.serving
	}
	r.IDs, s.news = slices.Clone(r.IDs), true
	if err := s.core.Submit(r); err != nil {
		s.t.Fatal(err)
	}
	s.plan()
}

func (s *sim) cancel(k Key) { s.drop(k, "cancelled") }

// drop is intake ending a request, for whatever reason.
func (s *sim) drop(k Key, why string) {
	if o := s.all[k]; o != nil && o.end == Running && o.dropped == "" {
		o.dropped = why
	}
	s.news = true
	s.core.Cancel(k)
	s.plan()
}

func (s *sim) pause() {
	s.core.Pause()
	s.plan()
}

// giveUpAll empties the cache, if nothing is in flight.
func (s *sim) giveUpAll() {
	s.t.Helper()
	if !s.core.Quiet() {
		return
	}
	s.news = true
	for _, k := range s.core.GiveUpAll(nil) {
		if q := s.core.byKey[k]; q == nil || q.state != waiting && q.state != offered || q.planned != 0 {
			s.t.Fatalf("request %d was given up with all others and is %+v", k, q)
		}
	}
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
	if m := s.core.Swap(); m != nil {
		s.moving = append(s.moving, m)
	}
	r := s.core.Plan()
	s.everyoneOnce()
	s.told(s.ended())
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
	s.nobodyOlderGoes()
	s.noteFound()
	if s.ledger != nil {
		s.ledger.answered(s.asked, &s.answer)
	}
	s.asked = nil
	free, stuck := s.core.free, s.core.stuck
	b, err := s.core.Reserved(&s.answer)
	if err != nil {
		s.t.Fatal(err)
	}
	s.handed = nil
	if s.core.held == nil { // else the batch comes when the host ledger has answered
		s.handOver(b)
	}
	s.news = s.news || b != nil || s.answer.Free > free || s.core.stuck && !stuck || s.core.unread != nil // which asks for another choice
}

// answerSwap lets the host ledger do what it was asked first, and answer if
// something moves.
func (s *sim) answerSwap() {
	s.t.Helper()
	m := s.moving[0]
	s.moving = s.moving[1:]
	var answer blockmgr.Swapped
	if err := s.host.Swap(m, &answer); err != nil {
		s.t.Fatal(err)
	}
	if len(m.Out)+len(m.In) == 0 {
		return
	}
	s.bug.spoilCopies(&answer)
	b, err := s.core.Swapped(&answer)
	if err != nil {
		s.t.Fatal(err)
	}
	s.handOver(b)
	s.news = true
	s.plan()
}

// handOver gives the executor a batch, nil: none came of the plan.
func (s *sim) handOver(b *executor.Batch) {
	s.t.Helper()
	s.handed = b
	defer s.nobodyLeftOut()
	if b == nil {
		return
	}
	if err := s.echo.Start(b); err != nil {
		s.t.Fatal(err)
	}
	if s.ledger != nil {
		s.ledger.handed(b)
	}
	if s.onBatch != nil {
		s.onBatch(b)
	}
	s.processorsSee(b)
	if s.running = append(s.running, b); len(s.running) > s.config.depth {
		s.t.Fatalf("%d batches are in flight", len(s.running))
	}
	s.withinReads(b)
	for i := range b.Admit {
		s.all[s.core.bySlot[b.Admit[i].Slot].key].claims.runs = nil
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
	if s.ledger != nil {
		s.ledger.done(res.Step)
	}
	s.tokens.Reset()
	if err := s.core.StepDone(&res, &s.tokens); err != nil {
		s.t.Fatal(err)
	}
	s.bug.spoilTokens(s.core, &s.tokens)
	s.told(s.tokens.Items)
	s.plan()
}

// told gives sequences what they are told.
func (s *sim) told(items []Item) {
	s.t.Helper()
	for _, it := range items {
		if s.all[it.Key].take(it) {
			s.order = append(s.order, it.Key)
		}
		if err := s.all[it.Key].wrong; err != nil {
			s.t.Fatalf("request %d %v", it.Key, err)
		}
	}
}

// step moves on by one message, the answer of the books and of the host ledger
// before the result of a step; false: nothing is on the way.
func (s *sim) step() bool {
	s.t.Helper()
	switch {
	case s.asked != nil:
		s.answerReserve()
	case len(s.moving) > 0:
		s.answerSwap()
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
