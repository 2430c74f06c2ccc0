package updates

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// Options say what is measured.
type Options struct {
	Requests int           // that decode at a time
	Tokens   int           // of each request; another one follows
	Updates  int           // full ones
	Every    time.Duration // from the begin of one to that of the next, if it is done by then
}

// Run measures updates of an engine to the weights of set, and says with note, now and
// then, what it does.
func Run(ctx context.Context, e *engine.Engine, set *weights.Set, o Options, note func(string)) (*Report, error) {
	manifest, err := manifestOf(set)
	if err != nil {
		return nil, err
	}
	load := startLoad(ctx, e, o)
	defer load.stop()
	if err := load.begun(ctx); err != nil {
		return nil, err
	}
	r := &Report{Requests: o.Requests, Updates: o.Updates, EverySeconds: o.Every.Seconds(), Bytes: set.Bytes()}
	note("an update beforehand")
	first, err := send(ctx, e, set, full(manifest, 0))
	if err != nil {
		return nil, err
	}
	r.FirstSeconds = (first.stage + first.ready).Seconds()
	var parts [4]time.Time // borders of the three parts
	half := time.Duration(o.Updates) * o.Every / 2
	note(fmt.Sprintf("%s without updates", half))
	parts[0] = time.Now()
	if err := load.pass(ctx, half); err != nil {
		return nil, err
	}
	parts[1] = time.Now()
	for i := 1; i <= o.Updates; i++ {
		note(fmt.Sprintf("update %d of %d", i, o.Updates))
		u, err := send(ctx, e, set, full(manifest, i))
		if err != nil {
			return nil, err
		}
		r.sent = append(r.sent, u)
		if err := load.pass(ctx, time.Until(parts[1].Add(time.Duration(i)*o.Every))); err != nil {
			return nil, err
		}
	}
	parts[2] = time.Now()
	note(fmt.Sprintf("%s without updates", half))
	if err := load.pass(ctx, half); err != nil {
		return nil, err
	}
	parts[3] = time.Now()
	note("pauses")
	times, err := load.pause(ctx)
	if err != nil {
		return nil, err
	}
	r.Pauses = gapsOf(times)
	note("an update of some tensors")
	if r.Delta, err = sendDelta(ctx, e, set, manifest); err != nil {
		return nil, err
	}
	outputs := load.stop()
	r.count(outputs, parts)
	r.Delta.count(outputs)
	return r, nil
}

// full is an update of all tensors.
func full(m weights.Manifest, number int) engine.UpdateOptions {
	return engine.UpdateOptions{Version: fmt.Sprintf("update-%d", number), Manifest: m, KV: engine.KVKeep}
}

// manifestOf lists a set's tensors, with digests.
func manifestOf(set *weights.Set) (m weights.Manifest, err error) {
	for t := range set.All() {
		if t.DType.Block() != 1 {
			return m, fmt.Errorf("%w: %s is %s, which cannot be sent; take a model in f32, f16 or bf16", weights.ErrDType, t.Name, t.DType)
		}
		m.Tensors = append(m.Tensors, weights.Entry{Name: t.Name, DType: t.DType.String(), Shape: t.Shape, Digest: weights.Sum(weights.XXH3_64, t.Data)})
	}
	return m, nil
}

// chunk is how many bytes are put at a time.
const chunk = 1 << 20

// sent is how long an update took.
type sent struct {
	stage time.Duration // until all is staged and checked as it came
	ready time.Duration // then, until no step computes with older weights
}

// send is one update, of the tensors of set that its manifest lists.
func send(ctx context.Context, e *engine.Engine, set *weights.Set, o engine.UpdateOptions) (s sent, err error) {
	u, err := e.Update(ctx, o)
	if err != nil {
		return s, err
	}
	defer u.Abort() // after Commit it does nothing
	defer func() {
		if over := ctx.Err(); err != nil && over != nil { // whose end has aborted the update
			err = over
		}
	}()
	begin := time.Now()
	for _, entry := range o.Manifest.Tensors {
		t, _ := set.Tensor(entry.Name) // the manifest was made of it
		for at := 0; at < len(t.Data); at += chunk {
			if err := u.Put(t.Name, t.DType.String(), t.Shape, at, t.Data[at:min(at+chunk, len(t.Data))]); err != nil {
				return s, cmp.Or(ctx.Err(), err) // the update was aborted with its context
			}
		}
	}
	s.stage = time.Since(begin)
	err = u.Commit(ctx)
	s.ready = time.Since(begin) - s.stage
	return s, err
}
