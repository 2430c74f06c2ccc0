package sched

import (
	"fmt"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// Tokens is what a step brought, for intake: all sequences of the step in one message,
// also those of which only a chunk of the prompt was computed.
// The slices of its items point into Result, which lives as long.
type Tokens struct {
	Step   uint64
	Items  []Item
	Result *executor.Result
}

// Item is one sequence's share: new tokens, and whether it ended with them.
type Item struct {
	Key         Key
	IDs         []int32
	Drawn       []sampling.Drawn // one per id, where the request's Tell asks
	Prompt      []sampling.Drawn // of the prompt's ids from the second on, as they come
	Finish      Finish
	Err         error  // with Failed
	Epoch       uint32 // of the weights that sampled IDs
	Runs        []Run  // which weights computed the Context positions before the next token. For reading
	Context     int32  // 0: nothing new is known of it
	Cached      int32  // prompt tokens found in shared blocks
	Preemptions int32  // so far
}

// Reset empties t for reuse, keeping its memory.
func (t *Tokens) Reset() {
	clear(t.Items)
	*t = Tokens{Items: t.Items[:0]}
}

// StepDone takes the result of the oldest step in flight and fills out, which owns
// the result from then on. An error means that the whole step failed: nothing can go on.
func (s *Scheduler) StepDone(res *executor.Result, out *Tokens) error {
	out.Step, out.Result = res.Step, res
	if len(s.flight) == 0 || s.flight[0].Step != res.Step {
		return fmt.Errorf("%w: a result of step %d, which is not the oldest in flight", ErrProtocol, res.Step)
	}
	b := s.flight[0]
	if res.Err != nil {
		return res.Err
	}
	if len(res.Rows) != len(b.Rows) {
		return fmt.Errorf("%w: step %d has %d rows, its result %d", ErrProtocol, res.Step, len(b.Rows), len(res.Rows))
	}
	s.flight = append(s.flight[:0], s.flight[1:]...)
	s.done = b.Step
	for i := range b.Rows {
		s.rowDone(b, &b.Rows[i], &res.Rows[i], out)
	}
	s.freeRetired()
	for len(s.leaving) > 0 && s.leaving[0].lastStep <= s.done {
		q := s.leaving[0]
		s.leaving = remove(s.leaving, q)
		s.wait(q)
	}
	b.Reset()
	b.blocks = b.blocks[:0]
	s.spare = append(s.spare, b)
	s.fresh = true
	return nil
}

// rowDone applies one row: its tokens become known, and may end the sequence.
func (s *Scheduler) rowDone(b *batch, row *executor.Row, r *executor.RowResult, out *Tokens) {
	q := s.bySlot[row.Slot]
	if q.state == ended {
		return
	}
	if row.Sample {
		q.pending--
	}
	end := row.Start + row.Count
	item := Item{Key: q.key, Epoch: b.Epoch, Runs: q.runsTo(end), Context: end, Cached: q.cached, Preemptions: q.preemptions}
	taken := 0
	if r.Err != nil {
		item.Finish, item.Err = Failed, r.Err
	} else {
		taken, item.Finish = q.accept(r.Tokens)
		item.IDs, item.Drawn = r.Tokens[:taken], r.Drawn[:min(taken, len(r.Drawn))]
		if row.PromptLogprobs {
			item.Prompt = q.hear(row.Start, r.Prompt)
		}
		if q.scored() && end == q.prompt {
			item.Finish = Length
		}
		if taken > 0 && q.first == noToken {
			q.first = b.changes
		}
		if item.Finish == Running && s.outdated(q) {
			item.Finish = Stale
		}
	}
	if q.state == started {
		s.next.Done = append(s.next.Done, blockmgr.Done{Slot: int32(row.Slot), Epoch: b.Epoch, Written: end, IDs: q.ids[len(q.ids)-taken:]})
	}
	if item.Finish != Running {
		s.end(q)
	}
	out.Items = append(out.Items, item)
}

// freeRetired gives back the slots that no step in flight names any more.
func (s *Scheduler) freeRetired() {
	kept := s.retired[:0]
	for _, r := range s.retired {
		if r.step <= s.done {
			s.freeSlot(r.slot)
		} else {
			kept = append(kept, r)
		}
	}
	s.retired = kept
}
