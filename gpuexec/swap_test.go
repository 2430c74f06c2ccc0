package gpuexec

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// TestBlocksGoOutAndIn lets a sequence's blocks go to the host, while another one writes over them in the
// same step, and come back, to where rows of the step before wrote, while that one decodes. In staging memory
// there is room for one block at a time. The stream of copies is as late as it may be, and as early.
func TestBlocksGoOutAndIn(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	const steps = 6
	prompt, other := make([]int32, 20), make([]int32, 23)
	for i := range prompt {
		prompt[i] = int32(11*i + 3)
	}
	for i := range other {
		other[i] = int32(100 - 3*i)
	}
	run := func(swapped, early bool) (out [2][]int32) {
		c := graphed(emulated(t), m, set, all)
		c.HostBlocks, c.MaxSlots = 4, 4
		e := start(t, c)
		if e.swap.places != 4 || !e.Info().Overlap {
			t.Fatalf("%d blocks are on their way at a time, and copies overlap: %t", e.swap.places, e.Info().Overlap)
		}
		e.swap.places = 1
		var list [steps]executor.Batch
		for i := range list {
			list[i].Step, list[i].Epoch = uint64(i+1), 1
		}
		row := func(b *executor.Batch, s executor.Slot, from, n int) {
			b.Rows = append(b.Rows, executor.Row{Slot: s, Start: int32(from), Count: int32(n), Sample: true, Mask: -1})
		}
		admit := func(b *executor.Batch, s executor.Slot, ids []int32, n int, blocks ...int32) {
			b.Admit = append(b.Admit, executor.Admit{Slot: s, IDs: ids, PromptLen: int32(n), Parent: executor.NoSlot})
			b.Tables = append(b.Tables, executor.Table{Slot: s, Blocks: blocks})
		}
		admit(&list[0], 0, prompt, 20, 0, 1, 2)
		row(&list[0], 0, 0, 20)
		theirs := []int32{1, 2, 0}
		if swapped {
			for i := range int32(3) {
				list[1].Copies = append(list[1].Copies, executor.Copy{Kind: executor.CopyOut, From: i, To: 3 - i})
				list[2].Copies = append(list[2].Copies, executor.Copy{Kind: executor.CopyIn, From: 3 - i, To: 4 + i})
			}
			list[1].Retire = []executor.Slot{0}
		} else {
			theirs = []int32{7, 8, 3}
		}
		admit(&list[1], 1, other, 23, theirs...)
		row(&list[1], 1, 0, 23)
		admit(&list[1], 3, other[:9], 9, 4, 5)
		list[1].Rows = append(list[1].Rows, executor.Row{Slot: 3, Count: 9, Mask: -1})
		list[1].Retire = append(list[1].Retire, 3)
		row(&list[2], 1, 23, 1)
		finish := func() {
			var r executor.Result
			if err := e.Finish(&r); err != nil || r.Err != nil {
				t.Fatal(err, r.Err)
			}
			for _, row := range r.Rows {
				out[row.Slot%2] = append(out[row.Slot%2], row.Tokens...)
			}
		}
		for i := range list {
			if i > 1 {
				finish()
			}
			if slot := executor.Slot(0); i >= 3 {
				if swapped {
					slot = 2
				}
				if swapped && i == 3 {
					admit(&list[i], slot, append(slices.Clone(prompt), out[0][0]), 20, 4, 5, 6)
				}
				row(&list[i], slot, 20+i-3, 1)
			}
			if err := e.Start(&list[i]); err != nil {
				t.Fatal(err)
			}
			if early {
				copyNow(t, e)
			}
		}
		finish()
		finish()
		return out
	}
	want := run(false, false)
	for _, early := range []bool{false, true} {
		if got := run(true, early); !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) || len(got[0]) != 4 {
			t.Errorf("swapped %v, not swapped %v; the copies are early: %t", got, want, early)
		}
	}
}

// copyNow lets all copies be done that a launched step has enqueued, and what they wait for.
func copyNow(t *testing.T, e *Executor) {
	t.Helper()
	e.mu.Lock()
	for len(e.queue) > 0 {
		e.changed.Wait()
	}
	e.mu.Unlock()
	if err := e.besides(e.swap.stream.Synchronize); err != nil {
		t.Fatal(err)
	}
}
