package show

import (
	"fmt"
	"slices"

	"github.com/mattn/go-runewidth"
)

const (
	rowID   = 12        // cells of an id
	rowHead = rowID + 8 // cells of id and tokens
	rowText = 2048      // bytes kept of a text at least, more than is shown of it
)

// row is a running request in a live block.
type row struct {
	entry  Entry
	tokens int
	text   string // its end
}

// rows gives running requests a place each, for as long as they run; those that
// find none wait for the next one that is left.
type rows struct {
	places  []*row // nil: nobody's
	waiting []*row
}

func (r *rows) event(e Event) {
	if e.Begins() {
		r.begin(&row{entry: e.Entry, text: e.Entry.Lead})
		return
	}
	of := r.find(e.Entry.Index)
	if of == nil {
		return // it was refused and never ran
	}
	of.tokens += e.Tokens
	of.text += e.Text
	if len(of.text) > 2*rowText { // seldom, as it wraps anew then
		of.text = lastBytes(of.text, rowText)
	}
	if e.Result != nil {
		r.end(of)
	}
}

func (r *rows) begin(of *row) {
	if i := slices.Index(r.places, nil); i >= 0 {
		r.places[i] = of
		return
	}
	r.waiting = append(r.waiting, of)
}

func (r *rows) find(index int) *row {
	is := func(of *row) bool { return of != nil && of.entry.Index == index }
	if i := slices.IndexFunc(r.places, is); i >= 0 {
		return r.places[i]
	}
	if i := slices.IndexFunc(r.waiting, is); i >= 0 {
		return r.waiting[i]
	}
	return nil
}

func (r *rows) end(of *row) {
	i := slices.Index(r.places, of)
	switch {
	case i < 0:
		r.waiting = slices.DeleteFunc(r.waiting, func(w *row) bool { return w == of })
	case len(r.waiting) > 0:
		r.places[i] = r.waiting[0]
		r.waiting = slices.Delete(r.waiting, 0, 1)
	default:
		r.places[i] = nil
	}
}

// line is the n-th line of a place of so many, of at most width cells: id and
// tokens in the first, and beside them the end of the text.
func (r *rows) line(place, n, of, width int) string {
	row := r.places[place]
	if row == nil {
		return ""
	}
	head := ""
	if n == 0 {
		id := runewidth.Truncate(Printable(row.entry.ID), rowID, "…")
		head = fmt.Sprintf("%s %5d", runewidth.FillRight(id, rowID), row.tokens)
	}
	head = runewidth.FillRight(head, rowHead)
	if width <= rowHead {
		return runewidth.Truncate(head, width, "")
	}
	lines := wrap(row.text, width-rowHead)
	lines = lines[max(0, len(lines)-of):]
	if n >= len(lines) {
		return head
	}
	return head + lines[n]
}
