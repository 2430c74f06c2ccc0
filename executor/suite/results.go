package suite

import (
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// testResults has every kind of row in one batch; the driver checks each result.
func testResults(t *testing.T, newExecutor Make) {
	ex := open(t, newExecutor, small)
	requests := prompts(ex.Info(), 1, 9, 4, 17)
	requests[1].sampling = sampling.Params{Temperature: 1, TopK: 20, TopP: 0.9}
	for i, s := range newDriver(t, ex).run(requests, policy{chunk: 5, together: 4, ahead: 1}) {
		if s.err != nil || len(s.out) != requests[i].n {
			t.Errorf("request %d: %d tokens, %v; want %d", i, len(s.out), s.err, requests[i].n)
		}
	}
}

// testEmpty has batches without rows, which still have a result each.
func testEmpty(t *testing.T, newExecutor Make) {
	ex := open(t, newExecutor, small)
	d := newDriver(t, ex)
	d.start(d.newPlan())
	d.finish()

	admitted := d.newPlan()
	s := d.admit(&admitted.batch, &prompts(ex.Info(), 5)[0])
	d.start(admitted)
	d.finish()

	retired := d.newPlan()
	retired.batch.Retire = []executor.Slot{s.slot}
	d.start(retired)
	d.finish()
}

// checkResult holds a Result against its Batch.
func checkResult(t *testing.T, info executor.Info, b *executor.Batch, r *executor.Result) {
	t.Helper()
	if r.Err != nil {
		t.Fatalf("step %d failed: %v", b.Step, r.Err)
	}
	if r.Step != b.Step || len(r.Rows) != len(b.Rows) {
		t.Fatalf("result of step %d with %d rows, want step %d with %d", r.Step, len(r.Rows), b.Step, len(b.Rows))
	}
	tokens := int32(0)
	for i, row := range r.Rows {
		want := 0
		if b.Rows[i].Sample && row.Err == nil {
			want = 1
		}
		if row.Slot != b.Rows[i].Slot || len(row.Tokens) != want {
			t.Fatalf("row %d is of slot %d with tokens %v, want slot %d with %d", i, row.Slot, row.Tokens, b.Rows[i].Slot, want)
		}
		for _, id := range row.Tokens {
			if id < 0 || int(id) >= info.Vocab {
				t.Fatalf("row %d: token %d is outside the vocabulary", i, id)
			}
		}
		tokens += b.Rows[i].Count
	}
	if r.Tokens != tokens || r.Compute < 0 {
		t.Fatalf("%d tokens in %d ns, want %d", r.Tokens, r.Compute, tokens)
	}
	if r.LongestWait < 0 || r.LongestWait > r.Compute {
		t.Fatalf("a thread waited %d ns of %d", r.LongestWait, r.Compute)
	}
}
