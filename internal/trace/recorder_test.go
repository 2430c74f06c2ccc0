package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/cbactor/cbactor/internal/jsonl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// file is a writer under test: each write waits for gate, if there is one, and
// after room bytes it fails.
type file struct {
	bytes.Buffer
	gate   chan struct{}
	room   int
	closed int
	onEnd  error // of Close
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
	return f.onEnd
}

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

func noReport(t *testing.T) func(error) { return func(err error) { t.Errorf("reported: %v", err) } }

func TestEventsOfManyGoroutinesAreAllWrittenInOrder(t *testing.T) {
	const writers, each = 4, 2000
	f := &file{}
	r := NewRecorder(f, Header{PageSize: 16}, noReport(t))
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				r.Add(Event{Kind: Chunk, ID: fmt.Sprint(w), Start: i})
			}
		})
	}
	group.Wait()
	r.Finish()
	<-r.Done()
	next, last := [writers]int{}, int64(0)
	for _, e := range read(t, &f.Buffer) {
		w := e.ID[0] - '0'
		if e.Start != next[w] || e.Micros < last {
			t.Fatalf("event %d of writer %d at %d µs, after %d and %d µs", e.Start, w, e.Micros, next[w], last)
		}
		next[w], last = next[w]+1, e.Micros
	}
	if next != [writers]int{each, each, each, each} || f.closed != 1 {
		t.Errorf("written %v, closed %d times", next, f.closed)
	}
}

// A writer that hangs holds up nobody; what finds no room is counted, at its place.
func TestWhatFindsNoRoomIsCounted(t *testing.T) {
	f := &file{gate: make(chan struct{})}
	r := NewRecorder(f, Header{}, noReport(t))
	r.Add(Event{Kind: Chunk, ID: "a", Start: -1}) // held in Write, with the header
	f.gate <- struct{}{}
	const more = 100
	for i := range 2*queueSize + more {
		r.Add(Event{Kind: Chunk, ID: "a", Start: i})
	}
	r.Finish()
	close(f.gate)
	<-r.Done()
	events := read(t, &f.Buffer)
	written, lost := 0, 0
	for _, e := range events {
		if e.Kind == Lost {
			lost += e.Count
			continue
		}
		if e.Start != written+lost-1 {
			t.Fatalf("event %d stands behind %d others and a gap of %d", e.Start, written, lost)
		}
		written++
	}
	if want := 2*queueSize + more + 1; written+lost != want || lost < more || written < queueSize {
		t.Errorf("%d written and %d lost, of %d", written, lost, want)
	}
}

func TestAWriteErrorEndsTheTraceAndIsToldOnce(t *testing.T) {
	f := &file{room: 1 << 10, onEnd: errors.New("close failed too")}
	var told []error
	r := NewRecorder(f, Header{}, func(err error) { told = append(told, err) })
	for range 100_000 {
		r.Add(Event{Kind: Chunk, ID: "some request"})
	}
	r.Finish()
	<-r.Done()
	r.Add(Event{Kind: Chunk})
	if len(told) != 1 || !errors.Is(told[0], ErrWrite) || !errors.Is(told[0], syscall.ENOSPC) {
		t.Errorf("told %v", told)
	}
	if f.closed != 1 || len(r.queue) != 0 {
		t.Errorf("closed %d times, %d events kept", f.closed, len(r.queue))
	}
}

func TestAnErrorOfCloseIsTold(t *testing.T) {
	var told error
	r := NewRecorder(&file{onEnd: syscall.EIO}, Header{}, func(err error) { told = err })
	r.Finish()
	<-r.Done()
	if !errors.Is(told, ErrWrite) || !errors.Is(told, syscall.EIO) {
		t.Errorf("told %v", told)
	}
}

func TestReaderRefusesWhatIsNoTrace(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "empty",
		"{}\n":                        "no header",
		"plain text\n":                "no header",
		"[1]\n":                       "no header",
		`{"cbactor_trace":2}` + "\n":  "version 2",
		`{"cbactor_trace":-1}` + "\n": "version -1",
	} {
		_, err := NewReader(strings.NewReader(text))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestReaderLeavesATornLineOutButNoBadOne(t *testing.T) {
	const head, good = `{"cbactor_trace":1}` + "\n", `{"us":5,"event":"chunk"}`
	for _, c := range []struct {
		text   string
		events int
		torn   bool
		bad    string
	}{
		{good + "\n" + good + "\n", 2, false, ""},
		{good + "\n" + good, 2, false, ""}, // only the line's end is missing
		{good + "\n" + good[:9], 1, true, ""},
		{good + "\n" + good[:9] + "\n", 1, false, "line 3"},
		{good + "\n\n" + good + "\n", 1, false, "line 3"},
		{`{"us":"late"}` + "\n", 0, false, "line 2"},
		{strings.Repeat(" ", jsonl.MaxLine+1), 0, false, "line 2 has more than 64 MiB"},
	} {
		r, err := NewReader(strings.NewReader(head + c.text))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for err == nil {
			if _, err = r.Next(); err == nil {
				n++
			}
		}
		switch {
		case c.bad == "" && !errors.Is(err, io.EOF), c.bad != "" && (!errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.bad)):
			t.Errorf("%.40q ended with %v", c.text, err)
		case n != c.events || r.Torn() != c.torn:
			t.Errorf("%.40q has %d events, torn %v", c.text, n, r.Torn())
		}
	}
}

// A trace without a request is not begun: an older one can stay in its place.
func TestNothingIsWrittenBeforeARequest(t *testing.T) {
	f := &file{}
	r := NewRecorder(f, Header{}, noReport(t))
	r.Add(Event{Kind: Mode, Mode: "running"})
	r.Finish()
	<-r.Done()
	if f.Len() > 0 || f.closed != 1 {
		t.Errorf("%q is written, closed %d times", f.String(), f.closed)
	}
}
