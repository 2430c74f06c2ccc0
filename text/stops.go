package text

import (
	"fmt"
	"unicode/utf8"
)

// Bounds of [NewStops].
const (
	MaxStops     = 64   // strings
	MaxStopBytes = 1024 // of each
)

// Stops are strings that end a text. They are looked for in the text as a
// [Session] gives it, wherever tokens begin and end: the one that ends first
// counts, and of several that end there the longest. Special tokens are not
// shown and so never found, and neither is the U+FFFD of a character that the
// end of the text cuts off. It is safe for concurrent use.
type Stops struct {
	codec     *Codec
	list      []string
	automaton *automaton
}

// NewStops makes the stops of a codec's texts from a list, which is copied: at
// most [MaxStops] strings of UTF-8, each of 1 to [MaxStopBytes] bytes; with none
// nothing is ever found. Errors: ErrStops; ErrNoTokenizer without a codec.
func NewStops(codec *Codec, list []string) (*Stops, error) {
	if codec == nil {
		return nil, fmt.Errorf("stop strings: %w", ErrNoTokenizer)
	}
	if err := CheckStops(list); err != nil {
		return nil, err
	}
	list = append([]string(nil), list...)
	return &Stops{codec: codec, list: list, automaton: newAutomaton(list)}, nil
}

// CheckStops is what NewStops refuses of a list. Errors: ErrStops.
func CheckStops(list []string) error {
	if len(list) > MaxStops {
		return fmt.Errorf("%w: %d are given, at most %d are looked for", ErrStops, len(list), MaxStops)
	}
	for i, s := range list {
		switch {
		case s == "":
			return fmt.Errorf("%w: number %d is empty, it would end every text at its start", ErrStops, i+1)
		case len(s) > MaxStopBytes:
			return fmt.Errorf("%w: number %d has %d bytes, give at most %d", ErrStops, i+1, len(s), MaxStopBytes)
		case !utf8.ValidString(s):
			return fmt.Errorf("%w: number %d is not UTF-8, no text has it", ErrStops, i+1)
		}
	}
	return nil
}

// NewMatcher makes the matcher of one request.
func (s *Stops) NewMatcher() *StopMatcher {
	return &StopMatcher{newScanner(s.codec, s.automaton)}
}

// StopMatcher finds the end of one request in its ids. It finds what a Session
// of the same Stops finds. It belongs to one goroutine.
type StopMatcher struct{ scan scanner }

// After says, before the first Match, that the ids follow a prompt.
func (m *StopMatcher) After(prompt []int32) { m.scan.decoder.After(prompt) }

// Match takes the next ids. When a stop string is complete with one of them it
// answers how many of these ids belong to the request, that one included, else
// -1. It takes time linear in their text and, in the long run, no memory. It is
// not to be called after that.
func (m *StopMatcher) Match(ids []int32) int {
	for i, id := range ids {
		if _, found := m.scan.push(id); found >= 0 {
			return i + 1
		}
	}
	return -1
}

// scanner looks for stop strings in the text of one request.
type scanner struct {
	decoder   *Decoder
	automaton *automaton
	state     int32
}

func newScanner(codec *Codec, a *automaton) scanner {
	return scanner{decoder: codec.NewDecoder(), automaton: a}
}

// push takes the next id. text is what it completes, valid until the next call;
// when a stop string is found in it, which is its index and else -1, text ends
// with that.
func (s *scanner) push(id int32) (text []byte, found int) {
	text = s.decoder.next(id)
	for i, b := range text {
		s.state = s.automaton.next(s.state, b)
		if n := s.automaton.nodes[s.state]; n.found >= 0 {
			return text[:i+1], int(n.found)
		}
	}
	return text, -1
}

// open is how many bytes at the end of the text may be the start of a stop string.
func (s *scanner) open() int { return int(s.automaton.nodes[s.state].depth) }
