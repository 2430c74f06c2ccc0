package cpuexec

import (
	"errors"
	"testing"
	"time"
)

// A machine is measured in a short time, for each instruction set, and what is measured
// is more than nothing. How fast one thing is beside another is up to neighbours, too.
func TestMeasureMachine(t *testing.T) {
	for _, name := range kernelNames() {
		began := time.Now()
		m, err := MeasureMachine(Config{Kernels: name, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		t.Logf("%.2f s: %+v", took.Seconds(), m)
		if took > 10*time.Second { // two, and four times as much for neighbours
			t.Errorf("%s took %s", name, took)
		}
		if m.Kernels != name || m.Threads != 2 || m.F32 <= 0 || m.Int8 <= 0 || m.Memory.Rate <= 0 || m.Memory.Buffer <= 0 {
			t.Errorf("%+v", m)
		}
		if (m.Cache.Buffer > 0) != (m.Cache.Rate > 0) {
			t.Errorf("the cache is %+v", m.Cache)
		}
	}
	if m, err := MeasureMachine(Config{Threads: 3}); err != nil || m.Memory.Rate <= 0 {
		t.Errorf("3 threads: %v, %+v", err, m)
	}
	if _, err := MeasureMachine(Config{Kernels: "none"}); err == nil {
		t.Error("an instruction set that does not exist was measured")
	}
}

// Threads that no executor would start are refused.
func TestMeasureMachineChecksThreads(t *testing.T) {
	for _, n := range []int{-1, maxThreads + 1} {
		if _, err := MeasureMachine(Config{Threads: n}); !errors.Is(err, ErrConfig) {
			t.Errorf("%d threads: %v", n, err)
		}
	}
}

// A limit that is used up leaves 1, as 0 would be no limit.
func TestLeftOf(t *testing.T) {
	for _, c := range [][3]int64{{0, 5, 0}, {5, 0, 5}, {5, 3, 2}, {5, 5, 1}, {5, 9, 1}} {
		if got := leftOf(c[0], c[1]); got != c[2] {
			t.Errorf("%d of which %d are used leave %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

// What is read lies where it is said to lie, as far as there is memory.
func TestBufferSizes(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		private, last, available, small, large int64
	}{
		{4 * mib, 480 * mib, 20 << 30, 64 * mib, 1536 * mib},
		{4 * mib, 480 * mib, 512 * mib, 32 * mib, 128 * mib},
		{4 * mib, 32 * mib, 20 << 30, 8 * mib, 256 * mib},
		{8 * mib, 16 * mib, 20 << 30, 0, 256 * mib},
		{0, 0, 0, 0, 256 * mib},
		{0, 0, 1, 0, readPiece},
	} {
		small, large := bufferSizes(c.private, c.last, c.available)
		if small != c.small || large != c.large {
			t.Errorf("%+v: %d and %d", c, small, large)
		}
	}
}
