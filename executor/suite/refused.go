package suite

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// testRefused sends batches that break the contract between good ones. Each is
// an error at Start, and the sequence beside it does not notice.
func testRefused(t *testing.T, newExecutor Make) {
	d := newDriver(t, open(t, newExecutor, small))
	requests := prompts(d.info, 5)
	want := tokens(t, d.run(requests, alone))

	p := d.newPlan()
	s := d.admit(&p.batch, &requests[0])
	d.addRows(p, 5)
	d.start(p)
	d.finish()
	for _, c := range slices.Concat(breaches(d.info, s), hostBreaches(d.info)) {
		b := executor.Batch{Step: d.step + 1, Epoch: 1}
		c.change(&b)
		if err := d.ex.Start(&b); !errors.Is(err, executor.ErrContract) {
			t.Errorf("%s: Start answers %v, want ErrContract", c.name, err)
		}
	}
	d.run(nil, policy{chunk: 1, ahead: 1})
	same(t, "beside refused batches", [][]int32{s.out}, want)
	testOutstanding(t, d)
}

// testOutstanding hands over one step too many.
func testOutstanding(t *testing.T, d *driver) {
	for range d.info.MaxOutstanding {
		d.start(d.newPlan())
	}
	extra := d.newPlan()
	if err := d.ex.Start(&extra.batch); !errors.Is(err, executor.ErrContract) {
		t.Errorf("a step too many: Start answers %v, want ErrContract", err)
	}
	for range d.info.MaxOutstanding {
		d.finish()
	}
}
