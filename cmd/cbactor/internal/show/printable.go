package show

import (
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Printable is s without control characters, which could move the cursor, set
// colours, or type answers on some terminals. Line ends and tabs stay.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// Quoted is an id, quoted if it has characters that could be taken for what stands
// around it, or that a terminal could obey.
func Quoted(id string) string {
	if strings.ContainsFunc(id, unicode.IsControl) {
		return strconv.Quote(id)
	}
	return id
}

// wrap breaks s into lines of at most width cells of a terminal, between words
// where it can. Empty lines are left out.
func wrap(s string, width int) []string {
	var lines []string
	for paragraph := range strings.Lines(Printable(s)) {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && runewidth.StringWidth(line)+1+runewidth.StringWidth(word) <= width {
				line += " " + word
				continue
			}
			if line != "" {
				lines = append(lines, line)
			}
			for line = word; runewidth.StringWidth(line) > width; {
				part := runewidth.Truncate(line, width, "")
				if part == "" { // a character wider than the line
					return lines
				}
				lines = append(lines, part)
				line = line[len(part):]
			}
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// lastBytes is the end of s of at most n bytes, no character cut.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// dim is s in faint letters, unless the user wants no colours (no-color.org) or the
// terminal has none.
func dim(s string) string {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return s
	}
	return "\x1b[2m" + s + "\x1b[0m"
}
