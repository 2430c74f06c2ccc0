package text

import "strings"

// Session is the text of one request while it is generated: ids in, what is
// new out, all of it at the end. With stop strings, text that may turn out to
// be the start of one is held back, never more than it takes, and what follows
// one is dropped. It belongs to one goroutine.
type Session struct {
	scan    scanner  // without a decoder: the model has no tokenizer
	list    []string // the stop strings
	keep    bool     // the one that is found is part of the text
	stopped string   // the one that was found
	text    strings.Builder
	held    []byte // text that is not given yet
}

// NewSession makes the session of one request. With a nil codec, for a model
// that takes ids only, the text stays empty.
func NewSession(codec *Codec) *Session {
	if codec == nil {
		return &Session{}
	}
	return &Session{scan: newScanner(codec, newAutomaton(nil))}
}

// NewSession makes the session of one request that these strings end. Its text
// ends before the one that is found, or, with keep, behind it.
func (s *Stops) NewSession(keep bool) *Session {
	return &Session{scan: newScanner(s.codec, s.automaton), list: s.list, keep: keep}
}

// After says, before the first Push, that the text goes on behind a prompt.
func (s *Session) After(prompt []int32) {
	if s.scan.decoder != nil {
		s.scan.decoder.After(prompt)
	}
}

// Push takes the ids of a step, the one that ended generation included, and
// gives the text that is certain with them, which may be "".
func (s *Session) Push(ids []int32) string {
	if s.scan.decoder == nil {
		return ""
	}
	before := s.text.Len()
	for _, id := range ids {
		if s.stopped != "" {
			break
		}
		text, found := s.scan.push(id)
		s.held = append(s.held, text...)
		certain := len(s.held) - s.scan.open()
		if found >= 0 {
			s.stopped = s.list[found]
			certain = len(s.held)
			if !s.keep {
				certain -= len(s.stopped)
			}
		}
		s.give(certain)
	}
	return s.text.String()[before:]
}

// Finish ends the text, for whatever reason, and gives what was still held back.
func (s *Session) Finish() string {
	if s.scan.decoder == nil || s.stopped != "" {
		return ""
	}
	before := s.text.Len()
	s.held = append(s.held, s.scan.decoder.flush()...)
	s.give(len(s.held))
	return s.text.String()[before:]
}

// Text is everything given so far.
func (s *Session) Text() string { return s.text.String() }

// Stopped is the stop string that was found; "": none.
func (s *Session) Stopped() string { return s.stopped }

// give moves the first n bytes held back into the text.
func (s *Session) give(n int) {
	s.text.Write(s.held[:n])
	s.held = append(s.held[:0], s.held[n:]...)
}
