package actors

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/trace"
	"github.com/cbactor/cbactor/sched"
)

// Two requests with one prompt: the second waits for the pages that the first computes.
func TestTraceOfAWaitForAPage(t *testing.T) {
	r := startTraced(t, executor.EchoConfig{Blocks: 64}, sched.Config{Sharing: true})
	r.add("a", prompt(10, 1), 2, 1)
	r.add("b", prompt(10, 1), 2, 1)
	events := r.finish()
	expect(t, events, "a", `
		queued prompt=10 max=2
		started step=2
		chunk step=2 count=10 blocks=3 rows=1 tokens=10
		first step=2
		chunk step=3 start=10 count=1 rows=2 tokens=3
		ended tokens=2 reason=length`)
	expect(t, events, "b", `
		queued prompt=10 max=2 ahead=1
		waits why=page on=a
		started step=3 cached=8
		chunk step=3 start=8 count=2 blocks=3 rows=2 tokens=3
		first step=3
		chunk step=4 start=10 count=1 rows=1 tokens=1
		ended tokens=2 cached=8 reason=length`)
	expect(t, events, "", `
		mode mode=running
		weights version=weights-1
		mode mode=draining`)
}

// The second does not fit beside the first, and the third does not pass it. Each
// says so once, not in each of the nine steps.
func TestTraceOfAWaitForRoom(t *testing.T) {
	r := startTraced(t, executor.EchoConfig{Blocks: 8}, sched.Config{})
	r.add("a", prompt(14, 1), 10, 1)
	r.add("b", prompt(20, 2), 2, 1)
	r.add("c", prompt(3, 3), 2, 1)
	events := r.finish()
	expect(t, events, "b", `
		queued prompt=20 max=2 ahead=1
		waits why=room missing=2
		started step=12
		chunk step=12 count=20 blocks=5 rows=1 tokens=20
		first step=12
		chunk step=13 start=20 count=1 blocks=1 rows=2 tokens=4
		ended tokens=2 reason=length`)
	expect(t, events, "c", `
		queued prompt=3 max=2 ahead=2
		waits why=behind on=b
		started step=13
		chunk step=13 count=3 blocks=1 rows=2 tokens=4
		first step=13
		chunk step=14 start=3 count=1 rows=1 tokens=1
		ended tokens=2 reason=length`)
}

// Two requests outgrow the cache: the younger is given up, computed again or moved
// to the host pool and back, there also with copies that run beside the rows.
func TestTraceOfAPreemption(t *testing.T) {
	const begins = `
		queued prompt=14 max=6 ahead=1
		started step=2
		chunk step=2 count=14 blocks=4 rows=2 tokens=28
		first step=2
		chunk step=3 start=14 count=1 rows=2 tokens=2
		chunk step=4 start=15 count=1 rows=2 tokens=2
		`
	for _, c := range []struct {
		host    int
		overlap bool
		rest    string
	}{
		{0, false, `preempted step=5 blocks=4 for=a how=recompute
		waits why=room missing=2
		back step=8
		chunk step=8 count=17 blocks=5 rows=1 tokens=17
		chunk step=9 start=17 count=1 rows=1 tokens=1
		chunk step=10 start=18 count=1 rows=1 tokens=1
		ended tokens=6 given-up=1 reason=length`},
		{8, false, `preempted step=5 blocks=4 for=a how=host
		waits why=room missing=2
		back step=8 host=16
		chunk step=8 start=16 count=1 blocks=5 rows=1 tokens=1
		chunk step=9 start=17 count=1 rows=1 tokens=1
		chunk step=10 start=18 count=1 rows=1 tokens=1
		ended tokens=6 given-up=1 reason=length`},
		{8, true, `preempted step=5 blocks=4 for=a how=host
		waits why=room missing=2
		back step=8 host=16
		chunk step=9 start=16 count=1 blocks=5 rows=1 tokens=1
		chunk step=10 start=17 count=1 rows=1 tokens=1
		chunk step=11 start=18 count=1 rows=1 tokens=1
		ended tokens=6 given-up=1 reason=length`},
	} {
		r := startTraced(t, executor.EchoConfig{Blocks: 8, HostBlocks: c.host, Overlap: c.overlap}, sched.Config{})
		r.add("a", prompt(14, 1), 6, 1)
		r.add("b", prompt(14, 2), 6, 1)
		events := r.finish()
		expect(t, events, "b", begins+c.rest)
		expect(t, events, "a", `
		queued prompt=14 max=6
		started step=2
		chunk step=2 count=14 blocks=4 rows=2 tokens=28
		first step=2
		chunk step=3 start=14 count=1 rows=2 tokens=2
		chunk step=4 start=15 count=1 rows=2 tokens=2
		chunk step=5 start=16 count=1 blocks=1 rows=1 tokens=1
		chunk step=6 start=17 count=1 rows=1 tokens=1
		chunk step=7 start=18 count=1 rows=1 tokens=1
		ended tokens=6 reason=length`)
	}
}

// Of four sequences of a prompt with three slots, one is forked; those that find no
// slot become ordinary requests, which share what is published.
func TestTraceOfAFork(t *testing.T) {
	r := startTraced(t, executor.EchoConfig{Blocks: 64, Slots: 3}, sched.Config{Sharing: true})
	r.add("a", prompt(10, 1), 3, 4)
	events := r.finish()
	expect(t, events, "a/1", `
		queued prompt=10 max=3 of=a
		forked of=a step=2 cached=10
		first step=2
		chunk step=3 start=10 count=1 blocks=3 rows=3 tokens=4
		chunk step=4 start=11 count=1 rows=3 tokens=3
		ended tokens=3 reason=length`)
	expect(t, events, "a/3", `
		queued prompt=10 max=3 of=a
		waits why=slot
		started step=6 cached=8
		chunk step=6 start=8 count=2 blocks=3 rows=1 tokens=2
		first step=6
		chunk step=7 start=10 count=1 rows=1 tokens=1
		chunk step=8 start=11 count=1 rows=1 tokens=1
		ended tokens=3 cached=8 reason=length`)
}

// A sequence that found no slot when it should be forked stands in line: of four, with three
// slots, a/3 is before b.
func TestTraceCountsWhoIsNotForked(t *testing.T) {
	reached, goOn := make(chan struct{}), make(chan struct{})
	r := startTraced(t, executor.EchoConfig{Blocks: 64, Slots: 3, Delay: func(b *executor.Batch) {
		if b.Step == 4 {
			close(reached)
			<-goOn
		}
	}}, sched.Config{Sharing: true})
	r.add("a", prompt(10, 1), 3, 4)
	r.settle()
	close(r.release)
	<-reached
	r.add("b", prompt(10, 1), 1, 1)
	close(goOn)
	expect(t, r.end(), "b", `
		queued prompt=10 max=1 ahead=1
		started step=6 cached=8
		chunk step=6 start=8 count=2 blocks=3 rows=2 tokens=4
		first step=6
		ended tokens=1 cached=8 reason=length`)
}

// A step of eight tokens is used up by the first; the failure of its row ends it.
func TestTraceOfABudgetAndAFailure(t *testing.T) {
	fail := func(ids []int32) error {
		if ids[0] == 100 && len(ids) == 11 {
			return errors.New("no token")
		}
		return nil
	}
	r := startTraced(t, executor.EchoConfig{Blocks: 64, Slots: 3, Tokens: 8, Fail: fail}, sched.Config{})
	r.add("a", prompt(10, 1), 3, 1)
	r.add("b", prompt(10, 2), 1, 1)
	events := r.finish()
	expect(t, events, "a", `
		queued prompt=10 max=3
		started step=2
		chunk step=2 count=8 blocks=2 rows=1 tokens=8
		chunk step=3 start=8 count=2 blocks=1 rows=2 tokens=8
		first step=3
		chunk step=4 start=10 count=1 rows=2 tokens=5
		ended tokens=1 reason=failed error=request failed: no token`)
	expect(t, events, "b", `
		queued prompt=10 max=1 ahead=1
		waits why=budget
		started step=3
		chunk step=3 count=6 blocks=2 rows=2 tokens=8
		chunk step=4 start=6 count=4 blocks=1 rows=2 tokens=5
		first step=4
		ended tokens=1 reason=length`)
}

// Cancelled in a step, and in line: nothing is noted of it afterwards, and whoever
// comes next does not count it as waiting.
func TestTraceOfACancel(t *testing.T) {
	r := startTraced(t, executor.EchoConfig{Blocks: 64}, sched.Config{})
	r.add("a", prompt(5, 1), 50, 1)
	r.Cancel("gate", nil)
	r.Cancel("a", nil)
	r.settle()
	r.add("b", prompt(5, 1), 1, 1)
	events := r.finish()
	expect(t, events, "gate", `
		queued prompt=1 max=1
		started step=1
		chunk step=1 count=1 blocks=1 rows=1 tokens=1
		ended reason=cancelled`)
	expect(t, events, "a", `
		queued prompt=5 max=50
		ended reason=cancelled`)
	expect(t, events, "b", `
		queued prompt=5 max=1
		started step=2
		chunk step=2 count=5 blocks=2 rows=1 tokens=5
		first step=2
		ended tokens=1 reason=length`)
}

// Ends of intake's own: a match, and a time that is up; and the end of one that is
// only scored.
func TestTraceOfOtherEnds(t *testing.T) {
	r := startTraced(t, executor.EchoConfig{Blocks: 64}, sched.Config{})
	r.submit(&Submit{ID: "scored", IDs: prompt(5, 1), Score: true}, 1)
	r.submit(&Submit{ID: "matched", IDs: prompt(5, 2), MaxNew: 50, Stop: atToken(2)}, 1)
	r.submit(&Submit{ID: "late", IDs: prompt(5, 3), MaxNew: 50, FirstToken: 1}, 1)
	r.records[len(r.records)-1].wait()
	events := r.finish()
	expect(t, events, "scored", `
		queued prompt=5
		started step=2
		chunk step=2 count=5 blocks=2 rows=2 tokens=10
		ended reason=length`)
	var matched []trace.Event // one more row than its tokens may be noted before the scheduler hears of the match
	for _, e := range events {
		if e.ID == "matched" && e.Kind != trace.Chunk {
			matched = append(matched, e)
		}
	}
	expect(t, matched, "matched", `
		queued prompt=5 max=50 ahead=1
		started step=2
		first step=2
		ended tokens=2 reason=stop matched=true`)
	expect(t, events, "late", `
		queued prompt=5 max=50 ahead=2
		ended reason=deadline`)
}

// A pause concerns everyone: it is one event, and no request's, and another one where a
// holder comes or goes.
func TestTraceOfAPause(t *testing.T) {
	r := startTraced(t, executor.EchoConfig{Blocks: 64}, sched.Config{})
	r.add("a", prompt(5, 1), 1, 1)
	var holds [2]*Hold
	var asked sync.WaitGroup
	for i := range holds {
		asked.Go(func() {
			var err error
			if holds[i], err = r.Pause(t.Context(), PauseOptions{}); err != nil {
				t.Error(err)
			}
		})
		for r.State().Holders <= i {
			time.Sleep(time.Millisecond)
		}
	}
	r.settle()
	close(r.release)
	asked.Wait()
	for _, h := range holds {
		if err := h.Release(); err != nil {
			t.Fatal(err)
		}
	}
	events := r.end()
	expect(t, events, "", `
		mode mode=running
		weights version=weights-1
		mode mode=paused holders=1
		mode mode=paused holders=2
		mode mode=paused holders=1
		mode mode=running
		mode mode=draining`)
	expect(t, events, "a", `
		queued prompt=5 max=1
		started step=2
		chunk step=2 count=5 blocks=2 rows=1 tokens=5
		first step=2
		ended tokens=1 reason=length`)
}

// A sleep takes the cache from all, which each of them is told.
func TestTraceOfASleep(t *testing.T) {
	reached, goOn := make(chan struct{}), make(chan struct{})
	r := startTraced(t, executor.EchoConfig{Blocks: 64, Delay: func(b *executor.Batch) {
		if b.Step == 3 {
			close(reached)
			<-goOn
		}
	}}, sched.Config{})
	r.add("a", prompt(5, 1), 3, 1)
	r.settle()
	close(r.release)
	<-reached
	asleep := make(chan error)
	go func() { asleep <- r.Sleep(t.Context(), true, false) }()
	for r.State().Mode != "pausing" {
		time.Sleep(time.Millisecond)
	}
	close(goOn)
	if err := errors.Join(<-asleep, r.Wake(t.Context())); err != nil {
		t.Fatal(err)
	}
	events := r.end()
	expect(t, events, "", `
		mode mode=running
		weights version=weights-1
		mode mode=sleeping
		mode mode=running
		mode mode=draining`)
	expect(t, events, "a", `
		queued prompt=5 max=3
		started step=2
		chunk step=2 count=5 blocks=2 rows=1 tokens=5
		first step=2
		chunk step=3 start=5 count=1 rows=1 tokens=1
		preempted why=emptied step=3 how=recompute
		back step=4
		chunk step=4 count=7 blocks=2 rows=1 tokens=7
		ended tokens=3 given-up=1 reason=length`)
}

// An engine that crashes ends every request in its trace, too.
func TestTraceOfACrash(t *testing.T) {
	r := startTraced(t, executor.EchoConfig{Blocks: 64}, sched.Config{})
	r.add("a", prompt(5, 1), 50, 1)
	r.sys.Root.Send(r.blocks, &blockmgr.Reserve{Release: []blockmgr.Release{{Slot: 7}}})
	for _, rec := range r.records {
		rec.wait()
	}
	close(r.release)
	expect(t, r.end(), "a", `
		queued prompt=5 max=50
		ended reason=failed error=request failed: the engine crashed: blocks: blockmgr: reserve breaks the protocol: slot 7 is released but not open`)
}
