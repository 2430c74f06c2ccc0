package text

import "strings"

// Session is the text of one request while it is generated: ids in, what is
// new out, all of it at the end. It belongs to one goroutine.
type Session struct {
	decoder *Decoder // nil: the model has no tokenizer
	text    strings.Builder
}

// NewSession makes the session of one request. With a nil codec, for a model
// that takes ids only, the text stays empty.
func NewSession(codec *Codec) *Session {
	if codec == nil {
		return &Session{}
	}
	return &Session{decoder: codec.NewDecoder()}
}

// Push takes the ids of a step, the one that ended generation included, and
// gives the text they complete, which may be "".
func (s *Session) Push(ids []int32) string {
	if s.decoder == nil {
		return ""
	}
	return s.add(s.decoder.Push(ids))
}

// Finish ends the text and gives what was still held back.
func (s *Session) Finish() string {
	if s.decoder == nil {
		return ""
	}
	return s.add(s.decoder.Flush())
}

// Text is everything given so far.
func (s *Session) Text() string { return s.text.String() }

func (s *Session) add(delta string) string {
	s.text.WriteString(delta)
	return delta
}
