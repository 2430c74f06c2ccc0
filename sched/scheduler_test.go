package sched

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

func TestOneRequestRunsAlone(t *testing.T) {
	s := resumedSim(t, simConfig{page: 16, blocks: 8, slots: 4, tokens: 64, depth: 1})
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
	s := resumedSim(t, simConfig{page: 4, blocks: 32, slots: 4, tokens: 16, depth: 2})
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

func TestCancelWhereverItIs(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		for at := range 40 {
			s := resumedSim(t, simConfig{page: 4, blocks: 12, slots: 3, tokens: 8, depth: depth})
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
	s.all[2].want, s.all[2].wantEnd = s.all[2].want[:3], Failed
	s.drain()
	if s.all[2].end != Failed || len(s.all[2].got) != 3 {
		t.Errorf("ended %v with %d tokens, want a failure after 3", s.all[2].end, len(s.all[2].got))
	}
	s.check()
}

// A higher priority goes first, but not for ever: a request is passed by fewer than 64
// younger ones for each level between them, however many there are.
func TestPriorityAges(t *testing.T) {
	for level, want := range map[int32]int{1: 63, 2: 127, 0: 0, -1: 0} {
		s := resumedSim(t, simConfig{page: 16, blocks: 8, slots: 1, tokens: 16, depth: 1, policy: Priority})
		s.submit(1, prompt(3, 1), 2) // runs
		s.submit(2, prompt(3, 2), 2) // the one that is passed
		for k := Key(3); k < 203; k++ {
			s.send(Submit{Priority: level, Key: k, IDs: prompt(3, int(k)), MaxNew: 2})
		}
		s.drain()
		s.check()
		if passed := slices.Index(s.order, Key(2)) - 1; s.order[0] != 1 || passed != want {
			t.Errorf("passed by %d younger requests of %d levels more, want %d", passed, level, want)
		}
	}
}

// Thirty-two requests with one beginning that arrive together compute it once.
func TestOneBeginningIsComputedOnce(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		s := resumedSim(t, simConfig{page: 16, blocks: 512, slots: 32, tokens: 128, depth: depth, sharing: true})
		const common, own = 160, 20
		for k := range Key(32) {
			s.submit(1+k, append(prompt(common, 1), prompt(own, 2+int(k))...), 4)
		}
		s.drain()
		s.check()
		if n := s.computed(); n > common+32*(own+4) {
			t.Errorf("depth %d: %d tokens computed, the beginning of %d once and the rest is %d", depth, n, common, common+32*(own+4))
		}
		for k, o := range s.all {
			if k > 1 && o.cached != common {
				t.Errorf("depth %d: request %d has %d cached tokens, want %d", depth, k, o.cached, common)
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
			s := resumedSim(t, simConfig{page: 16, blocks: 64, slots: 8, tokens: 64, depth: depth, sharing: true})
			s.send(Submit{N: 4, Key: 1, IDs: prompt(c.prompt, 1), MaxNew: 6})
			for len(s.all[4].got) < 4 {
				s.step()
			}
			if used := 64 - s.answer.Free; used != c.used {
				t.Errorf("prompt of %d, depth %d: %d blocks are in use, want %d", c.prompt, depth, used, c.used)
			}
			if s.copies != c.copies {
				t.Errorf("prompt of %d, depth %d: %d blocks copied, want %d", c.prompt, depth, s.copies, c.copies)
			}
			if n := s.computed(); n > int32(c.prompt+4*6) {
				t.Errorf("prompt of %d, depth %d: %d tokens computed: the prompt was computed more than once", c.prompt, depth, n)
			}
			s.drain()
			s.check()
		}
	}
}

// Without slots or blocks for all, forks still finish, each with its own number.
func TestForksWhenRoomIsShort(t *testing.T) {
	for _, c := range []simConfig{{page: 4, blocks: 6, slots: 8, tokens: 16, depth: 1}, {page: 4, blocks: 64, slots: 2, tokens: 16, depth: 2}} {
		s := resumedSim(t, c)
		s.send(Submit{N: 5, Key: 1, IDs: prompt(11, 1), MaxNew: 8})
		s.submit(6, prompt(9, 2), 8)
		s.drain()
		s.check()
	}
}

// A cancelled parent takes nobody with it by itself: who cancels a request cancels its keys.
func TestCancelAParentBeforeAndAfterItForks(t *testing.T) {
	for at := range 12 {
		s := resumedSim(t, simConfig{page: 4, blocks: 64, slots: 8, tokens: 6, depth: 2})
		s.send(Submit{N: 3, Key: 1, IDs: prompt(13, 1), MaxNew: 6})
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

// B5 (vllm#14326): four sequences of one prompt, all cancelled after five tokens, a
// thousand times: nothing is left of any of them.
func TestThousandCancelledForks(t *testing.T) {
	s := resumedSim(t, simConfig{page: 16, blocks: 8, slots: 4, tokens: 64, depth: 2, sharing: true})
	for round := range Key(1000) {
		k := 1 + 4*round
		s.send(Submit{N: 4, Key: k, IDs: prompt(60+int(round%5), int(round)), MaxNew: 9})
		for len(s.all[k+3].got) < 5 {
			s.step()
		}
		for i := range Key(4) {
			s.cancel(k + i)
		}
		s.drain()
	}
	s.check()
}

// C4 (lmdeploy#1788): 500 requests, each cancelled after one to three of its tokens;
// a normal one runs afterwards as it did before.
func TestManyCancelledRequestsLeaveNothing(t *testing.T) {
	s := resumedSim(t, simConfig{page: 16, blocks: 8, slots: 4, tokens: 64, depth: 2})
	normal := func(k Key) uint64 {
		before := s.core.Step()
		s.submit(k, prompt(40, 1), 8)
		s.drain()
		return s.core.Step() - before
	}
	first := normal(1)
	for k := Key(2); k < 502; k++ {
		s.submit(k, prompt(20, int(k)), 50)
		for len(s.all[k].got) < 1+int(k%3) {
			s.step()
		}
		s.cancel(k)
	}
	s.drain()
	if last := normal(502); last != first {
		t.Errorf("a request took %d steps at first and %d after the others", first, last)
	}
	s.check()
}
