package remote

import (
	"context"
	"sync"

	"github.com/cbactor/cbactor/messages"
)

// flow has calls with data answered side by side. Any goroutine may use it.
type flow struct {
	client *Client
	run    int // of the engine, for which the calls are

	mu   sync.Mutex
	open int
	idle chan struct{} // closed when none is open; nil: nobody waits
	err  error         // the first since it was told
}

func (c *Client) newFlow(run int) *flow { return &flow{client: c, run: run} }

// put sends a call when there is room for it. The error may be that of one before, which is
// told once: then nothing is sent.
func (f *flow) put(ctx context.Context, m *messages.Call) error {
	f.mu.Lock()
	err := f.err
	f.err = nil
	if err == nil {
		f.open++
	}
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if err = f.client.pour(ctx, &call{message: m, run: f.run, answer: func(_ *messages.Reply, err error) { f.answered(err) }}); err != nil {
		f.answered(nil)
	}
	return err
}

func (f *flow) answered(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	if f.open--; f.open == 0 && f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
}

// wait waits until all have been answered, and tells the first error that was not told.
func (f *flow) wait(ctx context.Context) error {
	f.mu.Lock()
	if f.open > 0 && f.idle == nil {
		f.idle = make(chan struct{})
	}
	idle := f.idle
	f.mu.Unlock()
	if idle != nil {
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		case <-f.client.link.ended: // it has answered all that it has heard of
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.err
	f.err = nil
	return err
}
