package sched

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

func TestOneRequestRunsAlone(t *testing.T) {
	s := newSim(t, simConfig{page: 16, blocks: 8, slots: 4, tokens: 64, depth: 1})
	s.core.Resume()
	s.submit(1, prompt(40, 1), 20)
	s.drain()
	s.check()
}

func TestNothingIsPlannedBeforeResume(t *testing.T) {
	s := newSim(t, simConfig{page: 16, blocks: 8, slots: 4, tokens: 64, depth: 1})
	s.submit(1, prompt(4, 1), 2)
	s.drain()
	if s.core.Step() != 0 {
		t.Fatalf("%d steps were planned while paused", s.core.Step())
	}
	s.core.Resume()
	s.plan()
	s.drain()
	s.check()
}

func TestPauseHoldsRequestsWhereTheyAre(t *testing.T) {
	s := newSim(t, simConfig{page: 4, blocks: 32, slots: 4, tokens: 16, depth: 2})
	s.core.Resume()
	s.submit(1, prompt(9, 1), 12)
	s.submit(2, prompt(30, 2), 5)
	for range 9 {
		s.step()
	}
	s.core.Pause()
	s.drain()
	at := s.core.Step()
	s.submit(3, prompt(3, 3), 3)
	s.cancel(2)
	s.drain()
	if s.core.Step() != at {
		t.Fatal("a step was planned while paused")
	}
	s.core.Resume()
	s.plan()
	s.drain()
	s.check()
}

// A prompt is prefilled beside running decodes: the decoding request gets one token
// in every step (field report A2).
func TestDecodeGoesOnBesideLongPrompts(t *testing.T) {
	s := newSim(t, simConfig{page: 16, blocks: 512, slots: 32, tokens: 64, depth: 1})
	s.core.Resume()
	s.submit(1, prompt(5, 1), 200)
	for len(s.got[1]) < 3 {
		s.step()
	}
	for k := range 20 {
		s.submit(Key(2+k), prompt(256, 2+k), 1)
	}
	for len(s.order) < 20 {
		before, at := len(s.got[1]), s.core.Step()
		s.step()
		if len(s.got[1])-before > 1 {
			t.Fatal("two tokens in one step")
		}
		if gained := len(s.got[1]); gained+3 < int(at) {
			t.Fatalf("after %d steps the decoding request has %d tokens", at, gained)
		}
	}
	if at := s.core.Step(); at < 82 || at > 110 {
		t.Errorf("20 prompts of 256 beside one decode took %d steps, want 82 to 110", at)
	}
	s.drain()
	s.check()
}

// Requests join and leave at every step: a full house of decoders does not shut a new prompt out.
func TestPromptProgressesBesideFullHouse(t *testing.T) {
	s := newSim(t, simConfig{page: 16, blocks: 1024, slots: 64, tokens: 64, depth: 1})
	s.core.Resume()
	for k := range 63 {
		s.submit(Key(1+k), prompt(1, k), 60)
	}
	for len(s.got[63]) < 2 {
		s.step()
	}
	at := s.core.Step()
	s.submit(64, prompt(40, 64), 1)
	for len(s.got[64]) == 0 {
		s.step()
	}
	if took := s.core.Step() - at; took > 42 {
		t.Errorf("a prompt of 40 beside 63 decoders took %d steps, want at most 42", took)
	}
	s.drain()
	s.check()
}

// Two requests that together outgrow the cache: the younger is given up once, keeps
// its tokens and comes back before a later one starts (field report A4).
func TestYoungerIsGivenUpAndComesBackFirst(t *testing.T) {
	s := newSim(t, simConfig{page: 16, blocks: 8, slots: 8, tokens: 128, depth: 1})
	s.core.Resume()
	s.submit(1, prompt(60, 1), 32)
	s.submit(2, prompt(60, 2), 32)
	for s.core.Step() < 8 {
		s.step()
	}
	s.submit(3, prompt(40, 3), 4)
	s.drain()
	s.check()
	if s.preempt[1] != 0 || s.preempt[2] != 1 {
		t.Errorf("given up %d and %d times, want 0 and 1", s.preempt[1], s.preempt[2])
	}
	if s.order[0] != 1 || s.order[1] != 2 && s.order[2] != 2 {
		t.Errorf("ended in order %v", s.order)
	}
}

// The same with a host pool: nothing is computed twice, the younger one's blocks go
// out and come back once. (Field report A4, with prompts of 60: those of 64 would be
// started one after the other, as the second could not hold one token more.)
func TestYoungerGoesToTheHostAndComesBack(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		s := newSim(t, simConfig{page: 16, blocks: 8, slots: 8, tokens: 128, depth: depth, host: 8})
		s.core.Resume()
		s.submit(1, prompt(60, 1), 32)
		s.submit(2, prompt(60, 2), 32)
		s.drain()
		s.check()
		if s.preempt[2] != 1 || s.computed != 182 || s.copies != 8 {
			t.Errorf("depth %d: given up %d times, %d tokens computed, %d blocks copied, want 1, 182 and 4 out and 4 in", depth, s.preempt[2], s.computed, s.copies)
		}
	}
}

// The rows of a step read at most so many cache positions together; one row always goes.
func TestReadsOfAStepAreBounded(t *testing.T) {
	s := newSim(t, simConfig{page: 16, blocks: 64, slots: 8, tokens: 64, depth: 1, reads: 100})
	s.core.Resume()
	for k := Key(1); k <= 6; k++ {
		s.submit(k, prompt(40, int(k)), 30)
	}
	s.submit(7, prompt(200, 7), 5)
	most := 0
	s.onBatch = func(b *executor.Batch) {
		reads := 0
		for _, r := range b.Rows {
			reads += int(r.Start)
		}
		if reads > 100 && len(b.Rows) > 1 {
			t.Errorf("step %d reads %d positions in %d rows", b.Step, reads, len(b.Rows))
		}
		most = max(most, reads)
	}
	s.drain()
	s.check()
	if most < 200 {
		t.Errorf("the long request never read more than %d positions: was it run?", most)
	}
}

// Cancelled in the host pool, on the way there or on the way back: its host blocks are free again.
func TestCancelInTheHostPool(t *testing.T) {
	for at := range 140 {
		s := newSim(t, simConfig{page: 4, blocks: 8, slots: 8, tokens: 32, depth: 2, host: 8})
		s.core.Resume()
		s.submit(1, prompt(14, 1), 18)
		s.submit(2, prompt(14, 2), 18)
		for range at {
			s.step()
		}
		s.cancel(2)
		s.drain()
		s.check()
	}
}

func TestCancelWhereverItIs(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		for at := range 40 {
			s := newSim(t, simConfig{page: 4, blocks: 12, slots: 3, tokens: 8, depth: depth})
			s.core.Resume()
			for k := Key(1); k <= 5; k++ {
				s.submit(k, prompt(int(k)*3, int(k)), 10)
			}
			for range at {
				s.step()
			}
			s.cancel(Key(1 + at%5))
			s.cancel(Key(1 + at%5))
			s.cancel(99)
			s.drain()
			s.check()
		}
	}
}

func TestEndOfSequenceIsTheLastToken(t *testing.T) {
	want := executor.EchoRef(prompt(6, 1), 10, 50021, 1)
	for depth := 1; depth <= 2; depth++ {
		s := newSim(t, simConfig{page: 4, blocks: 12, slots: 3, tokens: 8, depth: depth})
		s.core.Resume()
		s.submit(1, prompt(6, 1), 10, want[3])
		s.drain()
		if s.ends[1] != Stop || len(s.got[1]) != 4 || s.got[1][3] != want[3] {
			t.Errorf("depth %d: ended %v with %v, want %v", depth, s.ends[1], s.got[1], want[:4])
		}
	}
}

// One row that fails ends its request; the others go on.
func TestFailedRowFailsItsRequestAlone(t *testing.T) {
	s := newSim(t, simConfig{page: 4, blocks: 32, slots: 3, tokens: 16, depth: 1})
	s.echo = executor.NewEcho(executor.EchoConfig{PageSize: 4, Blocks: 32, Slots: 3, Tokens: 16, Fail: func(ids []int32) error {
		if ids[0] == prompt(1, 2)[0] && len(ids) == 8 {
			return executor.ErrUnsupported
		}
		return nil
	}})
	s.core.Resume()
	s.submit(1, prompt(5, 1), 8)
	s.submit(2, prompt(5, 2), 8)
	s.drain()
	if s.ends[2] != Failed || len(s.got[2]) != 3 {
		t.Errorf("ended %v with %d tokens, want a failure after 3", s.ends[2], len(s.got[2]))
	}
	delete(s.prompts, 2)
	s.check()
}

// A higher priority goes first, but not for ever: a request is passed by at most
// AgePerLevel younger ones for each level between them.
func TestPriorityAges(t *testing.T) {
	s := newSim(t, simConfig{page: 16, blocks: 8, slots: 1, tokens: 16, depth: 1, policy: Priority})
	s.core.Resume()
	s.submitAs(0, 1, prompt(3, 1), 2) // runs
	s.submitAs(0, 2, prompt(3, 2), 2) // the one that is passed
	for k := Key(3); k < 3+3*AgePerLevel; k++ {
		s.submitAs(1, k, prompt(3, int(k)), 2)
	}
	s.drain()
	s.check()
	passed := slices.Index(s.order, Key(2)) - 1
	if s.order[0] != 1 || passed < 1 || passed > AgePerLevel {
		t.Errorf("passed by %d younger requests of a higher level, want 1 to %d", passed, AgePerLevel)
	}
}

// With prefill_first a started prompt gets the whole step, and the decoding request
// its token when the prompt is through.
func TestPrefillFirst(t *testing.T) {
	for policy, wait := range map[Policy]bool{FIFO: false, PrefillFirst: true} {
		s := newSim(t, simConfig{page: 16, blocks: 64, slots: 4, tokens: 16, depth: 1, policy: policy})
		s.core.Resume()
		s.submit(1, prompt(3, 1), 40)
		for len(s.got[1]) < 2 {
			s.step()
		}
		s.submit(2, prompt(160, 2), 1)
		for len(s.got[2]) == 0 {
			s.step()
		}
		if got := len(s.got[1]); wait != (got < 8) {
			t.Errorf("policy %d: the decoding request has %d tokens when the prompt of 160 is through", policy, got)
		}
		s.drain()
		s.check()
	}
}

// Thirty-two requests with one beginning that arrive together compute it once.
func TestOneBeginningIsComputedOnce(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		s := newSim(t, simConfig{page: 16, blocks: 512, slots: 32, tokens: 128, depth: depth, sharing: true})
		s.core.Resume()
		const common, own = 160, 20
		for k := range Key(32) {
			s.submit(1+k, append(prompt(common, 1), prompt(own, 2+int(k))...), 4)
		}
		s.drain()
		s.check()
		if s.computed > common+32*(own+4) {
			t.Errorf("depth %d: %d tokens computed, the beginning of %d once and the rest is %d", depth, s.computed, common, common+32*(own+4))
		}
		for k, c := range s.cached {
			if k > 1 && c != common {
				t.Errorf("depth %d: request %d has %d cached tokens, want %d", depth, k, c, common)
			}
		}
	}
}

// Four sequences of one prompt hold its full blocks together, and a copy of the
// last one if it is not full (field report B5: 4 + 4 blocks for 64 tokens, 3 + 4
// for 60). A prompt of one token forks too.
func TestForksShareTheirPrompt(t *testing.T) {
	for _, c := range []struct{ prompt, used, copies int }{{64, 8, 0}, {60, 7, 3}, {1, 4, 3}} {
		for depth := 1; depth <= 2; depth++ {
			s := newSim(t, simConfig{page: 16, blocks: 64, slots: 8, tokens: 64, depth: depth, sharing: true})
			s.core.Resume()
			s.submitN(4, 1, prompt(c.prompt, 1), 6)
			for len(s.got[4]) < 4 {
				s.step()
			}
			if used := 64 - s.answer.Free; used != c.used {
				t.Errorf("prompt of %d, depth %d: %d blocks are in use, want %d", c.prompt, depth, used, c.used)
			}
			if s.copies != c.copies {
				t.Errorf("prompt of %d, depth %d: %d blocks copied, want %d", c.prompt, depth, s.copies, c.copies)
			}
			if s.computed > int32(c.prompt+4*6) {
				t.Errorf("prompt of %d, depth %d: %d tokens computed: the prompt was computed more than once", c.prompt, depth, s.computed)
			}
			s.drain()
			s.check()
		}
	}
}

// Without slots or blocks for all, forks still finish, each with its own number.
func TestForksWhenRoomIsShort(t *testing.T) {
	for _, c := range []simConfig{{page: 4, blocks: 6, slots: 8, tokens: 16, depth: 1}, {page: 4, blocks: 64, slots: 2, tokens: 16, depth: 2}} {
		s := newSim(t, c)
		s.core.Resume()
		s.submitN(5, 1, prompt(11, 1), 8)
		s.submit(6, prompt(9, 2), 8)
		s.drain()
		s.check()
	}
}

// A cancelled parent takes nobody with it by itself: who cancels a request cancels its keys.
func TestCancelAParentBeforeAndAfterItForks(t *testing.T) {
	for at := range 12 {
		s := newSim(t, simConfig{page: 4, blocks: 64, slots: 8, tokens: 6, depth: 2})
		s.core.Resume()
		s.submitN(3, 1, prompt(13, 1), 6)
		for range at {
			s.step()
		}
		s.cancel(1)
		if at%2 == 1 {
			s.cancel(3)
		}
		s.drain()
		s.check()
	}
}

// fullHouse is a scheduler with n sequences decoding, whose steps are run without
// an executor: every row's token is 7. A sequence that ends makes room for a new one.
type fullHouse struct {
	*sim
	res    executor.Result
	tokens Tokens
	next   Key
	prompt []int32
	maxNew int32
}

func newFullHouse(t failer, n, maxNew int, windows ...int) *fullHouse {
	h := &fullHouse{sim: newSim(t, simConfig{page: 32, blocks: 32768, slots: n, tokens: 2 * n, depth: 1, windows: windows}), prompt: prompt(2, 1), maxNew: int32(maxNew)}
	h.core.Resume()
	for range n {
		h.join()
	}
	h.asked = h.core.Plan()
	return h
}

func (h *fullHouse) join() {
	h.next++
	if err := h.core.Submit(Submit{Key: h.next, IDs: h.prompt, MaxNew: h.maxNew}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *fullHouse) step() {
	if err := h.blocks.Reserve(h.asked, &h.answer); err != nil {
		h.t.Fatal(err)
	}
	b, err := h.core.Reserved(&h.answer)
	if err != nil {
		h.t.Fatal(err)
	}
	if b != nil {
		h.res.Reset()
		h.res.Step = b.Step
		for i := range b.Rows {
			row := h.res.Add(b.Rows[i].Slot)
			row.Tokens = append(row.Tokens, 7)
		}
		h.tokens.Reset()
		if err := h.core.StepDone(&h.res, &h.tokens); err != nil {
			h.t.Fatal(err)
		}
		for i := range h.tokens.Items {
			if h.tokens.Items[i].Finish != Running {
				h.join()
			}
		}
	}
	if h.asked = h.core.Plan(); h.asked == nil {
		h.t.Fatal("nothing to plan")
	}
}

func TestSteadyStepAllocatesNothing(t *testing.T) {
	for _, windows := range [][]int{nil, {0, 50}} {
		h := newFullHouse(t, 64, 400, windows...)
		for h.next < 3*64 { // two rounds bring tables and lists to their size
			h.step()
		}
		for range 10 {
			h.step()
		}
		if n := testing.AllocsPerRun(300, h.step); n > 0 {
			t.Errorf("windows %v: a step allocates %v times", windows, n)
		}
	}
}

// BenchmarkStep256 is planning, books and tokens of a step of 256 decoding sequences with 32k blocks.
func BenchmarkStep256(b *testing.B) {
	h := newFullHouse(b, 256, 3000)
	for range 100 {
		h.step()
	}
	b.ReportAllocs()
	for b.Loop() {
		h.step()
	}
}
