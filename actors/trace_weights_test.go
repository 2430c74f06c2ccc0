package actors

import (
	"context"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/trace"
	"github.com/cbactor/cbactor/sched"
	"github.com/cbactor/cbactor/weights"
)

// Weights are noted when they come into force, behind the steps that were handed over
// before and ahead of what becomes of requests: one goes on over its cache, one computes
// it again, two end.
func TestTraceOfACommit(t *testing.T) {
	reached, goOn := make(chan struct{}), make(chan struct{})
	r := startTraced(t, executor.EchoConfig{Blocks: 64, Slots: 5, Delay: func(b *executor.Batch) {
		if b.Step == 3 {
			close(reached)
			<-goOn
		}
	}}, sched.Config{})
	for i, m := range []*Submit{{ID: "keeps", KV: sched.Keep}, {ID: "computes", KV: sched.Recompute}, {ID: "ends", KV: sched.Abort}, {ID: "stale", Commits: 1}} {
		m.IDs, m.MaxNew = prompt(5, 1+i), 3
		r.submit(m, 1)
	}
	r.settle()
	close(r.release)
	<-reached
	if err := r.ex.(executor.Loader).Load(context.Background(), &weights.Set{Epoch: 2}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	r.sys.Root.Send(r.scheduler, &commit{sched.Commit{Epoch: 2, Version: 1}, done}) // ahead of the step's end
	r.settle()
	close(goOn)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	events := r.end()
	epoch := uint32(0)
	for _, e := range events {
		if e.Kind == trace.Weights {
			epoch = e.Epoch
		}
		if e.Kind == trace.Chunk && e.Epoch != epoch {
			t.Errorf("%s of epoch %d stands behind weights of epoch %d", line(e), e.Epoch, epoch)
		}
	}
	expect(t, events, "", `
		mode mode=running
		weights version=weights-1
		weights version=weights-2
		mode mode=draining`)
	const begins = `
		started step=2
		chunk step=2 count=5 blocks=2 rows=4 tokens=20
		first step=2
		chunk step=3 start=5 count=1 rows=4 tokens=4`
	expect(t, events, "keeps", `
		queued prompt=5 max=3`+begins+`
		chunk step=4 start=6 count=1 rows=2 tokens=8
		ended tokens=3 reason=length`)
	expect(t, events, "computes", `
		queued prompt=5 max=3 ahead=1`+begins+`
		preempted why=weights step=3 how=recompute
		back step=4
		chunk step=4 count=7 blocks=2 rows=2 tokens=8
		ended tokens=3 given-up=1 reason=length`)
	expect(t, events, "ends", `
		queued prompt=5 max=3 ahead=2`+begins+`
		ended tokens=1 reason=aborted`)
	expect(t, events, "stale", `
		queued prompt=5 max=3 ahead=3`+begins+`
		ended tokens=1 reason=stale`)
}
