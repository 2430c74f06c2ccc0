package suite

import (
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// Options is what a test asks of an executor: PageSize exactly, the other numbers
// at least. Every cache group has Blocks at the same time, and HostBlocks if any.
type Options struct {
	PageSize   int
	Blocks     int
	MaxSlots   int
	MaxTokens  int
	MaxContext int
	HostBlocks int // of the host pool; an executor may have none
	Adapters   int // loaded at a time; an executor may have none
	Sets       int // weight sets loaded at a time, the first one among them; 0: 1

	// KeepLogits, if set, is to be called in Finish for every row that samples,
	// with the logits after position pos of the slot's sequence, by an executor
	// that has logits. The slice is valid during the call.
	KeepLogits func(slot, pos int, logits []float32)
}

// Make makes an executor, always over the same weights.
type Make func(t *testing.T, o Options) executor.Executor

var small = Options{PageSize: 4, Blocks: 64, MaxSlots: 6, MaxTokens: 32, MaxContext: 64, HostBlocks: 24}

// Run runs the suite. Forks are skipped where Start answers ErrUnsupported, copies
// to the host and back where Info has no host pool.
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
		{"fork behind a window", testForkBehindWindow},
		{"log-probabilities", testTold},
		{"log-probabilities after preemption", testToldResumed},
		{"processors", testProcessors},
		{"processors of forks", testForkedProcessors},
		{"failing processors", testFailingProcessors},
		{"swap", testSwap},
		{"swap of two at once", testExchange},
		{"swap across groups", testSwapAcrossGroups},
		{"refused", testRefused},
		{"close", testClose},
		{"close while waiting", testCloseWaiting},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, newExecutor) })
	}
}
