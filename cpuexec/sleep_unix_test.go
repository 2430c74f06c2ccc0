//go:build unix

package cpuexec

import (
	"slices"
	"testing"
)

// A sleep that fails in its middle, since the system does not take the memory of the
// cache back, leaves the executor awake.
func TestFailedSleepLeavesItAwake(t *testing.T) {
	m, set := loadModel(t, "tiny")
	d := newDriver(t, Config{Model: m, Weights: set, Threads: 1, NumBlocks: 40}, 64, true)
	run := func() *sequence {
		s := &sequence{ids: []int32{0, 327, 329}, limit: 5}
		d.run(s)
		return s
	}
	first, mapped := run(), d.e.kv.mem
	d.e.kv.mem = mapped[1:] // begins at no page
	if err := d.e.Sleep(true, true); err == nil {
		t.Fatal("memory that does not begin at a page is given back")
	}
	if again := run(); !slices.EqualFunc(again.logits, first.logits, slices.Equal) {
		t.Error("after it there are other logits")
	}
	if err := unmapMemory(mapped); err != nil {
		t.Error(err)
	}
}
