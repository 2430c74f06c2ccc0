package blockmgr

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestStories plays the scenarios under testdata. Each begins with "cache". A block
// that begins with "step" is one Reserve, told line by line, and below it stands the
// answer; "show" is what the books hold; "end" gives everything back and finishes.
// "go test -rewrite" writes what came of it.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			var s story
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				t.Helper()
				s.said.Reset()
				s.play(t, d)
				return s.said.String()
			})
			if s.Manager != nil {
				t.Error("the last scenario has no end")
			}
		})
	}
}

// story is a scenario on its way.
type story struct {
	*Manager // nil: between two
	out      Reserved
	done     uint64
	said     strings.Builder
}

func (s *story) tell(format string, args ...any) { fmt.Fprintf(&s.said, format+"\n", args...) }

func (s *story) play(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	w := words{t, d.CmdArgs}
	switch {
	case (d.Cmd == "cache") != (s.Manager == nil):
		t.Fatalf("%s: a scenario begins with cache and finishes with end", d.Pos)
	case d.Cmd == "cache":
		*s = story{Manager: New(w.cache())}
	case d.Cmd == "step":
		s.step(t, w, d.Input)
	case d.Cmd == "show":
		s.tellBooks()
	case d.Cmd == "end":
		s.end(t)
	default:
		t.Fatalf("%s: nobody knows how to %s", d.Pos, d.Cmd)
	}
}

// step asks one Reserve.
func (s *story) step(t *testing.T, w words, lines string) {
	t.Helper()
	s.done = max(s.done, uint64(w.number("done", 0)))
	r := &Reserve{Step: uint64(w.first()), Epoch: uint32(w.number("epoch", 1)), DoneStep: s.done, Margin: float64(w.number("margin", 0)) / 100,
		Budget: Budget{Tokens: int32(w.number("tokens", 1024)), Rows: int32(w.number("rows", 64))}}
	for line := range strings.Lines(lines) {
		verb, args, err := datadriven.ParseLine(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		words{t, args}.add(verb, r)
	}
	s.reserve(t, r)
	s.tellAnswer()
}

func (s *story) reserve(t *testing.T, r *Reserve) {
	t.Helper()
	if err := s.Reserve(r, &s.out); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
}

// end releases what is open, and wants room for every block.
func (s *story) end(t *testing.T) {
	t.Helper()
	r := &Reserve{Step: 1 << 20, DoneStep: 1<<20 - 1}
	for i := range s.slots {
		if s.slots[i].open {
			r.Release = append(r.Release, Release{Slot: Slot(i)})
		}
	}
	s.reserve(t, r)
	for g := range s.pools {
		if p := &s.pools[g]; int(p.room()) != len(p.refs) {
			t.Fatalf("group %d has room for %d of %d blocks at the end", g, p.room(), len(p.refs))
		}
	}
	s.tell("all given back, %s", s.rooms())
	s.Manager = nil
}

// words are the arguments of a line.
type words struct {
	t    *testing.T
	args []datadriven.CmdArg
}

// first is the number that a line begins with.
func (w words) first() int { return w.all()[0] }

// all are the numbers that a line begins with.
func (w words) all() (n []int) {
	for _, a := range w.args {
		i, err := strconv.Atoi(a.Key)
		if err != nil {
			break
		}
		n = append(n, i)
	}
	if len(n) == 0 {
		w.t.Fatal("a number is missing")
	}
	return n
}

func (w words) flag(name string) bool {
	return slices.ContainsFunc(w.args, func(a datadriven.CmdArg) bool { return a.Key == name })
}

func (w words) number(name string, otherwise int) int {
	w.t.Helper()
	for _, a := range w.args {
		if a.Key == name {
			w.args = []datadriven.CmdArg{{Key: a.SingleVal(w.t)}}
			return w.first()
		}
	}
	return otherwise
}

func (w words) cache() Config {
	c := Config{PageSize: w.number("page", 16), Slots: 16, Sharing: w.flag("sharing")}
	for _, a := range w.args {
		if a.Key == "blocks" {
			for _, v := range a.Vals {
				c.Blocks = append(c.Blocks, words{w.t, []datadriven.CmdArg{{Key: v}}}.first())
			}
		}
	}
	return c
}

// add puts a line's part into a Reserve, for each slot that it names. Its number is its
// place in line, if nothing else is said.
func (w words) add(verb string, r *Reserve) {
	w.t.Helper()
	after := uint64(w.number("after", 0))
	for _, n := range w.all() {
		slot := Slot(n)
		ids := append(textOf(w.number("text", n), w.number("prompt", 0)), textOf(100+n, w.number("own", 0))...)
		switch verb {
		case "open":
			r.Open = append(r.Open, Open{Slot: slot, IDs: ids, Salt: uint64(w.number("salt", 0)), Private: w.flag("private")})
		case "fork":
			r.Forks = append(r.Forks, Fork{Slot: slot, Parent: Slot(w.number("of", 0)), IDs: ids})
		case "done":
			r.Done = append(r.Done, Done{Slot: slot, Epoch: uint32(w.number("epoch", 1)), Written: int32(w.number("to", 0)), IDs: textOf(100+n, w.number("new", 0))})
		case "release":
			r.Release = append(r.Release, Release{Slot: slot, After: after})
		case "want":
			want := w.number("n", 1)
			if w.flag("hosted") {
				want = 0
			}
			r.Candidates = append(r.Candidates, Candidate{Slot: slot, Position: int32(w.number("at", 0)), Want: int32(want), Room: int32(w.number("room", want+1)),
				MayMatch: !w.flag("alone"), FromHost: w.flag("hosted"), Epoch: uint32(w.number("epoch", 1)), MayPreempt: w.flag("preempt"), Place: int32(w.number("place", n))})
		case "victims":
			r.Victims = append(r.Victims, Victim{Slot: slot, Place: int32(w.number("place", n)), After: after})
		default:
			w.t.Fatalf("nobody knows how to %s", verb)
		}
	}
}
