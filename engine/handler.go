package engine

import (
	"context"
	"fmt"
)

// Handle calls a function with what comes of one sequence, from its beginning, as
// Request.Handler is called. The request is open, or its result is kept: then the
// function gets it and it is kept no more. ErrUnknownID means neither.
func (e *Engine) Handle(id string, handler func(Chunk)) error {
	if e.closed.Load() {
		return ErrClosed
	}
	r := e.requests.release(id)
	if r == nil {
		return fmt.Errorf("%w: %q", ErrUnknownID, id)
	}
	e.serve(r, handler)
	return nil
}

// release finds a request whose result is not to be kept any more; nil: there is none.
func (q *requests) release(id string) *record {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.byID[id]
	if r == nil || !r.keep {
		return r
	}
	if q.drop(r); r.open() {
		q.byID[id] = r
	}
	q.broadcast()
	return r
}

// open tells that a request has not ended.
func (r *record) open() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.end == nil
}

// serve calls a handler on a goroutine of its own, which ends with the request, or
// when the handler has returned from the end.
func (e *Engine) serve(r *record, handler func(Chunk)) {
	s := r.reader()
	s.whole = !r.streaming
	go func() {
		defer s.leave()
		defer func() {
			if cause := recover(); cause != nil {
				err := fmt.Errorf("%w: panic: %v", ErrHandler, cause)
				e.options.Log.Error().Str("request", r.id).Err(err).Msg("handler")
				r.fail(err)
			}
		}()
		for !s.finished {
			c, err := s.Recv(context.Background())
			if err != nil {
				return
			}
			handler(c)
		}
	}()
}
