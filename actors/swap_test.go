package actors

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sched"
)

// An answer that is on its way stays whole when a request that is in the pool ends.
func TestADropLeavesTheAnswerBeforeItAlone(t *testing.T) {
	r := startTraced(t, executor.EchoConfig{Blocks: 8, HostBlocks: 8}, sched.Config{})
	out := func(key uint64, blocks ...int32) *blockmgr.Swapped {
		m := &blockmgr.Swap{Out: []blockmgr.Moved{{Key: key, Blocks: []blockmgr.Added{{Blocks: blocks}}}}}
		answer, err := r.sys.Root.RequestFuture(r.swap, m, 20*time.Second).Result()
		if err != nil {
			t.Fatal(err)
		}
		return answer.(ahead[blockmgr.Swapped]).it
	}
	out(101, 3)
	answer := out(102, 1, 2)
	r.sys.Root.Send(r.swap, &blockmgr.Swap{Drop: []uint64{101}})
	if _, err := r.sys.Root.RequestFuture(r.swap, &actor.Touch{}, 20*time.Second).Result(); err != nil {
		t.Fatal(err)
	}
	if len(answer.Copies) != 2 {
		t.Errorf("%d copies are left of 2", len(answer.Copies))
	}
	r.finish()
}
