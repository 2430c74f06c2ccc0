package engine

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/cbactor/cbactor/sched"
)

// Stream reads what comes back from one sequence, from its beginning. What came
// waits until it is read; a slow reader holds up nobody, and takes nothing from
// other readers of the same request. One goroutine at a time reads a Stream.
type Stream struct {
	record   *record
	children []*Stream
	news     chan struct{} // room for one: something came since the reader looked
	whole    bool          // everything comes at once, at the end
	read     int           // tokens
	runs     []sched.Run   // last told
	finished bool          // the final chunk was read
}

// reader makes a reader of the record.
func (r *record) reader() *Stream {
	s := &Stream{record: r, news: make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readers = append(r.readers, s)
	return s
}

// leave ends the reading: nobody waits for news any more.
func (s *Stream) leave() {
	r := s.record
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, other := range r.readers {
		if other == s {
			r.readers = append(r.readers[:i], r.readers[i+1:]...)
			return
		}
	}
}

// ID is the request's id.
func (s *Stream) ID() string { return s.record.id }

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
		if c, some := s.next(); some {
			return c, nil
		}
		select {
		case <-s.news:
		case <-ctx.Done():
			return Chunk{}, ctx.Err()
		}
	}
}

// next is what came since the last chunk, if anything did.
func (s *Stream) next() (c Chunk, some bool) {
	r := s.record
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.tokens)
	if r.end == nil && (s.whole || n == s.read) {
		return Chunk{}, false
	}
	c = Chunk{RequestID: r.id, TokenIDs: r.tokens[s.read:n:n], Offset: s.read}
	if len(r.logprobs) == n {
		c.Logprobs = r.logprobs[s.read:n:n]
	}
	s.tellVersions(&c, n)
	s.read = n
	if r.end != nil {
		out := r.final()
		c.Final, s.finished = &out, true
	}
	return c, true
}

// tellVersions puts into a chunk, up to token n, what changed of the weights' versions.
// The record is locked.
func (s *Stream) tellVersions(c *Chunk, n int) {
	r := s.record
	if n == s.read {
		return
	}
	if r.weights[len(r.weights)-1].Start >= s.read {
		c.WeightVersions = within(r.weights, s.read, n)
	}
	if !slices.Equal(s.runs, r.cache.Runs) {
		s.runs, c.KVVersions = r.cache.Runs, r.versions.cache(r.cache)
	}
}

// Wait reads the stream to its end. When ctx ends first, the request is cancelled
// and ends with FinishCancelled and what there is: with all its sequences where this is
// its first one, else this sequence alone.
func (s *Stream) Wait(ctx context.Context) Output {
	for {
		c, err := s.Recv(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return s.record.output()
		case err != nil:
			s.record.cancel()
			ctx = context.WithoutCancel(ctx) // the end comes at once
		case c.Final != nil:
			return *c.Final
		}
	}
}
