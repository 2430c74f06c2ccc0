package cpuexec

import (
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// late is a sampling.Processor that takes its time.
type late time.Duration

func (l late) Process([]int32, int, []float32) error {
	time.Sleep(time.Duration(l))
	return nil
}

// A step says how long its threads waited for a late one, and no other step does.
func TestLongestWaitOfAStep(t *testing.T) {
	const slow = 40 * time.Millisecond
	m, set := loadModel(t, family("llama"))
	d := newDriver(t, Config{Model: m, Weights: set, Threads: 2, PageSize: 16, MaxContext: 128, MaxTokens: 128}, 128, false)
	shared := d.e.step.alone
	var b executor.Batch
	var r executor.Result
	step := func(fill func()) time.Duration {
		b.Reset()
		d.step++
		b.Step, b.Epoch = d.step, 1
		fill()
		d.do(&b, &r)
		return time.Duration(r.LongestWait)
	}
	s := &sequence{ids: make([]int32, 5), limit: 9, sampling: sampling.Params{Processor: late(slow)}}
	d.e.step.alone = 0
	wait := step(func() {
		d.admit(&b, s, 0)
		d.row(&b, s, 128)
	})
	if took := time.Duration(r.Compute); wait < slow/2 || wait > took {
		t.Errorf("one thread was %s late, the longest wait is %s in a step of %s", slow, wait, took)
	}
	if wait := step(func() {}); wait != 0 {
		t.Errorf("a step that computes nothing waited %s", wait)
	}
	d.e.step.alone = shared
	if wait := step(func() { d.row(&b, s, 128) }); wait != 0 {
		t.Errorf("a thread alone waited %s", wait)
	}
	step(func() { b.Retire = []executor.Slot{0} })
}
