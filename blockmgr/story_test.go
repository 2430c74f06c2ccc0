package blockmgr

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/cbactor/cbactor/internal/storytest"
)

// TestStories plays the scenarios under testdata. Each begins with "cache". A block
// that begins with "step" is one Reserve, told line by line, and below it stands the
// answer; "show" is what the books hold; "end" gives everything back and finishes.
func TestStories(t *testing.T) {
	storytest.Run(t, func() storytest.Story { return new(story) })
}

// story is a scenario on its way.
type story struct {
	*Manager // nil: between two
	out      Reserved
	done     uint64
	said     strings.Builder
}

func (s *story) tell(format string, args ...any) { fmt.Fprintf(&s.said, format+"\n", args...) }

func (s *story) Open() bool { return s.Manager != nil }

func (s *story) Play(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	s.said.Reset()
	w := words{storytest.Words{T: t, Args: d.CmdArgs}}
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
	return s.said.String()
}

// step asks one Reserve.
func (s *story) step(t *testing.T, w words, lines string) {
	t.Helper()
	s.done = max(s.done, uint64(w.Number("done", 0)))
	r := &Reserve{Step: uint64(w.first()), Epoch: uint32(w.Number("epoch", 1)), DoneStep: s.done, Margin: float64(w.Number("margin", 0)) / 100,
		Budget: Budget{Tokens: int32(w.Number("tokens", 1024)), Rows: int32(w.Number("rows", 64))}}
	for line := range strings.Lines(lines) {
		verb, args, err := datadriven.ParseLine(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		words{storytest.Words{T: t, Args: args}}.add(verb, r)
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

// words are those of a line.
type words struct{ storytest.Words }

// first is the number that a line begins with.
func (w words) first() int { return w.all()[0] }

// all are the numbers that a line begins with, one at least.
func (w words) all() []int {
	n := w.Numbers()
	if len(n) == 0 {
		w.T.Fatal("a number is missing")
	}
	return n
}

func (w words) cache() Config {
	c := Config{PageSize: w.Number("page", 16), Slots: 16, Sharing: w.Flag("sharing")}
	for _, a := range w.Args {
		if a.Key == "blocks" {
			for _, v := range a.Vals {
				n, err := strconv.Atoi(v)
				if err != nil {
					w.T.Fatal(err)
				}
				c.Blocks = append(c.Blocks, n)
			}
		}
	}
	return c
}

// add puts a line's part into a Reserve, for each slot that it names. Its number is its
// place in line, if nothing else is said.
func (w words) add(verb string, r *Reserve) {
	w.T.Helper()
	after := uint64(w.Number("after", 0))
	for _, n := range w.all() {
		slot := Slot(n)
		ids := append(textOf(w.Number("text", n), w.Number("prompt", 0)), textOf(100+n, w.Number("own", 0))...)
		switch verb {
		case "open":
			r.Open = append(r.Open, Open{Slot: slot, IDs: ids, Salt: uint64(w.Number("salt", 0)), Private: w.Flag("private")})
		case "fork":
			r.Forks = append(r.Forks, Fork{Slot: slot, Parent: Slot(w.Number("of", 0)), IDs: ids})
		case "done":
			r.Done = append(r.Done, Done{Slot: slot, Epoch: uint32(w.Number("epoch", 1)), Written: int32(w.Number("to", 0)), IDs: textOf(100+n, w.Number("new", 0))})
		case "release":
			r.Release = append(r.Release, Release{Slot: slot, After: after})
		case "want":
			want := w.Number("n", 1)
			if w.Flag("hosted") {
				want = 0
			}
			r.Candidates = append(r.Candidates, Candidate{Slot: slot, Position: int32(w.Number("at", 0)), Want: int32(want), Room: int32(w.Number("room", want+1)),
				MayMatch: !w.Flag("alone"), FromHost: w.Flag("hosted"), Epoch: uint32(w.Number("epoch", 1)), MayPreempt: w.Flag("preempt"), Place: int32(w.Number("place", n))})
		case "victims":
			r.Victims = append(r.Victims, Victim{Slot: slot, Place: int32(w.Number("place", n)), After: after})
		default:
			w.T.Fatalf("nobody knows how to %s", verb)
		}
	}
}
