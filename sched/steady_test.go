package sched

import (
	"testing"

	"github.com/cbactor/cbactor/executor"
)

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
	if err := h.books.Reserve(h.asked, &h.answer); err != nil {
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

// What a request allocates it allocates when it comes; a step allocates nothing.
func TestSteadyStepAllocatesNothing(t *testing.T) {
	for _, windows := range [][]int{nil, {0, 50}} {
		h := newFullHouse(t, 64, 400, windows...)
		for h.next < 3*64 { // two rounds bring tables and lists to their size
			h.step()
		}
		came := h.next
		many := func() { // one run of many steps, for AllocsPerRun rounds an average down
			for range 150 {
				h.step()
			}
		}
		if n := testing.AllocsPerRun(1, many); n > 0 {
			t.Errorf("windows %v: 150 steps allocate %v times", windows, n)
		}
		if h.next != came {
			t.Errorf("windows %v: %d requests came in between", windows, h.next-came)
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
