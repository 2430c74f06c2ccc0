package suite

import (
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// Options is what a test asks of an executor: PageSize exactly, the others at
// least. There is one cache group with full attention.
type Options struct {
	PageSize   int
	Blocks     int
	MaxSlots   int
	MaxTokens  int
	MaxContext int
}

// Make makes an executor, always over the same weights.
type Make func(t *testing.T, o Options) executor.Executor

var small = Options{PageSize: 4, Blocks: 64, MaxSlots: 6, MaxTokens: 32, MaxContext: 64}

// Run runs the suite. Forks are skipped where Start answers ErrUnsupported.
func Run(t *testing.T, newExecutor Make) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Make)
	}{
		{"results", testResults},
		{"empty batch", testEmpty},
		{"invariance", testInvariance},
		{"slot reuse", testSlotReuse},
		{"shared prefix", testSharedPrefix},
		{"resumed after preemption", testResumed},
		{"seeds", testSeeds},
		{"fork", testFork},
		{"refused", testRefused},
		{"close", testClose},
		{"close while waiting", testCloseWaiting},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, newExecutor) })
	}
}
