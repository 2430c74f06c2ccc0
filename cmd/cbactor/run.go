package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// news is what reaches the main goroutine: an event of a request, a request that
// is skipped, or why no further one is begun.
type news struct {
	event   show.Event
	skipped bool
	err     error
}

// runner feeds jobs to an engine.
type runner struct {
	model  *generator
	out    chan news
	places chan struct{} // one taken for each open sequence
	open   sync.WaitGroup
}

// newRunner makes a runner that has at most limit sequences open at a time, or those of one request.
func newRunner(model *generator, limit int) *runner {
	return &runner{model: model, out: make(chan news), places: make(chan struct{}, limit)}
}

// run starts jobs and gives their news until all that began have ended; then the
// channel closes. When ctx ends, open requests are cancelled and no further ones
// begin. The news must be read to the end.
func (r *runner) run(ctx context.Context, jobs source) <-chan news {
	go func() {
		defer close(r.out)
		defer r.open.Wait()
		if err := r.feed(ctx, pull(ctx, jobs)); err != nil {
			r.out <- news{err: err}
		}
	}()
	return r.out
}

// pulled is what a source gave.
type pulled struct {
	job job
	err error
}

// pull reads a source on a goroutine of its own, since a read of standard input
// cannot be ended: when ctx ends it may stay behind in one.
func pull(ctx context.Context, jobs source) <-chan pulled {
	out := make(chan pulled)
	go func() {
		for {
			j, err := jobs()
			select {
			case out <- pulled{j, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

func (r *runner) feed(ctx context.Context, jobs <-chan pulled) error {
	for index := 0; ; {
		j, err := r.next(ctx, jobs)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case j.skip:
			r.out <- news{skipped: true}
			<-r.places
			continue
		}
		begun, err := r.begin(ctx, j, index)
		if err != nil {
			return err
		}
		index += begun
	}
}

// next waits for a place and a job to take it. When ctx ends there is none any more.
func (r *runner) next(ctx context.Context, jobs <-chan pulled) (job, error) {
	select {
	case r.places <- struct{}{}:
	case <-ctx.Done():
		return job{}, io.EOF
	}
	select {
	case p := <-jobs:
		return p.job, p.err
	case <-ctx.Done():
		return job{}, io.EOF
	}
}

// begin hands a job to the engine and says how many sequences have begun, one when it
// is refused. An error means that the engine takes no further ones; what is wrong with
// the job itself is the job's result.
func (r *runner) begin(ctx context.Context, j job, index int) (begun int, err error) {
	entry := j.entry(index)
	r.out <- news{event: show.Event{Entry: entry}}
	places := r.take(ctx, j.request.N)
	s, err := r.submit(ctx, j)
	if err != nil {
		r.out <- news{event: show.Event{Entry: entry, Result: r.refused(ctx, j, err)}}
		r.give(places)
		if errors.Is(err, engine.ErrUnavailable) {
			return 1, fmt.Errorf("no further requests are taken: %w", err)
		}
		return 1, nil
	}
	var sequences sync.WaitGroup
	follow := func(entry show.Entry, s texts.Stream) {
		sequences.Go(func() { r.follow(j, entry, s) })
	}
	follow(entry, s)
	for _, child := range s.Children() {
		entry.Index++
		entry.ID, entry.More = child.ID(), true
		r.out <- news{event: show.Event{Entry: entry}}
		follow(entry, child)
	}
	r.open.Go(func() {
		sequences.Wait()
		r.give(places)
	})
	return 1 + len(s.Children()), nil
}

// take waits for places for n sequences beside the one that is taken, as far as there
// are so many, and says how many it has. It stops when ctx ends.
func (r *runner) take(ctx context.Context, n int) (taken int) {
	for taken = 1; taken < min(n, cap(r.places)); taken++ {
		select {
		case r.places <- struct{}{}:
		case <-ctx.Done():
			return taken
		}
	}
	return taken
}

func (r *runner) give(places int) {
	for range places {
		<-r.places
	}
}

func (r *runner) submit(ctx context.Context, j job) (texts.Stream, error) {
	if j.bad != nil {
		return nil, j.bad
	}
	return r.model.Generate(ctx, j.request)
}

// refused is the result of a request that never ran, with the ids of its prompt as far as
// it has any.
func (r *runner) refused(ctx context.Context, j job, err error) *show.Result {
	if ids, err := r.model.Encode(ctx, j.request.Prompt); err == nil {
		j.request.PromptIDs = ids
	}
	return refused(j, err)
}

// refused is the result of a request that never ran: because it is bad, or because
// the run was cancelled first.
func refused(j job, err error) *show.Result {
	result := show.NewResult(texts.Output{Output: engine.Refused(j.request.Request, err)}, false)
	j.blame(result)
	if j.typed && badPrompt(err) {
		result.Err = usageError{error: result.Err}
	}
	return result
}
