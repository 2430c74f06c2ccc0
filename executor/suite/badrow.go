package suite

import (
	"testing"
)

// BadRow runs a request whose row fails, as unusable logits make it, beside good
// ones. bad is its prompt. It must fail alone, with RowResult.Err, also in a row
// that was handed over before that was known.
func BadRow(t *testing.T, newExecutor Make, bad []int32) {
	d := newDriver(t, open(t, newExecutor, small))
	requests := prompts(d.info, 3, 9, 14)
	want := tokens(t, d.run(requests, alone))
	requests[1] = request{ids: bad, n: 2}
	got := d.run(requests, policy{chunk: 32, together: 3, ahead: d.info.MaxOutstanding})
	if got[1].err == nil || len(got[1].out) != 0 {
		t.Errorf("the bad row gives %v and no error", got[1].out)
	}
	for _, i := range []int{0, 2} {
		same(t, "beside a bad row", tokens(t, got[i:i+1]), want[i:i+1])
	}
}
