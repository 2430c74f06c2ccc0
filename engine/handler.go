package engine

import (
	"context"
	"fmt"
)

// Handle calls a function with what comes of one sequence, from its beginning, as
// Request.Handler is called. The request is open, or its result is kept: then the
// function gets it and it is kept no more. ErrUnknownID means neither; ErrParams, that
// there is no function.
func (f *Front) Handle(id string, handler func(Chunk)) error {
	switch {
	case f.closed.Load():
		return ErrClosed
	case handler == nil:
		return fmt.Errorf("%w: the handler of %q is nil", ErrParams, id)
	}
	r := f.requests.release(id)
	if r == nil {
		return fmt.Errorf("%w: %q", ErrUnknownID, id)
	}
	f.serve(r, handler)
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
func (f *Front) serve(r *record, handler func(Chunk)) {
	s := r.reader()
	s.whole = !r.streaming
	go func() {
		defer s.leave()
		defer func() {
			if cause := recover(); cause != nil {
				f.panicked(r, cause)
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

// panicked fails the request of a handler that has panicked, if it is open, and keeps
// its result for others to read where it would be lost.
func (f *Front) panicked(r *record, cause any) {
	err := fmt.Errorf("%w: panic: %v", ErrHandler, cause)
	n := f.panics.Add(1)
	f.options.Log.Error().Str("request", r.id).Err(err).Uint64("panics", n).Msg("handler")
	f.requests.keepAgain(r)
	r.fail(err)
}

// HandlerPanics is how many handlers have panicked since Spawn. It tells of those, too,
// whose request had ended by then, so that nothing could fail for it.
func (f *Front) HandlerPanics() uint64 { return f.panics.Load() }

// keepAgain keeps the result of a request that has no Stream, though a handler was to
// have it, unless its id is in use by now or too many are kept.
func (q *requests) keepAgain(r *record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	other := q.byID[r.id]
	if !r.unread || r.keep || other != nil && other != r || q.keeping+q.kept.Len() >= maxKept {
		return
	}
	q.byID[r.id], r.keep = r, true
	if r.gone {
		r.place = q.kept.PushBack(r)
	} else {
		q.keeping++
	}
	q.broadcast()
}
