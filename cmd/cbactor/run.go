package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine"
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
	model  *loaded
	out    chan news
	places chan struct{} // one taken for each open request
	open   sync.WaitGroup
}

// newRunner makes a runner that has at most limit requests open at a time.
func newRunner(model *loaded, limit int) *runner {
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
		if err := r.begin(ctx, j, index); err != nil {
			return err
		}
		index++
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

// begin hands a job to the engine. An error means that it takes no further ones;
// what is wrong with the job itself is the job's result.
func (r *runner) begin(ctx context.Context, j job, index int) error {
	entry := j.entry(index)
	r.out <- news{event: show.Event{Entry: entry}}
	s, err := r.submit(ctx, j)
	if err != nil {
		if j.typed && badPrompt(err) {
			err = usageError{error: err}
		}
		r.out <- news{event: show.Event{Entry: entry, Result: refused(j.request, err)}}
		<-r.places
		if errors.Is(err, engine.ErrUnavailable) {
			return fmt.Errorf("no further requests are taken: %w", err)
		}
		return nil
	}
	r.open.Go(func() {
		r.follow(ctx, entry, s)
		<-r.places
	})
	return nil
}

func (r *runner) submit(ctx context.Context, j job) (*engine.Stream, error) {
	if j.bad != nil {
		return nil, j.bad
	}
	return r.model.engine.AddRequest(ctx, j.request)
}

// refused is the result of a request that never ran: because it is bad, or because
// the run was cancelled first.
func refused(r engine.Request, err error) *show.Result {
	result := show.NewResult(engine.Refused(r, err), "")
	var line *requests.LineError
	if errors.As(err, &line) {
		result.Error = line.InFile() // whoever gets the results has the file by another name
	}
	return result
}
