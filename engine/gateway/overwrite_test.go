package gateway_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/weights"
)

// serveForOne has a gateway before an engine in whose memory is one set of weights.
func serveForOne(t *testing.T, o gateway.Options) *rig {
	t.Helper()
	model, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	cfg := engine.Config{Checkpoint: model, Threads: 1, NumBlocks: 64, MaxBatchTokens: 64}
	r, err := engine.Resolve(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Memory
	if m.Limit == 0 {
		t.Skip("how much memory there is cannot be told")
	}
	m.NextSet, m.Executor.NextSet = 0, 0
	cfg.MaxMemoryPercent = float64(m.Total()+m.WeightSet/2) / float64(m.Limit-m.Resident)
	return serve(t, cfg, o)
}

func sendAgain(update uint64) *messages.Call {
	return &messages.Call{What: &messages.Call_SendAgain{SendAgain: &messages.SendAgain{Update: update}}}
}

func abort(update uint64) *messages.Call {
	return &messages.Call{What: &messages.Call_AbortUpdate{AbortUpdate: &messages.AbortUpdate{Update: update}}}
}

func (r *rig) digest(t *testing.T) weights.Digest {
	t.Helper()
	_, d, err := r.engine.Checksum(t.Context(), weights.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Where memory holds one set, a client writes over it, and loses its connection in the middle
// of both times.
func TestUpdateInPlace(t *testing.T) {
	r := serveForOne(t, gateway.Options{})
	w := newTrained(t, r)
	c := join(t, r)
	parts, err := convert.Manifests(w.manifest, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	refused := c.ask(&messages.Call{What: &messages.Call_BeginUpdate{BeginUpdate: &messages.BeginUpdate{Version: "v2", Manifest: parts[0]}}}).GetError()
	if !errors.Is(convert.ErrorOf(refused), weights.ErrMemory) || !strings.Contains(refused.GetMessage(), "UpdateInPlace") {
		t.Fatalf("beside what serves: %v", refused)
	}
	w.inPlace = true
	u := w.begin(t, c, "v2")
	calls := w.chunks(u, 10_000)
	half := len(calls) / 2
	all := func() {
		t.Helper()
		c.pour(calls[:half])
		lost := calls[half]
		number := c.send(lost)
		c.cut()
		c.hello()
		c.tell(lost) // that it was heard is not known
		if err := convert.ErrorOf(c.reply(number, 0).Error); err != nil {
			t.Fatal(err)
		}
		c.pour(calls[half+1:])
	}
	all()
	c.fails(commit(u), weights.ErrMissing)
	c.fails(&messages.Call{What: &messages.Call_Missing{Missing: &messages.Missing{Update: u}}}, engine.ErrParams)
	if mode := r.engine.Status().Mode; mode != "running" {
		t.Errorf("the first time it is %s", mode)
	}
	c.do(sendAgain(u))
	if mode := r.engine.Status().Mode; mode == "running" {
		t.Error("it runs while its weights are written")
	}
	c.fails(sendAgain(u), engine.ErrParams)
	all()
	c.do(commit(u))
	c.fails(commit(u), weights.ErrClosed)
	if v := r.engine.Version(); v != "v2" || r.digest(t) != w.set.Digest(weights.SHA256) {
		t.Errorf("%q serves, of %s", v, r.digest(t))
	}
	r.local(t, []int32{3, 1, 4}, 4)
	r.idle(t)

	w.inPlace = false
	other := serve(t, engine.Config{Threads: 1}, gateway.Options{})
	c = join(t, other)
	c.fails(sendAgain(w.begin(t, c, "v2")), engine.ErrParams)
}

// An update in place that comes to nothing changes nothing, unless something was written: then
// all are told so, until one of all tensors has come.
func TestUpdatesInPlaceThatEnd(t *testing.T) {
	broken := func(want error, is bool) error {
		if is {
			return engine.ErrBroken
		}
		return want
	}
	for name, end := range map[string]struct {
		o   gateway.Options
		how func(t *testing.T, c *client, u uint64, next *messages.Call, written bool)
	}{
		"silence": {gateway.Options{Limits: gateway.Limits{Silence: 3 * time.Second}}, func(t *testing.T, c *client, u uint64, next *messages.Call, written bool) { // longer than what is sent before takes
			beside := engine.UpdateOptions{Version: "beside", Manifest: newTrained(t, c.rig).manifest}
			until(t, func() bool {
				_, err := c.rig.engine.Update(t.Context(), beside)
				return errors.Is(err, weights.ErrMemory) // not ErrBusy
			}, func() string { return "the end of the silence" })
			c.fails(next, broken(weights.ErrMissing, written))
		}},
		"absence": {gateway.Options{Kept: 20 * time.Millisecond}, func(t *testing.T, c *client, u uint64, next *messages.Call, written bool) { c.cut() }},
		"goodbye": {gateway.Options{}, func(t *testing.T, c *client, u uint64, next *messages.Call, written bool) {
			c.do(&messages.Call{What: &messages.Call_Goodbye{Goodbye: &messages.Goodbye{}}})
			c.cut()
		}},
		"abort": {gateway.Options{}, func(t *testing.T, c *client, u uint64, next *messages.Call, written bool) {
			if written {
				c.fails(abort(u), engine.ErrBroken)
			} else {
				c.do(abort(u))
			}
			c.fails(next, weights.ErrClosed)
		}},
		"wrong bytes": {gateway.Options{}, func(t *testing.T, c *client, u uint64, next *messages.Call, written bool) {
			m := next.GetPutChunk()
			m.Offset += 4
			c.fails(next, broken(weights.ErrChunk, written))
			m.Offset -= 4
			c.fails(next, broken(weights.ErrChunk, written))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveForOne(t, end.o)
			w := newTrained(t, r)
			w.inPlace = true
			before := r.digest(t)
			for i, at := range []struct {
				again bool
				sent  int
			}{{false, 3}, {true, 0}, {true, 3}} {
				c := join(t, r)
				u := w.begin(t, c, fmt.Sprint("ends", i))
				calls := w.chunks(u, 10_000)
				if at.again {
					c.pour(calls)
					c.do(sendAgain(u))
				}
				c.pour(calls[:at.sent])
				written := at.again && at.sent > 0
				end.how(t, c, u, calls[at.sent], written)

				c = join(t, r)
				version := fmt.Sprint("whole", i)
				until(t, func() bool {
					parts, err := convert.Manifests(w.manifest, 1<<20)
					if err != nil {
						t.Fatal(err)
					}
					reply := c.ask(&messages.Call{What: &messages.Call_BeginUpdate{BeginUpdate: &messages.BeginUpdate{Version: version, Manifest: parts[0], InPlace: true}}})
					u = reply.GetUpdate().GetUpdate()
					return reply.Error == nil
				}, func() string { return "room for another update" })
				_, err := r.engine.AddRequest(t.Context(), engine.Request{PromptIDs: []int32{1}, MaxNewTokens: 1})
				if errors.Is(err, engine.ErrBroken) != written || (r.engine.Version() == "") != written {
					t.Errorf("%+v: %q serves: %v", at, r.engine.Version(), err)
				}
				if !written {
					if err != nil || r.digest(t) != before || r.engine.Status().Mode != "running" {
						t.Errorf("%+v: something has changed: %v", at, err)
					}
					c.do(abort(u))
					continue
				}
				calls = w.chunks(u, 10_000)
				c.pour(calls)
				c.do(sendAgain(u))
				c.pour(calls)
				c.do(commit(u))
				if r.engine.Version() != version || r.digest(t) != w.set.Digest(weights.SHA256) {
					t.Errorf("%+v: %q serves", at, r.engine.Version())
				}
				r.local(t, []int32{3, 1, 4}, 4)
			}
		})
	}
}

// A client that waits no longer for the second time gives the update up, and a gateway that
// closes waits for none.
func TestUpdatesInPlaceGivenUp(t *testing.T) {
	r := serveForOne(t, gateway.Options{})
	w := newTrained(t, r)
	w.inPlace = true
	c := join(t, r)
	u := w.begin(t, c, "v2")
	calls := w.chunks(u, 10_000)
	c.pour(calls)
	number := c.send(sendAgain(u))
	c.tell(&messages.Drop{Number: number})
	c.reply(number, 0) // whatever it is
	c.do(abort(u))
	if v := r.engine.Version(); v != engine.FirstVersion {
		t.Errorf("%q serves", v)
	}
	u = w.begin(t, c, "v2")
	calls = w.chunks(u, 10_000)
	c.pour(calls)
	c.do(sendAgain(u))
	c.pour(calls[:2])
	r.Close()
	if v := r.engine.Version(); v != "" {
		t.Errorf("%q serves", v)
	}
}

// A client has to abort updates that have come to nothing, at the latest when there are many.
func TestUpdatesNotAborted(t *testing.T) {
	r := serve(t, engine.Config{Threads: 1, NumBlocks: 64}, gateway.Options{})
	c := join(t, r)
	parts, err := convert.Manifests(newTrained(t, r).manifest, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	begin := &messages.Call{What: &messages.Call_BeginUpdate{BeginUpdate: &messages.BeginUpdate{Version: "v2", Manifest: parts[0], InPlace: true}}}
	var u uint64
	for range 16 {
		u = c.do(begin).GetUpdate().GetUpdate()
		c.fails(&messages.Call{What: &messages.Call_PutChunk{PutChunk: &messages.PutChunk{Update: u, Name: "nobody's"}}}, weights.ErrUnknown)
	}
	c.fails(begin, convert.ErrLimit)
	c.do(abort(u))
	c.do(begin)
}
