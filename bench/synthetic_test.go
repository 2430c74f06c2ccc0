package bench_test

import (
	"reflect"
	"testing"

	"github.com/cbactor/cbactor/bench"
)

func TestSynthetic(t *testing.T) {
	cases := bench.Synthetic(7, 33, 5, 9)
	if len(cases) != 7 {
		t.Fatalf("%d requests", len(cases))
	}
	first, ids := map[int32]bool{}, map[int32]bool{}
	for _, c := range cases {
		if len(c.Prompt) != 33 || c.MaxNew != 5 {
			t.Errorf("a request of %d tokens generates %d", len(c.Prompt), c.MaxNew)
		}
		first[c.Prompt[0]] = true
		for _, id := range c.Prompt {
			if id < 0 || id >= 9 {
				t.Errorf("id %d is outside of the vocabulary", id)
			}
			ids[id] = true
		}
	}
	if len(first) != 7 || len(ids) != 9 {
		t.Errorf("%d prompts begin differently, %d ids are there", len(first), len(ids))
	}
	if again := bench.Synthetic(7, 33, 5, 9); !reflect.DeepEqual(again, cases) {
		t.Error("equal arguments give other ids")
	}
}

// A warm-up takes no more room than its workload has for a request.
func TestWarmUp(t *testing.T) {
	for _, c := range []struct{ requests, prompt, generate, wantRequests, wantPrompt, wantGenerate int }{
		{1, 3, 2, 1, 3, 2}, {48, 200, 100, 8, 32, 16},
	} {
		got := bench.WarmUp(bench.Synthetic(c.requests, c.prompt, c.generate, 100), 100)
		if len(got) != c.wantRequests || len(got[0].Prompt) != c.wantPrompt || got[0].MaxNew != c.wantGenerate {
			t.Errorf("%+v: %d requests of %d and %d tokens", c, len(got), len(got[0].Prompt), got[0].MaxNew)
		}
	}
}
