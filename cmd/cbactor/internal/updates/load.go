package updates

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cbactor/cbactor/engine"
)

// PromptTokens is the length of each prompt.
const PromptTokens = 16

// load is a number of requests that decode at a time.
type load struct {
	engine  *engine.Engine
	options Options
	cancel  context.CancelCauseFunc
	ctx     context.Context
	running sync.WaitGroup
	first   sync.WaitGroup // each place has a token

	mu      sync.Mutex
	outputs []engine.Output
}

func startLoad(ctx context.Context, e *engine.Engine, o Options) *load {
	l := &load{engine: e, options: o}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.first.Add(o.Requests)
	for place := range o.Requests {
		l.running.Go(func() {
			if err := l.decode(place); err != nil {
				l.cancel(err)
			}
		})
	}
	return l
}

// decode runs one request after another. The first ones differ in length, so that no
// two end at once.
func (l *load) decode(place int) error {
	begun := sync.OnceFunc(l.first.Done)
	defer begun()
	tokens := l.options.Tokens * (place + 1) / l.options.Requests
	for ; ; tokens = l.options.Tokens {
		s, err := l.engine.AddRequest(l.ctx, l.request(place, max(2, tokens)))
		if err != nil {
			return err
		}
		if _, err := s.Recv(l.ctx); err != nil {
			return err
		}
		begun()
		out := s.Wait(l.ctx)
		if out.Err != nil {
			return out.Err
		}
		l.mu.Lock()
		l.outputs = append(l.outputs, out)
		l.mu.Unlock()
		if err := l.ctx.Err(); err != nil {
			return err
		}
	}
}

func (l *load) request(place, tokens int) engine.Request {
	prompt, vocab := make([]int32, PromptTokens), l.engine.Info().Vocab
	for i := range prompt {
		prompt[i] = int32((i*37 + place*101 + 11) % vocab)
	}
	return engine.Request{PromptIDs: prompt, MaxNewTokens: tokens, IgnoreEOS: true, Timestamps: true}
}

// begun waits for the first token of every place.
func (l *load) begun(ctx context.Context) error {
	l.first.Wait()
	return l.pass(ctx, 0)
}

// pass lets time pass, unless the load or ctx ends.
func (l *load) pass(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.Cause(l.ctx)
}

// errOver is why a load ends that has done its work.
var errOver = errors.New("the measurement is over")

// stop cancels what runs and gives all that there was.
func (l *load) stop() []engine.Output {
	l.cancel(errOver)
	l.running.Wait()
	return l.outputs
}
