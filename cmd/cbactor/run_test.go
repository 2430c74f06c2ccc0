package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/executor"
)

var errNoText = errors.New("no text here")

// echoModel is an engine that computes next to nothing, in steps of some time.
func echoModel(t *testing.T, step time.Duration) *generator {
	t.Helper()
	echo := executor.NewEcho(executor.EchoConfig{Blocks: 256, Delay: func(*executor.Batch) { time.Sleep(step) }})
	e, err := engine.Spawn(t.Context(), engine.Config{Executor: echo, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	g, err := newGenerator(e, texts.WithoutText(e, errNoText), errNoText, checkpoint.Generation{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func numbered(i int, tokens int) job {
	return job{request: texts.Request{Request: engine.Request{ID: fmt.Sprint(i), MaxNewTokens: tokens, IgnoreEOS: true}, Prompt: texts.Prompt{IDs: []int32{int32(i % 1000)}}}}
}

// By priority as much is read ahead as the queue takes.
func TestInFlight(t *testing.T) {
	info := engine.Info{BatchRows: 4, QueueSize: 100}
	if fifo, priority := inFlight(info, "fifo"), inFlight(info, "priority"); fifo != 8 || priority != 100 {
		t.Errorf("%d in order and %d by priority", fifo, priority)
	}
	info.QueueSize = 5
	if fifo := inFlight(info, "fifo"); fifo != 5 {
		t.Errorf("%d with room for 5", fifo)
	}
}

// A source is read only as far as there is room, while the news are not read and
// while they are.
func TestBackPressure(t *testing.T) {
	const limit, count = 5, 200
	var pulled atomic.Int64
	jobs := func() (job, error) {
		n := int(pulled.Add(1))
		if n > count {
			return job{}, io.EOF
		}
		if n%7 == 0 {
			return job{skip: true}, nil
		}
		return numbered(n, 1+n%5), nil
	}
	out := newRunner(echoModel(t, 0), limit).run(t.Context(), jobs)
	time.Sleep(20 * time.Millisecond) // nothing is read yet
	done, skipped := 0, 0
	for n := range out {
		if n.err != nil {
			t.Fatal(n.err)
		}
		if n.skipped {
			skipped++
		}
		if n.event.Result != nil {
			done++
		}
		// One more may be pulled that waits for a place, and one place is given up
		// just after its news is read.
		if ahead := int(pulled.Load()) - done - skipped; ahead > limit+2 {
			t.Fatalf("%d are read and not done", ahead)
		}
	}
	if done+skipped != count || skipped != count/7 {
		t.Errorf("%d done, %d skipped", done, skipped)
	}
}

// A bad job is a failed result, in its turn, and no end of the run.
func TestBadJobs(t *testing.T) {
	list := []job{numbered(1, 2), failing("bad", errors.New("bad line")), failing("empty", nil), numbered(2, 2)}
	got := map[string]string{}
	for n := range newRunner(echoModel(t, 0), 2).run(t.Context(), listed(list)) {
		if r := n.event.Result; r != nil {
			got[r.RequestID] = string(r.FinishReason) + " " + r.Error
		}
	}
	want := map[string]string{"1": "length ", "2": "length ", "bad": "failed bad line",
		"empty": `failed the prompt is empty: give at least one token`}
	for id, result := range want {
		if got[id] != result {
			t.Errorf("%s: %q, want %q", id, got[id], result)
		}
	}
}

// A request of several sequences has an entry for each, one after the other, takes a
// place for each, and more places than there are when it is alone.
func TestSequencesOfARequest(t *testing.T) {
	const limit = 4
	var list []job
	for i, n := range []int{3, 1, 6, 2} {
		j := numbered(i, 3)
		j.request.N = n
		list = append(list, j)
	}
	bad := failing("bad", errors.New("bad line"))
	bad.request.N = 3
	list = append(list, bad, numbered(9, 3))
	r := newRunner(echoModel(t, 0), limit)
	ids, begun, ended := map[string]int{}, map[int]bool{}, 0
	for n := range r.run(t.Context(), listed(list)) {
		e := n.event
		switch {
		case n.err != nil:
			t.Fatal(n.err)
		case e.Begins():
			ids[e.Entry.ID] = e.Entry.Index
			begun[e.Entry.Index] = true
			if more := strings.Contains(e.Entry.ID, "/"); e.Entry.More != more {
				t.Errorf("%s: more is %t", e.Entry.ID, e.Entry.More)
			}
		case e.Result != nil:
			ended++
			if e.Result.RequestID != e.Entry.ID || ids[e.Entry.ID] != e.Entry.Index {
				t.Errorf("%s ends as %s, %d", e.Entry.ID, e.Result.RequestID, e.Entry.Index)
			}
		}
		if open := len(begun) - ended; open > max(limit, 6)+1 { // one has begun and waits for places
			t.Errorf("%d are open", open)
		}
	}
	if len(ids) != 14 || len(begun) != 14 || ended != 14 || !begun[0] || !begun[13] || ids["2/5"] != 9 || ids["9"] != 13 {
		t.Errorf("entries %v, %d ended", ids, ended)
	}
	if len(r.places) != 1 {
		t.Errorf("%d places are taken at the end, want that of a job to come", len(r.places))
	}
}

func listed(list []job) source {
	return func() (job, error) {
		if len(list) == 0 {
			return job{}, io.EOF
		}
		j := list[0]
		list = list[1:]
		return j, nil
	}
}

// When the engine takes no more, or the source breaks, the run ends with that.
func TestRunEnds(t *testing.T) {
	closed := echoModel(t, 0)
	if err := closed.engine.Close(); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("disk on fire")
	for name, c := range map[string]struct {
		model *generator
		jobs  source
		want  error
	}{
		"closed engine": {closed, func() (job, error) { return numbered(1, 1), nil }, engine.ErrUnavailable},
		"broken source": {echoModel(t, 0), func() (job, error) { return job{}, broken }, broken},
	} {
		var got error
		for n := range newRunner(c.model, 3).run(t.Context(), c.jobs) {
			if n.err != nil {
				got = n.err
			}
		}
		if !errors.Is(got, c.want) {
			t.Errorf("%s: ended with %v", name, got)
		}
	}
}

// A cancelled run ends with what each open request has, at once, also while its source
// is stuck.
func TestCancelledRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stuck := make(chan struct{})
	defer close(stuck)
	next := 0
	jobs := func() (job, error) {
		next++
		if next > 3 {
			<-stuck
			return job{}, io.EOF
		}
		return numbered(next, 1000), nil
	}
	begun, cancelled := 0, 0
	for n := range newRunner(echoModel(t, 10*time.Millisecond), 8).run(ctx, jobs) {
		switch {
		case n.event.Begins():
			begun++
		case n.event.Result != nil && n.event.Result.FinishReason == engine.FinishCancelled:
			cancelled++
		}
		if begun == 3 {
			cancel()
		}
	}
	if begun != 3 || cancelled != 3 {
		t.Errorf("%d began, %d are cancelled", begun, cancelled)
	}
}
