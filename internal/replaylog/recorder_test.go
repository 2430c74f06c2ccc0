package replaylog

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// file is a writer under test: each write waits for gate, if there is one, and after
// room bytes it fails.
type file struct {
	bytes.Buffer
	gate   chan struct{}
	room   int
	closed int
}

func (f *file) Write(p []byte) (int, error) {
	if f.gate != nil {
		<-f.gate
	}
	if f.room > 0 && f.Len()+len(p) > f.room {
		return 0, syscall.ENOSPC
	}
	return f.Buffer.Write(p)
}

func (f *file) Close() error {
	f.closed++
	return nil
}

var (
	header = Header{Executor: "cpu generic f32", Compute: "f32", Attention: "tiled", PageSize: 16, Vocab: 100}
	first  = &Weights{Epoch: 1, Version: "default", Digest: "xxh3-64:0011223344556677"}
)

// pair is a request and its one sequence.
func pair(number uint64) (Line, Line) {
	q := &Request{Number: number, ID: "a", Prompt: []int32{1, 2}, Seed: 1<<64 - 1, Sequences: 1}
	q.Sampling.Temperature = 0.7
	run := []Run{{Epoch: 1}}
	return Line{Request: q}, Line{Sequence: &Sequence{Request: number, Finish: "length", Tokens: []int32{5, 6, 7}, Sampled: run, Caches: []Cache{{Runs: run}}}}
}

// What is recorded is read as it was, and nothing is written before the first request.
func TestALogIsReadAsItWasWritten(t *testing.T) {
	f := &file{}
	r := NewRecorder(f, header, func(err error) { t.Error(err) })
	r.Add(Line{Weights: first})
	q, s := pair(r.Number())
	r.Add(q)
	r.Add(s)
	r.Finish()
	r.Finish()
	<-r.Done()
	in, err := NewReader(&f.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	if h := in.Header; h.Executor != header.Executor || h.PageSize != 16 || h.Vocab != 100 || h.Start.IsZero() {
		t.Errorf("header %+v", h)
	}
	if e, err := in.Next(); err != nil || *e.Weights != *first {
		t.Errorf("got %+v, %v", e, err)
	}
	e, err := in.Next()
	if err != nil || e.Request.Seed != 1<<64-1 || e.Request.Sampling.Temperature != 0.7 || len(e.Sequence.Tokens) != 3 {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := in.Next(); !errors.Is(err, io.EOF) || in.Open() != 0 || in.Lost() != 0 || in.Torn() || f.closed != 1 {
		t.Errorf("%v, %d open, %d lost, closed %d times", err, in.Open(), in.Lost(), f.closed)
	}
}

func TestNothingIsWrittenWithoutARequest(t *testing.T) {
	f := &file{}
	r := NewRecorder(f, header, func(err error) { t.Error(err) })
	r.Add(Line{Weights: first})
	r.Finish()
	<-r.Done()
	if f.Len() > 0 || f.closed != 1 {
		t.Errorf("%q, closed %d times", f.String(), f.closed)
	}
}

// A writer that hangs holds up nobody: what does not fit the queue is counted in the log.
func TestALogThatIsTooSlowCountsWhatIsLost(t *testing.T) {
	f := &file{gate: make(chan struct{})}
	r := NewRecorder(f, header, func(err error) { t.Error(err) })
	r.Add(Line{Weights: first})
	const n = queueSize
	for range n {
		q, s := pair(r.Number())
		r.Add(q)
		r.Add(s)
	}
	close(f.gate)
	r.Finish()
	<-r.Done()
	in, err := NewReader(&f.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Sequence != nil {
			whole++
		}
	}
	if in.Lost() == 0 || int64(whole)*2+int64(in.Open())+in.Lost() != 2*n {
		t.Errorf("%d whole, %d open, %d lost, of %d lines", whole, in.Open(), in.Lost(), 2*n)
	}
}

// A full disk is told once, and ends the log alone.
func TestALogThatCannotBeWrittenEnds(t *testing.T) {
	var told []error
	f := &file{room: 100}
	r := NewRecorder(f, header, func(err error) { told = append(told, err) })
	q, s := pair(r.Number())
	r.Add(q)
	<-r.Done()
	for range 2 * queueSize {
		r.Add(s)
	}
	r.Finish()
	if len(told) != 1 || !errors.Is(told[0], ErrWrite) || !errors.Is(told[0], syscall.ENOSPC) || f.closed != 1 {
		t.Errorf("told %v, closed %d times", told, f.closed)
	}
}
