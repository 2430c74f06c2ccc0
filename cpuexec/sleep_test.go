package cpuexec

import (
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// What sleeps is given back to the system, and what computes after it has woken gives
// the same logits, to the bit.
func TestSleepGivesMemoryBack(t *testing.T) {
	m, set := loadModel(t, "tiny")
	cfg := Config{Model: m, Weights: set, Threads: 2, MaxSlots: 1000, NumBlocks: 1300, HostBlocks: 1300, MemoryLimit: 1 << 40}
	d := newDriver(t, cfg, 64, true)
	run := func() *sequence {
		s := &sequence{ids: []int32{0, 327, 329}, limit: 20}
		d.run(s)
		return s
	}
	first, memory := run(), d.e.Memory()
	for _, c := range []struct {
		kv, weights bool
		bytes       int64
	}{
		{true, false, memory.KV + memory.Host},
		{false, true, memory.Weights},
		{true, true, memory.KV + memory.Host + memory.Weights},
	} {
		for _, part := range [][]byte{d.e.step.cache.mem, d.e.step.cache.host} {
			for i := 0; i < len(part); i += 1024 {
				part[i] = 1
			}
		}
		debug.FreeOSMemory() // so that nothing else shrinks or grows meanwhile
		before := Resident()
		if err := errors.Join(d.e.Sleep(c.kv, c.weights), d.e.Sleep(c.kv, c.weights)); err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS == "linux" {
			if less := before - Resident(); less < c.bytes-c.bytes/8-1<<20 {
				t.Errorf("%+v: %d bytes were given back of %d", c, less, c.bytes)
			}
		}
		if err := d.e.Start(&executor.Batch{Step: d.step + 1, Epoch: 1}); !errors.Is(err, executor.ErrContract) {
			t.Errorf("%+v: a step while it sleeps: %v", c, err)
		}
		if err := errors.Join(d.e.Wake(), d.e.Wake()); err != nil {
			t.Fatal(err)
		}
		again := run()
		if !slices.Equal(again.ids, first.ids) || !slices.EqualFunc(again.logits, first.logits, slices.Equal) {
			t.Errorf("%+v: after it there are other logits", c)
		}
	}
	if err := errors.Join(d.e.Sleep(true, true), d.e.Close()); err != nil {
		t.Errorf("close while it sleeps: %v", err)
	}
	if err := d.e.Wake(); !errors.Is(err, executor.ErrClosed) {
		t.Errorf("wake after close: %v", err)
	}
}
