package jinja

import "strings"

// wordWrap breaks the lines of a text where they are too long, as Python's textwrap
// does. Words with hyphens are left out: it has rules of its own for them.
func (r *rendering) wordWrap(v Value, a bound) Value {
	t, ok := v.(Text)
	if !ok {
		r.refuseUndefined(v)
		throw("TypeError", "object of type '%s' cannot be wrapped", typeName(v))
	}
	width := a.number(r, 0, 79)
	if width <= 0 {
		throw("ValueError", "invalid width %d (must be > 0)", width)
	}
	if a.flag(r, 3, true) && strings.Contains(t.s, "-") {
		throwUnsupported("the filter 'wordwrap' for text with hyphens")
	}
	w := wrapper{run: r, width: width, breaks: a.flag(r, 1, true)}
	var parts []Text
	between := a.textOr(r, 2, "\n")
	for _, line := range r.lines(t, false) {
		parts = append(parts, r.join(between, w.wrap(line)))
	}
	return r.join(between, parts)
}

type wrapper struct {
	run    *rendering
	width  int
	breaks bool // words that are longer than a line
}

// wrap is the lines that one line becomes.
func (w *wrapper) wrap(t Text) (lines []Text) {
	chunks := w.run.chunks(t)
	for len(chunks) > 0 {
		if len(lines) > 0 && isBlank(chunks[0]) {
			chunks = chunks[1:]
		}
		var line []Text
		left := w.width
		for len(chunks) > 0 {
			n := w.run.runes(chunks[0])
			if n > left {
				break
			}
			left -= n
			line = append(line, chunks[0])
			chunks = chunks[1:]
		}
		if len(chunks) > 0 && w.run.runes(chunks[0]) > w.width {
			switch {
			case w.breaks:
				line = append(line, w.run.slicedText(chunks[0], &slice{stop: int64(left)}))
				chunks[0] = w.run.slicedText(chunks[0], &slice{start: int64(left)})
			case len(line) == 0:
				line = append(line, chunks[0])
				chunks = chunks[1:]
			}
		}
		if n := len(line); n > 0 && isBlank(line[n-1]) {
			line = line[:n-1]
		}
		if len(line) > 0 {
			lines = append(lines, w.run.concat(line...))
		}
	}
	return lines
}

func isBlank(t Text) bool { return strings.TrimLeftFunc(t.s, isSpace) == "" }

// chunks are the words of a text and the white space between them.
func (r *rendering) chunks(t Text) (list []Text) {
	space := func(i int) bool { return strings.IndexByte("\t\n\v\f\r ", t.s[i]) >= 0 }
	for from, i := 0, 0; i <= len(t.s); i++ {
		if i > from && (i == len(t.s) || space(i) != space(from)) {
			r.take(4 * valueSize)
			list = append(list, r.part(t, from, i))
			from = i
		}
	}
	return list
}
