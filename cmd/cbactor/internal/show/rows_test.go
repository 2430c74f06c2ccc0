package show

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

func (r *rows) ids() []string {
	var ids []string
	for _, of := range r.places {
		if of == nil {
			ids = append(ids, "-")
			continue
		}
		ids = append(ids, of.entry.ID)
	}
	return ids
}

func TestPlacesStay(t *testing.T) {
	r := rows{places: make([]*row, 2)}
	entry := func(i int) Entry { return Entry{Index: i, ID: fmt.Sprint(i)} }
	for i := range 5 {
		r.event(Event{Entry: entry(i)})
	}
	for _, step := range []struct {
		ends int
		want string
	}{{1, "0 2"}, {3, "0 2"}, {0, "4 2"}, {2, "4 -"}, {4, "- -"}} {
		r.event(Event{Entry: entry(step.ends), Tokens: 1, Result: &Result{}})
		if got := r.ids(); !slices.Equal(got, strings.Fields(step.want)) {
			t.Errorf("after the end of %d: %v, want %s", step.ends, got, step.want)
		}
	}
	r.event(Event{Entry: entry(9), Tokens: 1}) // never began
	if len(r.waiting) != 0 {
		t.Errorf("%d are waiting", len(r.waiting))
	}
}

func TestLineShowsTheEnd(t *testing.T) {
	r := rows{places: make([]*row, 2)}
	e := Entry{ID: "a-very-long-id\x1b[2J", Lead: "Once upon"}
	r.event(Event{Entry: e})
	r.event(Event{Entry: e, Tokens: 7, Text: " a time\nthere was a 猫 who could\tdance"})
	for n, want := range []string{
		"a-very-long…     7  there was a 猫",
		"                    who could dance",
	} {
		if got := r.line(0, n, 2, 36); got != want {
			t.Errorf("line %d is %q, want %q", n, got, want)
		}
	}
	if got := r.line(1, 0, 2, 36); got != "" {
		t.Errorf("a free place shows %q", got)
	}
}

func TestLinesFit(t *testing.T) {
	text := "some words, 猫猫猫猫猫猫猫猫猫猫猫猫, " + strings.Repeat("x", 300) + " \x1b]0;title\a e\u0301e\u0301"
	for width := range 60 {
		r := rows{places: make([]*row, 1)}
		r.event(Event{Entry: Entry{ID: "猫猫猫猫猫猫猫猫"}})
		r.event(Event{Tokens: 1, Text: text})
		for n := range 3 {
			if got := r.line(0, n, 3, width); runewidth.StringWidth(got) > width || strings.ContainsAny(got, "\x1b\a\n") {
				t.Errorf("width %d: line %q", width, got)
			}
		}
	}
}

func TestTextOfARowIsBounded(t *testing.T) {
	r := rows{places: make([]*row, 1)}
	r.event(Event{})
	for range 1000 {
		r.event(Event{Tokens: 1, Text: "é words of some length "})
	}
	if n := len(r.places[0].text); n > 2*rowText+100 || n < rowText/2 {
		t.Errorf("%d bytes are kept", n)
	}
}
