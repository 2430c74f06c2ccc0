package engine

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/cbactor/cbactor/actors"
)

// Stream is what comes back from one request. Tokens wait in it until they are
// read; a slow reader holds up nobody.
type Stream struct {
	id       string
	prompt   []int32 // the caller's to keep: nobody else has it
	cancel   func()
	children []*Stream

	// intake writes, one reader reads: tokens points to an array that has count
	// tokens at least, and is replaced by a larger one when it is full.
	tokens   atomic.Pointer[[]int32]
	count    atomic.Int64
	ended    atomic.Pointer[actors.End]
	timing   Timing
	news     chan struct{} // room for one: something came since the reader looked
	read     int
	finished bool        // the final chunk was read
	unbind   func() bool // lets go of the request's context
}

func newStream(id string, prompt []int32) *Stream {
	return &Stream{id: id, prompt: prompt, timing: Timing{Created: time.Now()}, news: make(chan struct{}, 1), unbind: func() bool { return true }}
}

// ID is the request's id.
func (s *Stream) ID() string { return s.id }

// Children are the streams of the other sequences of a request with N above 1.
func (s *Stream) Children() []*Stream { return s.children }

// Recv waits for news: new tokens, the end, or both in one Chunk. After the final
// one it answers io.EOF. Its context ends only the wait, not the request. Chunks
// and the final Output share memory: they are for reading.
func (s *Stream) Recv(ctx context.Context) (Chunk, error) {
	for {
		if s.finished {
			return Chunk{}, io.EOF
		}
		end := s.ended.Load() // before count: no token comes after the end
		n := int(s.count.Load())
		if end != nil || n > s.read {
			c := Chunk{TokenIDs: s.upTo(n)[s.read:], Offset: s.read}
			s.read = n
			if end != nil {
				s.finished = true
				out := s.output(end)
				c.Final = &out
			}
			return c, nil
		}
		select {
		case <-s.news:
		case <-ctx.Done():
			return Chunk{}, ctx.Err()
		}
	}
}

// Wait reads the stream to its end. When ctx ends first, the request is cancelled
// and ends with FinishCancelled and what there is.
func (s *Stream) Wait(ctx context.Context) Output {
	for {
		c, err := s.Recv(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return s.output(s.ended.Load())
		case err != nil:
			s.cancel()
			ctx = context.WithoutCancel(ctx) // the end comes at once
		case c.Final != nil:
			return *c.Final
		}
	}
}

// upTo is the first n tokens.
func (s *Stream) upTo(n int) []int32 {
	if n == 0 {
		return nil
	}
	return (*s.tokens.Load())[:n:n]
}

func (s *Stream) output(end *actors.End) Output {
	n := int(s.count.Load())
	return Output{
		RequestID: s.id, PromptIDs: s.prompt, TokenIDs: s.upTo(n),
		FinishReason: end.Reason, Err: end.Err, Preemptions: end.Preemptions, Timing: s.timing,
		Usage: Usage{PromptTokens: len(s.prompt), CompletionTokens: n, CachedTokens: end.Cached},
	}
}

// sink is the side of a Stream that intake sees.
type sink struct{ *Stream }

// firstTokens is how many tokens a Stream has room for at first.
const firstTokens = 32

// Started implements actors.Sink.
func (s sink) Started() { s.timing.Started = time.Now() }

// Tokens implements actors.Sink.
func (s sink) Tokens(news actors.News) {
	ids := news.IDs
	n := int(s.count.Load())
	if n == 0 {
		s.timing.First = time.Now()
	}
	room := s.tokens.Load()
	if room == nil || n+len(ids) > len(*room) {
		larger := make([]int32, max(firstTokens, 2*n, n+len(ids)))
		copy(larger, s.upTo(n))
		room = &larger
		s.tokens.Store(room)
	}
	n += copy((*room)[n:], ids)
	s.count.Store(int64(n))
	s.notify()
}

// End implements actors.Sink.
func (s sink) End(e actors.End) {
	s.timing.Ended = time.Now()
	s.ended.Store(&e)
	s.unbind()
	s.notify()
}

func (s sink) notify() {
	select {
	case s.news <- struct{}{}:
	default: // the reader will look anyway
	}
}
