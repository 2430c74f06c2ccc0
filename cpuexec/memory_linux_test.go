package cpuexec

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// resident is the memory that the process has in use, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	var total, pages int
	if _, err := fmt.Sscan(string(text), &total, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestPoolIsNotTouched maps a pool of 1.5 GB and a host pool as large, and uses
// a little of the first.
func TestPoolIsNotTouched(t *testing.T) {
	m, set := loadModel(t, "tiny")
	before := resident(t)
	d := newDriver(t, Config{Model: m, Weights: set, Threads: 1, MaxSlots: 1000, NumBlocks: 15000, HostBlocks: 15000, MemoryLimit: 1 << 40}, 64, false)
	d.run(&sequence{ids: []int32{0, 327, 329}, limit: 5})
	if m := d.e.Memory(); m.KV < 1<<30 || m.Host < 1<<30 {
		t.Errorf("the pools have %d and %d bytes only", m.KV, m.Host)
	}
	if grown := resident(t) - before; grown > 64<<20 {
		t.Errorf("%d bytes were touched", grown)
	}
}

// TestPlaceKeepsMemory loads a second set, drops it and loads another one: its memory is
// taken once, and the system has it again when weights sleep.
func TestPlaceKeepsMemory(t *testing.T) {
	m, set := loadModel(t, "tiny")
	e := start(t, Config{Model: m, Weights: set, Threads: 1, MaxContext: 64, WeightSets: 2})
	second, third := altered(t, "tiny", 2), altered(t, "tiny", 3)
	debug.FreeOSMemory() // so that nothing else shrinks meanwhile
	before := resident(t)
	if err := e.Load(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	with := resident(t)
	if err := errors.Join(e.Drop(2), e.Load(t.Context(), third)); err != nil {
		t.Fatal(err)
	}
	again, size := resident(t), int(e.Memory().Weights)
	if err := errors.Join(e.Drop(3), e.Sleep(false, true)); err != nil {
		t.Fatal(err)
	}
	after := resident(t)
	if with-before < size*9/10 || again-with > size/10 || again-after < size*19/10 {
		t.Errorf("%d bytes before, %d with a set of %d, %d with another one, %d asleep", before, with, size, again, after)
	}
}

// TestGroupLimit reads control groups of both versions from a made tree.
func TestGroupLimit(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a/memory.max", "3000\n")
	write("a/b/memory.max", "max\n")
	write("memory/memory.limit_in_bytes", "5000\n")
	write("memory/c/memory.limit_in_bytes", "9223372036854771712\n")
	write("memory.max", "nonsense\n")
	for _, c := range []struct {
		groups string
		want   int64
	}{
		{"0::/a/b\n", 3000},                      // the group above limits
		{"0::/\n", math.MaxInt64},                // no limit at the root
		{"4:cpu,memory:/c\n1:cpu:/a\n", 5000},    // version 1
		{"4:memory:/elsewhere/x\n", 5000},        // a path of the host
		{"4:memory:/c\n0::/a\n", 3000},           // both
		{"4:memory:/../../../etc\n", 5000},       // stays below the root
		{"garbage\n\n", math.MaxInt64},           // says nothing
		{"0::/a/b/is/not/there\n", 3000},         // missing files are no limit
		{"9:cpuset,memoryx:/c\n", math.MaxInt64}, // another controller
	} {
		if got := groupLimit(c.groups, root); got != c.want {
			t.Errorf("%q: %d, want %d", c.groups, got, c.want)
		}
	}
	if n := MemoryLimit(); n <= 0 {
		t.Errorf("the limit here is %d", n)
	}
}
