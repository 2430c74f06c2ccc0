package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// line is one under test: number N of a goroutine, or how many are missing, and which
// was the first.
type line struct{ By, N, Lost, First int }

// form is of files that begin with a line number 0 or above.
var form = Format[line]{
	Header: "header",
	Begins: func(l line) bool { return l.N >= 0 },
	Lost:   func(n int, first line) line { return line{Lost: n, First: first.N} },
}

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

// lines are those behind the header.
func (f *file) lines(t *testing.T) (list []line) {
	t.Helper()
	in := New(&f.Buffer, errors.New("of the test"))
	for {
		text, err := in.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		if in.Number == 1 {
			if string(text) != "\"header\"\n" {
				t.Fatalf("it begins with %q", text)
			}
			continue
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		list = append(list, l)
	}
}

func noReport(t *testing.T) func(error) { return func(err error) { t.Errorf("reported: %v", err) } }

func TestLinesOfManyGoroutinesAreAllWrittenInOrder(t *testing.T) {
	const writers, each = 4, 2000
	f := &file{}
	w := NewWriter(f, form, noReport(t))
	var group sync.WaitGroup
	for by := range writers {
		group.Go(func() {
			for n := range each {
				w.Add(line{By: by, N: n})
			}
		})
	}
	group.Wait()
	w.Finish()
	w.Finish()
	<-w.Done()
	next := [writers]int{}
	for _, l := range f.lines(t) {
		if l.N != next[l.By] {
			t.Fatalf("line %d of goroutine %d stands behind %d others", l.N, l.By, next[l.By])
		}
		next[l.By]++
	}
	if next != [writers]int{each, each, each, each} || f.closed != 1 {
		t.Errorf("written %v, closed %d times", next, f.closed)
	}
}

// A file that hangs holds up nobody; what finds no room is counted, at its place.
func TestWhatFindsNoRoomIsCounted(t *testing.T) {
	f := &file{gate: make(chan struct{})}
	w := NewWriter(f, form, noReport(t))
	w.Add(line{}) // held in Write, with the header
	f.gate <- struct{}{}
	const more = 100
	for i := range 2*queueSize + more {
		w.Add(line{N: 1 + i})
	}
	w.Finish()
	close(f.gate)
	<-w.Done()
	written, lost := 0, 0
	for _, l := range f.lines(t) {
		switch at := written + lost; {
		case l.Lost > 0:
			if l.First != at {
				t.Errorf("%d lines are missing behind %d others, the first of them %d", l.Lost, at, l.First)
			}
			lost += l.Lost
		case l.N != at:
			t.Fatalf("line %d stands behind %d others and a gap of %d", l.N, written, lost)
		default:
			written++
		}
	}
	if want := 2*queueSize + more + 1; written+lost != want || lost < more || written < queueSize {
		t.Errorf("%d written and %d lost, of %d", written, lost, want)
	}
}

// A full disk is told once, and what comes is kept no more.
func TestAWriteErrorEndsTheFileAndIsToldOnce(t *testing.T) {
	f := &file{room: 1 << 10, onEnd: errors.New("close failed too")}
	var told []error
	w := NewWriter(f, form, func(err error) { told = append(told, err) })
	for i := range 100_000 {
		w.Add(line{N: i})
	}
	<-w.Done()
	w.Add(line{})
	w.Finish()
	if len(told) != 1 || !errors.Is(told[0], syscall.ENOSPC) {
		t.Errorf("told %v", told)
	}
	if f.closed != 1 || len(w.queue) != 0 {
		t.Errorf("closed %d times, %d lines kept", f.closed, len(w.queue))
	}
}

func TestAnErrorOfCloseIsTold(t *testing.T) {
	var told error
	w := NewWriter(&file{onEnd: syscall.EIO}, form, func(err error) { told = err })
	w.Finish()
	<-w.Done()
	if !errors.Is(told, syscall.EIO) {
		t.Errorf("told %v", told)
	}
}

// A file without a line that it is worth having for is not begun: an older one can stay
// in its place. What came before such a line is written with it.
func TestNothingIsWrittenBeforeTheFileBegins(t *testing.T) {
	for _, begins := range []bool{false, true} {
		f := &file{}
		w := NewWriter(f, form, noReport(t))
		w.Add(line{N: -1})
		var want []line
		if begins {
			w.Add(line{N: 0})
			want = []line{{N: -1}, {N: 0}}
		}
		w.Finish()
		<-w.Done()
		if !begins && f.Len() > 0 || f.closed != 1 {
			t.Errorf("%q is written, closed %d times", f.String(), f.closed)
		}
		if got := f.lines(t); !slices.Equal(got, want) {
			t.Errorf("written is %v, want %v", got, want)
		}
	}
}
