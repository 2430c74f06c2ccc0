package actors

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sampling"
)

// S6 (transformers#46117): five sequences of a prompt, with too few blocks for their
// copies and too few slots: those that cannot be forked wait in line, and each brings
// what it would bring alone.
func TestReportS6AForkWithTooFewBlocks(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 5, Slots: 3}, 2, func(r *rig) {
		all := r.add(Submit{ID: "a", IDs: promptOf(60, 1), MaxNew: 12}, 4)
		r.after(5 * time.Second)
		want := executor.EchoRef(promptOf(60, 1), 12, 50021, 1)
		for i, rec := range all {
			r.ended(fmt.Sprint("sequence ", i), rec, ReasonLength, 12)
			if !slices.Equal(rec.tokens, want) {
				t.Errorf("sequence %d: got %v, want %v", i, rec.tokens, want)
			}
		}
	})
}

// S10 (vllm#36753): who is ended under a pause hears of it at once, running or in line.
func TestReportS10ACancelUnderAPauseIsHeard(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64, Slots: 2}, 1, func(r *rig) {
		var all []*record
		for i := range 4 {
			all = append(all, r.add(Submit{ID: fmt.Sprint(i), IDs: promptOf(20, i), MaxNew: 500, Deadline: time.Duration(1+i) * time.Second}, 0)[0])
		}
		r.after(5 * stepTime)
		r.sys.Root.Send(r.scheduler, &messages.SetMode{Number: 2, Mode: messages.Mode_MODE_PAUSED})
		r.after(5 * stepTime)
		steps := r.steps()
		r.Cancel("0", nil)
		r.Cancel("2", nil)
		r.after(0)
		r.ended("one that ran", all[0], ReasonCancelled, -1)
		r.ended("one in line", all[2], ReasonCancelled, 0)
		r.after(2 * time.Second)
		r.ended("one that ran", all[1], ReasonDeadline, -1)
		r.open("one in line", all[3])
		r.after(2 * time.Second)
		r.ended("one in line", all[3], ReasonDeadline, 0)
		if r.steps() != steps {
			t.Errorf("%d steps under a pause", r.steps()-steps)
		}
	})
}

// S11 (vllm#55546): what is wrong with one request is its own: refused, a row that
// fails, a matcher that panics. The others bring every token.
func TestReportS11OneBadRequest(t *testing.T) {
	fail := func(ids []int32) error {
		if ids[0] == promptOf(1, 99)[0] && len(ids) > 22 {
			return errors.New("unusable logits")
		}
		return nil
	}
	inVirtualTime(t, executor.EchoConfig{Blocks: 64, Fail: fail}, 2, func(r *rig) {
		var good []*record
		for i := range 4 {
			good = append(good, r.add(Submit{ID: fmt.Sprint(i), IDs: promptOf(20, i), MaxNew: 20}, 0)[0])
		}
		row := r.add(Submit{ID: "row", IDs: promptOf(20, 99), MaxNew: 20}, 0)[0]
		matcher := r.add(Submit{ID: "matcher", IDs: promptOf(20, 5), MaxNew: 20, Stop: func() Matcher {
			return matchFunc(func([]int32) int { panic("no") })
		}}, 0)[0]
		for name, m := range map[string]Submit{
			"ids":      {ID: "x", IDs: []int32{-1}},
			"sampling": {ID: "x", IDs: promptOf(3, 1), Sampling: sampling.Params{Temperature: -1}},
			"matcher":  {ID: "x", IDs: promptOf(3, 1), Stop: func() Matcher { panic("no") }},
		} {
			if _, err := r.try(m, 0); !errors.Is(err, ErrRejected) {
				t.Errorf("%s: %v", name, err)
			}
		}
		r.after(time.Second)
		r.ended("the row that fails", row, ReasonFailed, 3)
		r.ended("the matcher that panics", matcher, ReasonFailed, 1)
		for i, rec := range good {
			r.ended("a good one", rec, ReasonLength, 20)
			if want := executor.EchoRef(promptOf(20, i), 20, 50021, 1); !slices.Equal(rec.tokens, want) {
				t.Errorf("got %v, want %v", rec.tokens, want)
			}
		}
	})
}
