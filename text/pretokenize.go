package text

import (
	"strings"
	"time"
)

// step cuts pieces of text into smaller ones. What it is given is not empty.
type step struct {
	// before changes a piece before it is cut; first: the piece starts the whole text.
	// nil: it stays as it is.
	before func(s string, first bool) string
	// next is the length of the first part of a text; nil: the whole.
	next func(string) int
	// drop says whether a part is left out; nil: none is.
	drop func(string) bool
	// cut is there in the place of next where a pattern has to be looked for. ok is
	// false when it did not come to an end in time.
	cut func(s string, until time.Time, emit func(part string, start int)) (ok bool)
}

// pipeline is the pre-tokenizer: the steps in their order, each cutting what
// the one before it left.
type pipeline []step

// words calls emit with every word of s. A word is never empty. ok is false when a
// pattern of the tokenizer did not come to an end in time.
func (p pipeline) words(s string, first bool, until time.Time, emit func(string)) (ok bool) {
	if s == "" {
		return true
	}
	if len(p) == 0 {
		emit(s)
		return true
	}
	now, rest := &p[0], p[1:]
	if now.before != nil {
		s = now.before(s, first)
	}
	if now.cut != nil {
		all := true
		ok := now.cut(s, until, func(part string, start int) {
			all = all && rest.words(part, first && start == 0, until, emit)
		})
		return ok && all
	}
	for s != "" {
		n := len(s)
		if now.next != nil {
			n = now.next(s)
		}
		if now.drop == nil || !now.drop(s[:n]) {
			if !rest.words(s[:n], first, until, emit) {
				return false
			}
		}
		s, first = s[n:], false
	}
	return true
}

// prefixSpace puts a space before a piece that does not start with one.
func prefixSpace(s string, _ bool) string {
	if strings.HasPrefix(s, " ") {
		return s
	}
	return " " + s
}
