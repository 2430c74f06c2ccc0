//go:build unix

package cpuexec

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// A sleep that fails in its middle, since the system does not take the memory of the
// cache back, leaves the executor awake if it was; one that slept in part does so still.
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
	if err := d.e.Sleep(true, false); err != nil {
		t.Fatal(err)
	}
	area := d.e.places[0].Ready.area
	packed := area.mem
	area.mem = packed[1:]
	if err := d.e.Sleep(false, true); err == nil {
		t.Fatal("memory that does not begin at a page is given back")
	}
	if err := d.e.Start(&executor.Batch{Step: d.step + 1, Epoch: 1}); !errors.Is(err, executor.ErrContract) {
		t.Errorf("a step while the cache sleeps: %v", err)
	}
	if err := d.e.Wake(); err != nil {
		t.Fatal(err)
	}
	if again := run(); !slices.EqualFunc(again.logits, first.logits, slices.Equal) {
		t.Error("after it has woken there are other logits")
	}
	if err := errors.Join(unmapMemory(mapped), unmapMemory(packed)); err != nil {
		t.Error(err)
	}
}
