package suite

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// prompted is how many ids are prompt.
func (r *request) prompted() int {
	if r.promptLen == 0 {
		return len(r.ids)
	}
	return r.promptLen
}

// open makes an executor that the test closes at its end.
func open(t *testing.T, newExecutor Make, o Options) executor.Executor {
	t.Helper()
	ex := newExecutor(t, o)
	t.Cleanup(func() {
		if err := ex.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	info := ex.Info()
	few := info.PageSize != o.PageSize || info.MaxSlots < o.MaxSlots || info.MaxTokens < o.MaxTokens || info.MaxContext < o.MaxContext
	for _, g := range info.Groups {
		few = few || g.Blocks < o.Blocks || g.Host > 0 && g.Host < o.HostBlocks
	}
	if few {
		t.Fatalf("Info is %+v, asked for was %+v", info, o)
	}
	return ex
}

// prompts makes greedy requests for 8 tokens, with prompts of those lengths.
func prompts(info executor.Info, lengths ...int) []request {
	requests := make([]request, len(lengths))
	for i, n := range lengths {
		ids := make([]int32, n)
		for j := range ids {
			ids[j] = int32((31*i*i + 17*j + 5*j*j + i) % info.Vocab)
		}
		requests[i] = request{ids: ids, n: 8}
	}
	return requests
}

// generate runs requests on a new executor and answers their tokens.
func generate(t *testing.T, newExecutor Make, requests []request, p policy) [][]int32 {
	t.Helper()
	return tokens(t, newDriver(t, open(t, newExecutor, small)).run(requests, p))
}

// tokens are the sequences' outputs; none may have failed.
func tokens(t *testing.T, sequences []*sequence) [][]int32 {
	t.Helper()
	out := make([][]int32, len(sequences))
	for i, s := range sequences {
		if s.err != nil {
			t.Fatalf("request %d failed: %v", i, s.err)
		}
		out[i] = s.out
	}
	return out
}

// same compares outputs.
func same(t *testing.T, what string, got, want [][]int32) {
	t.Helper()
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("%s: request %d gives %v, want %v", what, i, got[i], want[i])
		}
	}
}

var alone = policy{chunk: 1 << 20, together: 1, ahead: 1}
