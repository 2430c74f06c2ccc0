package engine

import (
	"context"
	"fmt"
	"io"
	"iter"
)

// Result waits for the output of a request that is open, or whose result is kept,
// and takes it: it is not to be had again. Others that wait, for this id or for any,
// keep their order. ErrUnknownID means that there is no such request, or its result
// was read.
func (f *Front) Result(ctx context.Context, id string) (Output, error) {
	r, err := f.claim(id)
	if err != nil {
		return Output{}, err
	}
	s := r.reader()
	s.whole = true
	c, err := s.Recv(ctx)
	s.leave()
	f.requests.unclaim(r, err == nil)
	if err != nil {
		return Output{}, err
	}
	return *c.Final, nil
}

// NextResult takes the oldest kept result that nobody waits for by its id, or waits
// for one. It answers io.EOF when nothing is left and the engine does not run, so
// that nothing will come.
func (f *Front) NextResult(ctx context.Context) (Output, error) {
	return f.next(ctx, false)
}

// Results iterates over results as NextResult takes them, and ends after the last:
// when none is left and no request is open whose result will be kept. An error is
// the last thing that comes.
func (f *Front) Results(ctx context.Context) iter.Seq2[Output, error] {
	return func(yield func(Output, error) bool) {
		for {
			out, err := f.next(ctx, true)
			if err == io.EOF || !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// ResultsOf iterates over what comes of one request that is open, or whose result is
// kept: what is new with every step if Request.Streaming, else everything at its end.
// The final Chunk takes the result; who breaks off before leaves it to others. An
// error is the last thing that comes.
func (f *Front) ResultsOf(ctx context.Context, id string) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		r, err := f.claim(id)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		s := r.reader()
		s.whole = !r.streaming
		defer func() {
			s.leave()
			f.requests.unclaim(r, s.finished)
		}()
		for !s.finished {
			c, err := s.Recv(ctx)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// next takes a kept result or waits for one. It answers io.EOF when no further one
// can come, or with soFar when none can of the requests that are there.
func (f *Front) next(ctx context.Context, soFar bool) (Output, error) {
	resting := false
	for {
		changed := f.requests.changed()
		r, left := f.requests.take()
		switch {
		case f.closed.Load():
			return Output{}, ErrClosed
		case r != nil:
			return r.output(), nil
		case !left && (soFar || resting):
			return Output{}, io.EOF
		}
		var err error
		if resting, err = f.wait(ctx, changed, left); err != nil {
			return Output{}, err
		}
	}
}

// wait waits for a change, and where no result is left for the end of all, which it tells.
func (f *Front) wait(ctx context.Context, changed <-chan struct{}, left bool) (resting bool, err error) {
	if !left {
		return f.place.Rest(ctx, changed)
	}
	select {
	case <-changed:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (f *Front) claim(id string) (*record, error) {
	if f.closed.Load() {
		return nil, ErrClosed
	}
	r := f.requests.claim(id)
	if r == nil {
		return nil, fmt.Errorf("%w: %q", ErrUnknownID, id)
	}
	return r, nil
}

// claim finds a request for somebody who will read it by its id; nil: there is none.
func (q *requests) claim(id string) *record {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.byID[id]
	if r != nil {
		r.claims++
	}
	return r
}

// unclaim ends a claim. What was read to its end is forgotten.
func (q *requests) unclaim(r *record, read bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r.claims--
	if read {
		q.drop(r)
	}
	q.broadcast()
}

// take takes the oldest result that is kept and not claimed; nil: none. left tells
// whether others are kept, or will be.
func (q *requests) take() (r *record, left bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for e := q.kept.Front(); e != nil; e = e.Next() {
		if r := e.Value.(*record); r.claims == 0 {
			q.drop(r)
			return r, true
		}
	}
	return nil, q.kept.Len()+q.keeping > 0
}
