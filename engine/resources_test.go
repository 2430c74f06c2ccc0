package engine

import (
	"errors"
	"io/fs"
	"os"
	"runtime/debug"
	"testing"

	"github.com/cbactor/cbactor/cpuexec"
)

// Memory is back after a stop that keeps nothing, over many sessions, and with threads
// and files after Close. Under the race detector memory is not judged but for what the
// first stop gives back: the full tests run without it, too.
func TestMemoryComesBack(t *testing.T) {
	if cpuexec.Resident() == 0 {
		t.Skip("what the process has resident is not known here")
	}
	const blocks, returned, noise = 300, 12 << 20, 6 << 20
	threads, files := entries(t, "/proc/self/task"), entries(t, "/proc/self/fd")
	e := spawnTiny(t, Config{Threads: 2, NumBlocks: blocks, MaxBatchTokens: 256})
	pool := e.Info().CacheBytes
	fill := func() {
		var list []Request
		for i := range 8 {
			prompt := make([]int32, 700)
			for k := range prompt {
				prompt[k] = int32((i*31 + k) % e.Info().Vocab)
			}
			list = append(list, Request{PromptIDs: prompt, MaxNewTokens: 1})
		}
		if _, err := e.GenerateBatch(t.Context(), list, BatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	resident := func() int64 {
		debug.FreeOSMemory()
		return cpuexec.Resident()
	}
	var idle int64
	for round := range 6 {
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			fill()
		}
		full := resident()
		if err := e.Stop(t.Context(), StopOptions{}); err != nil {
			t.Fatal(err)
		}
		stopped := resident()
		t.Logf("round %d: %d MiB resident, %d when stopped; the pool has %d", round, full>>20, stopped>>20, pool>>20)
		if round == 0 && full-stopped < returned {
			t.Errorf("round %d: a stop gave back %d MiB", round, (full-stopped)>>20)
		}
		if idle == 0 {
			idle = stopped
		}
		if stopped > idle+noise && !underRace {
			t.Errorf("round %d: %d MiB more than after the first round", round, (stopped-idle)>>20)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if after := resident(); after > idle+noise/2 && !underRace {
		t.Errorf("%d MiB resident after Close, %d when stopped", after>>20, idle>>20)
	}
	if now := entries(t, "/proc/self/fd"); now > files {
		t.Errorf("%d open files after Close, %d before", now, files)
	}
	const spare = 8 // that the runtime has started for itself; six sessions had two of ours each
	until(t, "threads have ended", func() bool { return entries(t, "/proc/self/task") <= threads+spare })
}

// entries counts what is in a folder of the system; 0: there is none here.
func entries(t *testing.T, folder string) int {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return len(list)
}
