package sched

import (
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

// sim runs the scheduler with the real books and the ECHO executor, in one
// goroutine: every message of a step is a call, and the test says when each arrives.
type sim struct {
	t      failer
	core   *Scheduler
	blocks *blockmgr.Manager
	echo   *executor.Echo

	asked   *blockmgr.Reserve // sent to blocks, not answered
	host    *blockmgr.Host
	moving  []*blockmgr.Swap // sent to the ledger, in order
	answer  blockmgr.Reserved
	windows []int
	running []*executor.Batch

	onBatch  func(*executor.Batch)
	prompts  map[Key][]int32
	got      map[Key][]int32
	ends     map[Key]Finish
	limits   map[Key]int
	dropped  map[Key]bool
	preempt  map[Key]int32
	order    []Key // in order of ending
	cached   map[Key]int32
	computed int32 // tokens in all rows
	copies   int   // of blocks
}

// failer is what testing.T and rapid.T share.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

type simConfig struct {
	page, blocks, slots, tokens, depth, margin, host, reads int
	sharing                                                 bool
	policy                                                  Policy

	windows []int // a cache group each, 0: full; none: one full group of blocks
	sizes   []int // blocks of each; none: blocks
	sectors int   // the groups share these, of sizes blocks each
}

// cache is the geometry of the books.
func (c simConfig) cache() blockmgr.Config {
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
func (c simConfig) longest() int { return min(c.cache().Longest(), 20*c.page+c.tokens) }

func newSim(t failer, c simConfig) *sim {
	cache := c.cache()
	books := blockmgr.New(cache)
	var empty blockmgr.Reserved
	if err := books.Reserve(new(blockmgr.Reserve), &empty); err != nil {
		t.Fatal(err)
	}
	return &sim{t: t, windows: cache.Window,
		core:   New(Config{Policy: c.policy, MaxTokens: c.tokens, MaxSlots: c.slots, PageSize: c.page, Blocks: empty.Free, Depth: c.depth, Sharing: c.sharing, Margin: c.margin, Host: c.host, MaxReads: c.reads}),
		blocks: books,
		host:   blockmgr.NewHost(slices.Repeat([]int{c.host}, len(cache.Window))),
		echo: executor.NewEcho(executor.EchoConfig{PageSize: c.page, Blocks: slices.Max(cache.Blocks) * max(1, c.sectors), Slots: c.slots, Tokens: c.tokens, Context: c.longest() + 1,
			HostBlocks: c.host, Outstanding: c.depth, Windows: cache.Window}),
		prompts: map[Key][]int32{}, got: map[Key][]int32{}, ends: map[Key]Finish{}, limits: map[Key]int{}, dropped: map[Key]bool{}, preempt: map[Key]int32{}, cached: map[Key]int32{}}
}

func (s *sim) submit(k Key, prompt []int32, maxNew int, eos ...int32) {
	s.submitAs(0, k, prompt, maxNew, eos...)
}

// submitN submits n sequences of one prompt under the keys from k on.
func (s *sim) submitN(n int, k Key, prompt []int32, maxNew int) {
	for i := range Key(n) {
		s.prompts[k+i], s.limits[k+i] = slices.Clone(prompt), maxNew
	}
	if err := s.core.Submit(Submit{Key: k, N: int32(n), IDs: slices.Clone(prompt), MaxNew: int32(maxNew)}); err != nil {
		s.t.Fatal(err)
	}
	s.plan()
}

func (s *sim) submitAs(priority int32, k Key, prompt []int32, maxNew int, eos ...int32) {
	s.prompts[k], s.limits[k] = slices.Clone(prompt), maxNew
	if err := s.core.Submit(Submit{Key: k, Priority: priority, IDs: slices.Clone(prompt), MaxNew: int32(maxNew), EOS: eos}); err != nil {
		s.t.Fatal(err)
	}
	s.plan()
}

func (s *sim) cancel(k Key) {
	if s.ends[k] == Running && s.prompts[k] != nil {
		s.dropped[k] = true
	}
	s.core.Cancel(k)
	s.plan()
}

func (s *sim) plan() {
	if m := s.core.Swap(); m != nil {
		s.moving = append(s.moving, m)
	}
	if r := s.core.Plan(); r != nil {
		if s.asked != nil {
			s.t.Fatal("two Reserves are out")
		}
		s.asked = r
	}
}

// answerReserve lets blocks answer, and hands over what comes of it.
func (s *sim) answerReserve() {
	if err := s.blocks.Reserve(s.asked, &s.answer); err != nil {
		s.t.Fatal(err)
	}
	s.asked = nil
	if err := s.blocks.Check(); err != nil {
		s.t.Fatal(err)
	}
	b, err := s.core.Reserved(&s.answer)
	if err != nil {
		s.t.Fatal(err)
	}
	s.handOver(b)
	s.plan()
}

// answerSwap lets the ledger do what it was asked first, and answer if something moves.
func (s *sim) answerSwap() {
	m := s.moving[0]
	s.moving = s.moving[1:]
	var answer blockmgr.Swapped
	if err := s.host.Swap(m, &answer); err != nil {
		s.t.Fatal(err)
	}
	if len(m.Out)+len(m.In) == 0 {
		return
	}
	b, err := s.core.Swapped(&answer)
	if err != nil {
		s.t.Fatal(err)
	}
	s.handOver(b)
	s.plan()
}

func (s *sim) handOver(b *executor.Batch) {
	if b != nil {
		if err := s.echo.Start(b); err != nil {
			s.t.Fatal(err)
		}
		s.running = append(s.running, b)
		if s.onBatch != nil {
			s.onBatch(b)
		}
		for _, row := range b.Rows {
			s.computed += row.Count
		}
		s.copies += len(b.Copies)
	}
}

// finishStep runs the oldest batch and delivers its tokens.
func (s *sim) finishStep() {
	var res executor.Result
	if err := s.echo.Finish(&res); err != nil {
		s.t.Fatal(err)
	}
	s.running = s.running[1:]
	var tokens Tokens
	if err := s.core.StepDone(&res, &tokens); err != nil {
		s.t.Fatal(err)
	}
	for _, it := range tokens.Items {
		if s.ends[it.Key] != Running || s.dropped[it.Key] {
			s.t.Fatalf("request %d gets something after its end", it.Key)
		}
		s.got[it.Key] = append(s.got[it.Key], it.IDs...)
		s.ends[it.Key], s.preempt[it.Key], s.cached[it.Key] = it.Finish, it.Preemptions, it.Cached
		if it.Finish != Running {
			s.order = append(s.order, it.Key)
		}
	}
	s.plan()
}

// step moves on by one message, the answer of blocks before the result of a step; false: nothing to do.
func (s *sim) step() bool {
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

func (s *sim) drain() {
	for n := 0; s.step(); n++ {
		if n > 1_000_000 {
			s.t.Fatal("the scheduler does not come to rest")
		}
	}
}

// check holds what came out against the plain function, and wants everything given back.
func (s *sim) check() {
	s.t.Helper()
	for k, prompt := range s.prompts {
		want := executor.EchoRef(prompt, s.limits[k], 50021, 1, s.windows...)
		if s.dropped[k] {
			if !slices.Equal(s.got[k], want[:len(s.got[k])]) {
				s.t.Errorf("request %d, cancelled: got %v, want a start of %v", k, s.got[k], want)
			}
			continue
		}
		if s.ends[k] != Length || !slices.Equal(s.got[k], want) {
			s.t.Errorf("request %d ended %v with %v, want %v", k, s.ends[k], s.got[k], want)
		}
	}
	waiting, started := s.core.Load()
	if waiting+started != 0 || !s.core.Quiet() {
		s.t.Errorf("%d requests wait and %d are started at the end", waiting, started)
	}
	if len(s.core.slots) != s.core.cfg.MaxSlots {
		s.t.Errorf("%d of %d slots are free at the end", len(s.core.slots), s.core.cfg.MaxSlots)
	}
	if s.answer.Free != s.core.cfg.Blocks {
		s.t.Errorf("%d of %d blocks are free at the end", s.answer.Free, s.core.cfg.Blocks)
	}
	if s.core.host != s.core.cfg.Host || s.host.Free() != s.core.cfg.Host {
		s.t.Errorf("%d of %d host blocks are free at the end, the scheduler counts %d", s.host.Free(), s.core.cfg.Host, s.core.host)
	}
	if len(s.core.byKey) != 0 {
		s.t.Errorf("%d keys are left at the end", len(s.core.byKey))
	}
}

func prompt(n, salt int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32((i*7919 + salt*104729 + 17) % 50021)
	}
	return p
}

func (c simConfig) String() string {
	return fmt.Sprintf("page %d, %d blocks, %d slots, %d tokens, depth %d, windows %v, sizes %v, sectors %d", c.page, c.blocks, c.slots, c.tokens, c.depth, c.windows, c.sizes, c.sectors)
}
