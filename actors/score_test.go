package actors

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

var told = sampling.Params{Tell: sampling.Tell{Prompt: true, Top: 2}}

// wantScores holds what was told of a prompt against the plain function.
func wantScores(t *testing.T, what string, prompt []int32, told []sampling.Drawn) {
	t.Helper()
	if len(told) != len(prompt)-1 {
		t.Errorf("%s: told of %d ids of %d", what, len(told), len(prompt))
		return
	}
	for i, d := range told {
		if want := executor.EchoScore(prompt[:i+2], 50021, 1); d.ID != prompt[i+1] || d.Raw != want || len(d.Top) != 2 {
			t.Errorf("%s: at %d told %+v, want %v of id %d", what, i+1, d, want, prompt[i+1])
			return
		}
	}
}

// F4 (vllm#3251), I2 (vllm#6521): a prompt of 33 is scored twice, then in chunks of 8:
// the same is told each time, nothing is found in the cache and nothing drawn. One
// with the same prompt of which nothing is told finds what it can.
func TestReportF4PromptsAreToldOfWhole(t *testing.T) {
	for _, chunk := range []int{64, 8} {
		for depth := 1; depth <= 2; depth++ {
			inVirtualTime(t, executor.EchoConfig{Blocks: 64, Tokens: chunk, Slots: 4}, depth, func(r *rig) {
				prompt, name := promptOf(33, 1), fmt.Sprintf("chunks of %d, depth %d", chunk, depth)
				for range 2 {
					before := r.steps()
					rec := r.add(Submit{ID: "a", IDs: slices.Clone(prompt), Score: true, Sampling: told}, 0)[0]
					r.after(10 * stepTime)
					r.ended(name, rec, ReasonLength, 0)
					wantScores(t, name, prompt, rec.prompt)
					if rec.ends[0].Cached != 0 || !rec.started {
						t.Errorf("%s: %d found, started %v", name, rec.ends[0].Cached, rec.started)
					}
					if n := r.steps() - before; n != (33+chunk-1)/chunk+1 { // one retires its slot
						t.Errorf("%s: %d steps", name, n)
					}
				}
				mate := r.add(Submit{ID: "mate", IDs: slices.Clone(prompt), MaxNew: 2}, 0)[0]
				<-mate.done
				if e := mate.ends[0]; e.Cached != 32 || len(mate.prompt) != 0 {
					t.Errorf("%s: the mate found %d and was told of %d", name, e.Cached, len(mate.prompt))
				}
			})
		}
	}
}

// I2: a limit of k gives exactly k tokens; a score gives none, also of one token.
func TestReportI2ExactlyAsManyAsAsked(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64}, 2, func(r *rig) {
		for k := 1; k <= 3; k++ {
			rec := r.add(Submit{ID: "a", IDs: promptOf(7, 1), MaxNew: k}, 0)[0]
			<-rec.done
			r.ended("a request", rec, ReasonLength, k)
		}
		one := r.add(Submit{ID: "one", IDs: promptOf(1, 1), Score: true, Sampling: told}, 0)[0]
		<-one.done
		r.ended("a score of one token", one, ReasonLength, 0)
		if len(one.prompt) != 0 {
			t.Errorf("told of %v", one.prompt)
		}
	})
}

// What is told of a prompt that is given up in the middle and computed again, and of
// its tokens, is what would be told of it alone; of several sequences, the first is
// told of the prompt.
func TestWhatIsToldSurvivesBeingGivenUp(t *testing.T) {
	p := told
	p.Tell.Logprobs = true
	for depth := 1; depth <= 2; depth++ {
		inVirtualTime(t, executor.EchoConfig{Blocks: 8, Slots: 4, Tokens: 8}, depth, func(r *rig) {
			r.add(Submit{ID: "old", IDs: promptOf(10, 1), MaxNew: 100}, 0)
			all := r.add(Submit{ID: "a", IDs: promptOf(70, 2), MaxNew: 30, Sampling: p}, 1)
			<-all[0].done
			<-all[1].done
			if all[0].ends[0].Preemptions == 0 {
				t.Error("it was not given up")
			}
			wantScores(t, fmt.Sprint("depth ", depth), promptOf(70, 2), all[0].prompt)
			if len(all[1].prompt) != 0 {
				t.Errorf("depth %d: the second is told of %d ids of the prompt", depth, len(all[1].prompt))
			}
			for i, rec := range all {
				r.ended("a sequence", rec, ReasonLength, 30)
				ids := promptOf(70, 2)
				for j, d := range rec.drawn {
					ids = append(ids, rec.tokens[j])
					if want := executor.EchoScore(ids, 50021, 1); d.ID != rec.tokens[j] || d.Raw != want {
						t.Fatalf("depth %d: sequence %d is told %v of token %d, want %v", depth, i, d.Logprob, j, want)
					}
				}
				if len(rec.drawn) != 30 {
					t.Errorf("depth %d: told of %d tokens", depth, len(rec.drawn))
				}
			}
		})
	}
}
