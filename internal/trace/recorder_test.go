package trace

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

// read gives the events of a trace.
func read(t *testing.T, in io.Reader) (list []Event) {
	t.Helper()
	r, err := NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
}

// Times ascend, whoever notes an event.
func TestEventsOfManyGoroutinesStandByTheirTimes(t *testing.T) {
	const writers, each = 4, 2000
	f := &file{}
	r := NewRecorder(f, Header{PageSize: 16}, func(err error) { t.Error(err) })
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range each {
				r.Add(Event{Kind: Chunk, ID: "a"})
			}
		})
	}
	group.Wait()
	r.Finish()
	<-r.Done()
	events, last := read(t, &f.Buffer), int64(0)
	for _, e := range events {
		if e.Micros < last {
			t.Fatalf("an event of %d µs stands behind one of %d µs", e.Micros, last)
		}
		last = e.Micros
	}
	if len(events) != writers*each {
		t.Errorf("%d events, want %d", len(events), writers*each)
	}
}

// The mode of an engine that has no request is nothing to begin a trace for.
func TestATraceBeginsWithARequest(t *testing.T) {
	f := &file{onEnd: syscall.EIO}
	var told error
	r := NewRecorder(f, Header{}, func(err error) { told = err })
	r.Add(Event{Kind: Mode, Mode: "running"})
	r.Finish()
	<-r.Done()
	if f.Len() > 0 || !errors.Is(told, ErrWrite) || !errors.Is(told, syscall.EIO) {
		t.Errorf("%q is written, told was %v", f.String(), told)
	}
}

// What a reader is too slow for is counted, at its time.
func TestWhatIsLostIsAnEvent(t *testing.T) {
	in, out := io.Pipe() // holds nothing itself
	r := NewRecorder(out, Header{}, func(err error) { t.Error(err) })
	const all = 40_000
	for range all {
		r.Add(Event{Kind: Chunk, ID: "a"})
	}
	r.Finish()
	written, lost := 0, Event{}
	for _, e := range read(t, in) {
		if e.Kind == Lost {
			lost = e
		} else {
			written++
		}
	}
	if lost.Count == 0 || written+lost.Count != all || lost.Micros == 0 || lost.ID != "" {
		t.Errorf("%d events and %+v, of %d", written, lost, all)
	}
	<-r.Done()
}
