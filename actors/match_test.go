package actors

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/sched"
)

// matchFunc is a Matcher.
type matchFunc func(ids []int32) int

func (f matchFunc) Match(ids []int32) int { return f(ids) }

// atToken makes matchers that end a request with its nth token.
func atToken(n int) func() Matcher {
	return func() Matcher {
		left := n
		return matchFunc(func(ids []int32) int {
			if left -= len(ids); left <= 0 {
				return len(ids) + left
			}
			return -1
		})
	}
}

// A request whose matcher hits ends with exactly the tokens up to there; the steps
// that were handed over are all that still run for it, and what they bring is dropped.
func TestAMatchEndsARequest(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		inVirtualTime(t, executor.EchoConfig{Blocks: 8}, depth, func(r *rig) {
			rec := r.add(Submit{ID: "a", IDs: promptOf(64, 1), MaxNew: 50, Stop: atToken(5)}, 0)[0]
			r.after(20 * stepTime)
			r.ended("the request", rec, ReasonStop, 5)
			if want := executor.EchoRef(promptOf(64, 1), 5, 50021, 1); !slices.Equal(rec.tokens, want) || !rec.ends[0].Matched {
				t.Errorf("got %v, want %v", rec.tokens, want)
			}
			if wasted := r.steps() - 5 - 1; wasted > depth { // one retires its slot
				t.Errorf("depth %d: %d steps are wasted", depth, wasted)
			}
			all := r.add(Submit{ID: "b", IDs: promptOf(127, 2), MaxNew: 2}, 0)[0] // every block
			r.after(5 * stepTime)
			r.ended("one that needs every block", all, ReasonLength, 2)
		})
	}
}

// Every sequence has a matcher of its own.
func TestSequencesMatchEachForThemselves(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 2, func(r *rig) {
		n := 0
		stop := func() Matcher {
			n++
			return atToken(3 * n)()
		}
		for i, rec := range r.add(Submit{ID: "a", IDs: promptOf(20, 1), MaxNew: 50, Stop: stop}, 2) {
			r.after(20 * stepTime)
			r.ended("a sequence", rec, ReasonStop, 3*(i+1))
		}
	})
}

// Of a step that brings several tokens, the request gets those up to the match, with
// what was asked to be told of each; what goes wrong in a matcher is its request's
// failure alone.
func TestAMatchWithinAStep(t *testing.T) {
	for name, c := range map[string]struct {
		stop    func() Matcher
		finish  sched.Finish
		reason  Reason
		tokens  int
		matched bool
		says    string
	}{
		"the first":           {atToken(1), sched.Running, ReasonStop, 1, true, ""},
		"the third":           {atToken(3), sched.Running, ReasonStop, 3, true, ""},
		"the last":            {atToken(4), sched.Length, ReasonStop, 4, true, ""},
		"before the first":    {func() Matcher { return matchFunc(func([]int32) int { return 0 }) }, sched.Running, ReasonStop, 0, true, ""},
		"before the end":      {atToken(2), sched.Stop, ReasonStop, 2, true, ""},
		"not before the end":  {atToken(5), sched.Stop, ReasonStop, 4, false, ""},
		"not before the last": {atToken(5), sched.Length, ReasonLength, 4, false, ""},
		"a panic":             {func() Matcher { return matchFunc(func([]int32) int { panic("no") }) }, sched.Running, ReasonFailed, 4, false, "matcher panics: no"},
		"too many":            {func() Matcher { return matchFunc(func(ids []int32) int { return len(ids) + 1 }) }, sched.Running, ReasonFailed, 4, false, "wants 5 of 4"},
	} {
		inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
			rec := r.add(Submit{ID: "a", IDs: promptOf(5, 1), MaxNew: 9, Stop: c.stop}, 0)[0]
			mate := r.add(Submit{ID: "b", IDs: promptOf(5, 2), MaxNew: 9}, 0)[0]
			r.after(stepTime / 2) // the first step runs
			item := sched.Item{Key: 1, IDs: []int32{1, 2, 3, 4}, Finish: c.finish}
			for _, id := range item.IDs {
				item.Drawn = append(item.Drawn, sampling.Drawn{Logprob: sampling.Logprob{ID: id}})
			}
			r.sys.Root.Send(r.intake, ahead[sched.Tokens]{&sched.Tokens{Step: 1, Items: []sched.Item{item}, Result: new(executor.Result)}})
			r.after(20 * stepTime)
			r.ended(name, rec, c.reason, c.tokens)
			r.ended(name+": its mate", mate, ReasonLength, 9)
			if len(rec.drawn) != len(rec.tokens) || rec.ends[0].Matched != c.matched {
				t.Errorf("%s: %d tokens, %d told of, matched %v", name, len(rec.tokens), len(rec.drawn), rec.ends[0].Matched)
			}
			if err := rec.ends[0].Err; err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// What makes the matchers is looked at before anything is queued.
func TestBadMatchersAreRefused(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 1, func(r *rig) {
		for name, stop := range map[string]func() Matcher{
			"panics": func() Matcher { panic("no") },
			"none":   func() Matcher { return nil },
		} {
			if _, err := r.try(Submit{ID: "a", IDs: promptOf(5, 1), Stop: stop}, 0); !errors.Is(err, ErrParams) {
				t.Errorf("%s: %v", name, err)
			}
		}
		r.add(Submit{ID: "a", IDs: promptOf(5, 1), MaxNew: 1}, 0)
	})
}
