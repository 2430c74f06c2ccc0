package actors

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/sched"
)

// begun tells intake which sequences a batch starts for the first time.
type begun struct{ keys []sched.Key }

// start tells requests that they run. What ended meanwhile is left out.
func (a *intake) start(m *begun) {
	for _, k := range m.keys {
		if o := a.table.byKey[k]; o != nil {
			o.sink.Started()
		}
	}
}

// deliver hands a step's tokens to their requests. What ended meanwhile is dropped.
func (a *intake) deliver(c actor.Context, m *sched.Tokens) {
	meter, given := a.table.meter, 0
	for i := range m.Items {
		if o := a.table.byKey[m.Items[i].Key]; o != nil {
			given -= o.tokens
			a.item(c, o, &m.Items[i])
			given += o.tokens
			if o.prompt > 0 {
				meter.prompt.Add(int64(o.prompt))
				meter.cached.Add(int64(o.cached))
				o.prompt = 0
			}
		}
	}
	meter.generated.Add(int64(given))
	a.tokens.put(m)
}

// item hands a request its share, up to where its matcher finds the end, and ends it
// if this was the last.
func (a *intake) item(c actor.Context, o *open, it *sched.Item) {
	o.cached, o.preemptions = int(it.Cached), int(it.Preemptions)
	if it.Context > 0 {
		o.cache = Cache{Runs: it.Runs, Context: int(it.Context)}
	}
	n, err := o.match(it.IDs)
	o.matched = n >= 0
	if !o.matched {
		n = len(it.IDs)
	}
	a.give(o, News{IDs: it.IDs[:n], Drawn: it.Drawn[:min(n, len(it.Drawn))], Prompt: it.Prompt, Epoch: it.Epoch, Cache: o.cache})
	switch {
	case err != nil:
		a.log.Warn().Str("request", o.id).Err(err).Msg("request failed")
		a.cut(c, o, ReasonFailed, err)
	case o.matched:
		a.cut(c, o, ReasonStop, nil)
	case it.Finish == sched.Stop:
		a.table.end(o, ReasonStop, nil)
	case it.Finish == sched.Length:
		a.table.end(o, ReasonLength, nil)
	case it.Finish == sched.Aborted:
		a.table.end(o, ReasonAborted, nil)
	case it.Finish == sched.Stale:
		a.table.end(o, ReasonStale, nil)
	case it.Finish == sched.Failed:
		a.log.Warn().Str("request", o.id).Err(it.Err).Msg("request failed")
		a.table.end(o, ReasonFailed, fmt.Errorf("%w: %w", ErrFailed, it.Err))
	}
}

// give passes news on. With its first token a request has kept the limit for that.
func (a *intake) give(o *open, n News) {
	if len(n.IDs)+len(n.Prompt) == 0 {
		return
	}
	if len(n.IDs) > 0 && !o.first.IsZero() {
		a.table.limit(o, time.Time{}, o.last)
	}
	o.tokens += len(n.IDs)
	o.sink.Tokens(n)
}
