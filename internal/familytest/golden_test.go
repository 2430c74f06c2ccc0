package familytest

import "testing"

// reports counts what a test is told to have failed with.
type reports struct {
	testing.TB
	errors int
}

// Helper, Errorf: see testing.TB.
func (r *reports) Helper()               {}
func (r *reports) Errorf(string, ...any) { r.errors++ }

// A golden that is sure of no token, or has none, passes nobody.
func TestCheckTokensNeedsSureTokens(t *testing.T) {
	for _, c := range []struct {
		what     string
		gaps     []float64
		greedy   [][]int32
		compared int
		fails    bool
	}{
		{"sure", []float64{1, 0}, [][]int32{{1, 2}, {3}}, 2, false},
		{"sure of other prompts", []float64{0, 1}, [][]int32{{1, 2}, {3}}, 0, false},
		{"sure of none", []float64{SureGap, 0}, [][]int32{{1, 2}, {3}}, 0, true},
		{"without tokens", []float64{1, 1}, [][]int32{{}, {}}, 0, true},
	} {
		r := &reports{TB: t}
		g := Golden{Greedy: c.greedy, MinGap: c.gaps}
		if n := g.CheckTokens(r, c.what, 0, c.greedy[0], nil); n != c.compared || (r.errors > 0) != c.fails {
			t.Errorf("%s: %d tokens are compared, %d failures", c.what, n, r.errors)
		}
	}
	r := &reports{TB: t}
	if (&Golden{Greedy: [][]int32{{1, 3}}, MinGap: []float64{1}}).CheckTokens(r, "other tokens", 0, []int32{1, 2}, nil); r.errors != 1 {
		t.Errorf("other tokens: %d failures", r.errors)
	}
}
