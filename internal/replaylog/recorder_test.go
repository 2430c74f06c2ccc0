package replaylog

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// file is a writer under test, with the error of Close.
type file struct {
	bytes.Buffer
	onEnd error
}

func (f *file) Close() error { return f.onEnd }

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

// addPair adds a request and its one sequence.
func (r *Recorder) addPair() {
	q, s := pair(0)
	r.AddRequest(q.Request)
	s.Sequence.Request = q.Request.Number
	r.Add(s)
}

// What is recorded is read as it was, and nothing is written before the first request.
func TestALogIsReadAsItWasWritten(t *testing.T) {
	f := &file{}
	r := NewRecorder(f, header, func(err error) { t.Error(err) })
	r.Add(Line{Weights: first})
	r.addPair()
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
	if _, err := in.Next(); !errors.Is(err, io.EOF) || in.Open() != 0 || in.Lost() != 0 || in.Torn() {
		t.Errorf("%v, %d open, %d lost", err, in.Open(), in.Lost())
	}
}

// Weights that nobody computed with are nothing to begin a log for.
func TestALogBeginsWithARequest(t *testing.T) {
	f := &file{onEnd: syscall.EIO}
	var told error
	r := NewRecorder(f, header, func(err error) { told = err })
	r.Add(Line{Weights: first})
	r.Finish()
	<-r.Done()
	if f.Len() > 0 || !errors.Is(told, ErrWrite) || !errors.Is(told, syscall.EIO) {
		t.Errorf("%q is written, told was %v", f.String(), told)
	}
}

// What a reader is too slow for is counted.
func TestWhatIsLostIsALine(t *testing.T) {
	in, out := io.Pipe() // holds nothing itself
	r := NewRecorder(out, header, func(err error) { t.Error(err) })
	r.Add(Line{Weights: first})
	const all = 40_000
	for range all / 2 {
		r.addPair()
	}
	r.Finish()
	log, err := NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for {
		e, err := log.Next()
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
	if log.Lost() == 0 || int64(2*whole+log.Open())+log.Lost() != all {
		t.Errorf("%d whole, %d open, %d lost, of %d lines", whole, log.Open(), log.Lost(), all)
	}
	<-r.Done()
}

// Requests that come from many goroutines stand in the order of their numbers.
func TestNumbersAscend(t *testing.T) {
	for range 5 {
		f := &file{}
		r := NewRecorder(f, header, func(err error) { t.Error(err) })
		r.Add(Line{Weights: first})
		begin, all := make(chan struct{}), sync.WaitGroup{}
		for range 100 {
			all.Go(func() {
				<-begin
				for range 50 {
					q, _ := pair(0)
					r.AddRequest(q.Request)
				}
			})
		}
		close(begin)
		all.Wait()
		r.Finish()
		<-r.Done()
		in, err := NewReader(&f.Buffer)
		for err == nil {
			_, err = in.Next()
		}
		if !errors.Is(err, io.EOF) || in.Lost() > 0 || in.Open() != 5000 {
			t.Fatalf("%v, %d lost, %d open", err, in.Lost(), in.Open())
		}
	}
}
