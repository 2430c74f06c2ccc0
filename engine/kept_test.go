package engine

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// What a request is told of the ids it drew from is bounded, whatever the vocabulary.
func TestKeptSetsTakeBoundedMemory(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 400, Context: 4000, Tokens: 256}, Config{})
	r := Request{PromptIDs: ids(5, 0), MaxNewTokens: 2000}
	r.Sampling.Temperature, r.Sampling.Tell.Kept = 1, true
	out := mustAdd(t, e, r).Wait(t.Context())
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 64<<20 {
		t.Errorf("%d tokens of one request hold %d MiB of heap", len(out.TokenIDs), m.HeapAlloc>>20)
	}
	for _, d := range out.Logprobs {
		if d.KeptCount != echoVocab || d.Kept != nil {
			t.Fatalf("%d ids were kept, %d are told", d.KeptCount, len(d.Kept))
		}
	}
	if len(out.Logprobs) != 2000 {
		t.Errorf("%d tokens are told of", len(out.Logprobs))
	}
}

// What a record has nothing of is nil, whatever the result that it comes from had before.
func TestRecordsHaveNoEmptyLists(t *testing.T) {
	from := []sampling.Drawn{{Top: make([]sampling.Logprob, 0, 9), Kept: make([]int32, 0, 9)}, {Top: make([]sampling.Logprob, 2), Kept: make([]int32, 2)}}
	got := appendDrawn(nil, from)
	if got[0].Top != nil || got[0].Kept != nil || len(got[1].Top) != 2 || len(got[1].Kept) != 2 {
		t.Errorf("%+v", got)
	}
}

// Reading a kept result by its id costs the same however many are kept.
func TestResultsByIDCostTheSameAmongMany(t *testing.T) {
	const batch = 500
	each := func(n int) time.Duration { // the best of some batches, half of n being kept at least
		e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
		list := make([]*record, n)
		for i := range list { // as AddRequests and intake do
			list[i] = &record{requests: e.requests, versions: e.versions, unbind: func() bool { return true }}
			if err := e.requests.enter(list[i:i+1], "q-"); err != nil {
				t.Fatal(err)
			}
			if err := e.requests.keepAll(list[i : i+1]); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range list {
			r.End(actors.End{Reason: FinishLength})
		}
		order, best := rand.Perm(n), time.Hour
		for ; len(order) > n/2; order = order[batch:] {
			begin := time.Now()
			for _, i := range order[:batch] {
				if _, err := e.Result(t.Context(), list[i].id); err != nil {
					t.Fatal(err)
				}
			}
			best = min(best, time.Since(begin)/batch)
		}
		return best
	}
	few, many := each(2000), each(80000)
	t.Logf("%v among 2,000, %v among 80,000", few, many)
	if many > 8*few+2*time.Microsecond {
		t.Errorf("a result takes %v among 2,000 and %v among 80,000", few, many)
	}
}
