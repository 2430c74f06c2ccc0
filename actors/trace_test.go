package actors

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/obs/obstest"
	"github.com/cbactor/cbactor/internal/trace"
	"github.com/cbactor/cbactor/sched"
)

// tracedRun runs requests over an ECHO executor under a trace. The first step, of a
// request named gate, is held until all others are in line, so that what follows is
// always the same.
type tracedRun struct {
	*System
	t       *testing.T
	out     bytes.Buffer
	held    chan struct{} // closed when the first step runs
	release chan struct{}
	records []*record
}

func (r *tracedRun) Write(p []byte) (int, error) { return r.out.Write(p) }
func (r *tracedRun) Close() error                { return nil }

// startTraced starts actors over pages of 4 tokens, and a request whose step is held.
func startTraced(t *testing.T, ec executor.EchoConfig, sc sched.Config) *tracedRun {
	t.Helper()
	r := &tracedRun{t: t, held: make(chan struct{}), release: make(chan struct{})}
	ec.PageSize = 4
	ec.Context = 256
	delay := ec.Delay
	ec.Delay = func(b *executor.Batch) {
		select {
		case <-r.held:
			if delay != nil {
				delay(b)
			}
		default:
			close(r.held)
			<-r.release
		}
	}
	ex := executor.NewEcho(ec)
	info := ex.Info()
	sc.PageSize, sc.Blocks, sc.Host, sc.Depth = 4, info.Groups[0].Blocks, info.Groups[0].Host, info.MaxOutstanding
	sc.MaxTokens, sc.MaxSlots, sc.CopyCost, sc.Overlap = info.MaxTokens, info.MaxSlots, info.CopyCost, info.Overlap
	r.System = Start(Options{Executor: ex, Log: zerolog.Nop(), Trace: r, Version: func(epoch uint32) string { return fmt.Sprint("weights-", epoch) }, Sched: sc,
		Limits: Limits{Vocab: info.Vocab, MaxContext: info.MaxContext, CacheTokens: 4 * sc.Blocks, MaxOpen: 1000}})
	r.add("gate", []int32{1}, 1, 1)
	<-r.held
	return r
}

// add submits a request of n sequences.
func (r *tracedRun) add(id string, prompt []int32, maxNew, n int) {
	r.t.Helper()
	r.submit(&Submit{ID: id, IDs: prompt, MaxNew: maxNew}, n)
}

func (r *tracedRun) submit(m *Submit, n int) {
	r.t.Helper()
	reply := make(chan error, 1)
	m.Reply = reply
	for i := range n {
		rec := newRecord(r.t)
		r.records = append(r.records, rec)
		if i == 0 {
			m.Sink = rec
		} else {
			m.Children = append(m.Children, rec)
		}
	}
	r.System.Submit(m)
	if err := <-reply; err != nil {
		r.t.Fatal(err)
	}
}

// settle waits until the scheduler knows of everything that was sent, and has asked
// and been answered what it can before the step that is held ends.
func (r *tracedRun) settle() {
	r.t.Helper()
	for _, pid := range []*actor.PID{r.intake, r.scheduler, r.blocks, r.scheduler} {
		if _, err := r.sys.Root.RequestFuture(pid, &actor.Touch{}, 20*time.Second).Result(); err != nil {
			r.t.Fatal(err)
		}
	}
}

// finish lets everything run to its end and gives the trace.
func (r *tracedRun) finish() []trace.Event {
	r.t.Helper()
	r.settle()
	close(r.release)
	return r.end()
}

// end waits for all requests, ends the actors and gives the trace.
func (r *tracedRun) end() []trace.Event {
	r.t.Helper()
	for _, rec := range r.records {
		rec.wait()
	}
	r.Stop(false, false)
	if err := r.System.Close(); err != nil {
		r.t.Fatal(err)
	}
	if n, w := len(r.trace.open), r.trace.waiting; n != 0 || w != 0 {
		r.t.Errorf("the tracer keeps %d requests, %d of them waiting", n, w)
	}
	return readTrace(r.t, &r.out)
}

func readTrace(t *testing.T, in io.Reader) (list []trace.Event) {
	t.Helper()
	rd, err := trace.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
}

// line is an event without its times and with the fields that it has.
func line(e trace.Event) string {
	s := string(e.Kind)
	for _, f := range []struct {
		name  string
		value any
	}{
		{"prompt", e.Prompt}, {"max", e.MaxNew}, {"ahead", e.Ahead}, {"of", e.Of}, {"why", e.Why}, {"on", e.On}, {"missing", e.Missing},
		{"step", e.Step}, {"start", e.Start}, {"count", e.Count}, {"blocks", e.Blocks}, {"rows", e.Rows}, {"tokens", e.Tokens},
		{"cached", e.Cached}, {"host", e.FromHost}, {"for", e.For}, {"how", e.How}, {"given-up", e.Preemptions}, {"reason", e.Reason}, {"matched", e.Matched}, {"error", e.Error}, {"mode", e.Mode},
		{"holders", e.Holders}, {"version", e.Version},
	} {
		if v := fmt.Sprint(f.value); v != "" && v != "0" && v != "false" {
			s += " " + f.name + "=" + v
		}
	}
	return s
}

// expect compares the events of a request with lines.
func expect(t *testing.T, events []trace.Event, id string, want string) {
	t.Helper()
	var got []string
	for _, e := range events {
		if e.ID == id {
			got = append(got, line(e))
		}
	}
	text := strings.Join(got, "\n")
	if want = strings.ReplaceAll(strings.TrimSpace(want), "\t", ""); text != want {
		t.Errorf("%s:\n%s\nwant\n%s", id, text, want)
	}
}

// prompt is a prompt of n tokens; what salt differs has nothing in common.
func prompt(n, salt int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(100*salt + i)
	}
	return p
}

// lives checks that every request has one beginning and one end, and that in each of
// its lives, from a start to its being given up or its end, what is computed begins
// behind what was found and has no gap and nothing twice. A life that ends well, or
// has a token, covers the prompt.
func lives(t *testing.T, events []trace.Event) {
	t.Helper()
	type state struct {
		prompt, next      int
		running, finished bool
	}
	open := map[string]*state{}
	for n, e := range events {
		s := open[e.ID]
		switch {
		case e.ID == "":
			continue
		case e.Kind == trace.Queued && s == nil:
			open[e.ID] = &state{prompt: e.Prompt}
			continue
		case s == nil || s.finished:
			t.Fatalf("event %d of %s: %s before the beginning, or after the end", n, e.ID, line(e))
		}
		wrong := false
		switch e.Kind {
		case trace.Started, trace.Back, trace.Forked:
			wrong = s.running
			s.running, s.next = true, e.Cached+e.FromHost
		case trace.Chunk:
			wrong = !s.running || e.Start != s.next
			s.next += e.Count
		case trace.First:
			wrong = s.next < s.prompt
		case trace.Preempted:
			wrong = !s.running
			s.running = false
		case trace.Ended:
			s.finished = true
			wrong = e.Reason == "length" && s.next < s.prompt+e.Tokens-1 // also given up with its last step in flight
		}
		if wrong {
			t.Fatalf("event %d of %s: %s with %d of %d positions computed, running %v", n, e.ID, line(e), s.next, s.prompt, s.running)
		}
	}
	for id, s := range open {
		if !s.finished {
			t.Errorf("%s never ends", id)
		}
	}
}

// Whatever happens to requests, what is computed for each is told whole.
func TestTraceTellsEveryPositionOnce(t *testing.T) {
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		ec := executor.EchoConfig{Blocks: 10 + rnd.IntN(30), Slots: 1 + rnd.IntN(8), Tokens: 8 + rnd.IntN(40), HostBlocks: rnd.IntN(2) * 20, Outstanding: 1 + rnd.IntN(2),
			Overlap: rnd.IntN(2) == 0, CopyCost: []float64{0, 0.3, 1}[rnd.IntN(3)]}
		r := startTraced(t, ec, sched.Config{Sharing: rnd.IntN(2) == 0, Margin: float64(rnd.IntN(3)) / 20, Policy: sched.Policy(rnd.IntN(3))})
		for i := range 20 {
			r.add(fmt.Sprint("r", i), prompt(1+rnd.IntN(20), rnd.IntN(3)), 1+rnd.IntN(15), 1+rnd.IntN(3))
		}
		r.settle()
		close(r.release)
		for range 3 {
			r.Cancel(fmt.Sprint("r", rnd.IntN(20)), nil)
		}
		events := r.end()
		lives(t, events)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// A trace that cannot be written is told once, and the engine goes on.
func TestATraceThatFailsEndsAlone(t *testing.T) {
	var log obstest.Journal
	ex := executor.NewEcho(executor.EchoConfig{Blocks: 64})
	s := Start(Options{Executor: ex, Log: zerolog.New(&log).Level(zerolog.WarnLevel), Trace: fullDisk{},
		Sched:  sched.Config{MaxTokens: 64, MaxSlots: 8, PageSize: 16, Blocks: 64, Depth: 1},
		Limits: Limits{Vocab: 50021, MaxContext: 1024, CacheTokens: 1024, MaxOpen: 10}})
	rec := newRecord(t)
	if err := submit(s, "a", rec, 500); err != nil {
		t.Fatal(err)
	}
	if e := rec.wait(); e.Reason != ReasonLength {
		t.Errorf("ended %+v", e)
	}
	s.Stop(false, false)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "no space left"); n != 1 {
		t.Errorf("told %d times: %s", n, log.String())
	}
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
func (fullDisk) Close() error              { return nil }

// A write that never returns holds neither requests nor, for ever, Close.
func TestATraceThatHangsIsGivenUp(t *testing.T) {
	before := closeTimeout
	closeTimeout = 50 * time.Millisecond
	defer func() { closeTimeout = before }()
	in, out := io.Pipe() // nobody reads
	s := Start(Options{Executor: executor.NewEcho(executor.EchoConfig{Blocks: 64}), Log: zerolog.Nop(), Trace: out,
		Sched:  sched.Config{MaxTokens: 64, MaxSlots: 8, PageSize: 16, Blocks: 64, Depth: 1},
		Limits: Limits{Vocab: 50021, MaxContext: 1024, CacheTokens: 1024, MaxOpen: 10}})
	rec := newRecord(t)
	if err := submit(s, "a", rec, 500); err != nil {
		t.Fatal(err)
	}
	rec.wait()
	s.Stop(true, false)
	if err := s.Close(); !errors.Is(err, trace.ErrWrite) {
		t.Errorf("close: %v", err)
	}
	if err := in.Close(); err != nil { // lets the write return
		t.Error(err)
	}
	<-s.trace.rec.Done()
}
