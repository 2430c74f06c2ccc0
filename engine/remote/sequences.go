package remote

import (
	"fmt"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sampling"
)

// window is how many tokens of a sequence may be under way. The engine hears that they have come
// after ackEach of them, or ackBytes of what is told of them and of text: less than it lets be
// under way.
const (
	window   = 256
	ackEach  = window / 4
	ackBytes = 256 << 10
)

// sequences are those that the engine has open, or of which it has not heard that their
// end was taken.
type sequences struct {
	streams     map[uint64]*sequence
	submissions map[string]*submission // by the ids of their requests, those that are not accepted yet, too
	taken       int                    // places for sequences that are used, or asked for
	most        int                    // that there are
	ends        []ending               // of which the engine may not have heard
}

// ending is the end of a sequence, taken before the call of a number: when that is
// answered, the engine has heard of it.
type ending struct {
	taken *messages.Taken
	call  uint64
}

// sequence is one of the engine's, and where it is told.
type sequence struct {
	submission *submission
	place      int // among those of its request
	to         engine.Sequence
	text       *transcript // nil: nobody reads it
	stream     uint64
	offset     int // tokens that have come
	acked      int // of them, as the engine knows
	unsaid     int // bytes that have come since it was told
	prompt     []sampling.Drawn
	live       bool // News of it are expected, from offset on
	cancelled  bool
	told       bool // its end: what still comes is nobody's
}

// news takes what has come of a sequence.
func (l *link) news(m *messages.News) {
	s := l.streams[m.GetStream()]
	switch {
	case s == nil || !s.live:
		return
	case s.told:
		l.waste(s, m)
		return
	}
	c, err := convert.NewsOf(m)
	if err == nil && c.Offset != s.offset {
		err = fmt.Errorf("%w: tokens from %d on, %d have come", ErrMalformed, c.Offset, s.offset)
	}
	var prompt []sampling.Drawn
	if err == nil {
		prompt, err = convert.DrawnOf(m.GetPrompt())
	}
	if err != nil {
		l.spoilt(s, err)
		return
	}
	s.prompt = append(s.prompt, prompt...)
	s.offset += len(c.TokenIDs)
	s.unsaid += weight(&c)
	s.take(&c)
	switch {
	case c.Final != nil:
		l.done(s)
	case s.offset-s.acked >= ackEach || s.unsaid >= ackBytes || len(prompt) > 0:
		s.acked, s.unsaid = s.offset, 0
		l.write(&messages.Ack{Taken: []*messages.Taken{s.taken()}})
	}
}

// weight is what a chunk takes of the bytes that the engine lets be under way.
func weight(c *texts.Chunk) int {
	n := len(c.Text)
	for _, d := range c.Logprobs {
		n += convert.DrawnBytes(d)
	}
	return n
}

// take tells what has come.
func (s *sequence) take(c *texts.Chunk) {
	if s.text != nil {
		s.text.add(s.offset, c)
	}
	if c.Final != nil {
		c.Chunk.Final = &c.Final.Output
		c.Chunk.Final.PromptLogprobs = s.prompt
	}
	s.to.Take(c.Chunk)
}

// fail ends a sequence here, if it has not ended.
func (s *sequence) fail(reason engine.FinishReason, err error) {
	if !s.told {
		s.told = true
		s.take(&texts.Chunk{Final: &texts.Output{Output: engine.Output{FinishReason: reason, Err: err}}})
	}
}

func (s *sequence) taken() *messages.Taken {
	m := &messages.Taken{Stream: s.stream, Offset: uint32(s.offset), Prompt: uint32(len(s.prompt))}
	if s.text != nil {
		m.Text = uint64(s.text.bytes())
	}
	return m
}

// done lets the engine forget a sequence whose end was taken.
func (l *link) done(s *sequence) {
	s.told = true
	taken := s.taken()
	taken.Done = true
	l.ends = append(l.ends, ending{taken, l.last + 1})
	l.write(&messages.Ack{Taken: []*messages.Taken{taken}})
	l.forget(s)
	l.admit()
}

// forget gives back the place of a sequence.
func (l *link) forget(s *sequence) {
	delete(l.streams, s.stream)
	l.taken--
	if s.submission.left--; s.submission.left <= 0 {
		l.disown(s.submission)
	}
}

// disown forgets a request of which nothing is open. Another one may have its id by now.
func (l *link) disown(s *submission) {
	if l.submissions[s.order.ID] == s {
		delete(l.submissions, s.order.ID)
	}
}

// known takes note that the engine has answered a call.
func (l *link) known(number uint64) {
	kept := l.ends[:0]
	for _, e := range l.ends {
		if e.call > number {
			kept = append(kept, e)
		}
	}
	clear(l.ends[len(kept):])
	l.ends = kept
}

// waste takes what has come of a sequence that is nobody's any more.
func (l *link) waste(s *sequence, m *messages.News) {
	s.offset = int(m.GetOffset()) + len(m.GetIds())
	s.prompt = append(s.prompt, make([]sampling.Drawn, len(m.GetPrompt()))...)
	if s.text != nil {
		s.text.waste(m.GetText())
	}
	if m.GetEnd() != nil {
		l.done(s)
		return
	}
	l.write(&messages.Ack{Taken: []*messages.Taken{s.taken()}})
}

// spoilt fails a sequence of which the engine tells nonsense.
func (l *link) spoilt(s *sequence, err error) {
	s.fail(engine.FinishFailed, fmt.Errorf("%w: %w", engine.ErrFailed, err))
	l.ask(cancelling(s.to.ID()))
}

// failSequences ends all sequences because of an error.
func (l *link) failSequences(err error) {
	for _, s := range l.streams {
		s.fail(engine.FinishFailed, err)
		l.forget(s)
	}
	l.ends = nil
	l.admit()
}
