package cpuexec

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// What is touched is resident.
func TestResident(t *testing.T) {
	debug.FreeOSMemory() // what earlier tests left is neither used again nor given back meanwhile
	before := Resident()
	const size = 64 << 20
	mem := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		mem[i] = 1
	}
	if got := Resident(); before < 1<<20 || got < before+size/2 {
		t.Errorf("%d bytes before, %d after %d more", before, got, size)
	}
	runtime.KeepAlive(mem)
}
