package remote_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/internal/wire/wiretest"
	"github.com/cbactor/cbactor/weights"
)

// forOne is an engine in whose memory is one set of weights.
func forOne(t *testing.T) engine.Config {
	t.Helper()
	model, _ := tiny(t)
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
	return cfg
}

// sender sends a set. Of each time, from 1 on, it calls at when a half was sent.
func sender(set *weights.Set, at func(time int) error) weights.Send {
	time := 0
	return func(put weights.Put) error {
		time++
		sent := 0
		for tensor := range set.All() {
			if err := put(tensor.Name, tensor.DType.String(), tensor.Shape, 0, tensor.Data); err != nil {
				return err
			}
			if before := sent; before < set.Bytes()/2 {
				if sent += len(tensor.Data); sent >= set.Bytes()/2 {
					if err := at(time); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
}

func smoothly(int) error { return nil }

func TestUpdateInPlaceOnEither(t *testing.T) {
	test := func(t *testing.T, api engine.API) {
		set, manifest := trained(t)
		o := engine.UpdateOptions{Version: "v2", Manifest: manifest}
		_, before, err := api.Checksum(t.Context(), weights.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := api.Update(t.Context(), o); !errors.Is(err, weights.ErrMemory) {
			t.Fatalf("beside what serves: %v", err)
		}
		gaveUp := errors.New("the trainer has no more")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for name, c := range map[string]struct {
			ctx  context.Context
			send weights.Send
			want error
		}{
			"no source":       {t.Context(), nil, engine.ErrParams},
			"a wrong context": {nil, sender(set, smoothly), engine.ErrParams},
			"its own error":   {t.Context(), sender(set, func(int) error { return gaveUp }), gaveUp},
			"a panic":         {t.Context(), sender(set, func(int) error { panic("at the disco") }), weights.ErrPanicked},
			"its context":     {ctx, sender(set, func(int) error { cancel(); return nil }), context.Canceled},
			"not all":         {t.Context(), func(weights.Put) error { return nil }, weights.ErrMissing},
			"another one": {t.Context(), sender(set, func(int) error {
				return api.UpdateInPlace(t.Context(), o, sender(set, smoothly))
			}), weights.ErrBusy},
		} {
			if err := api.UpdateInPlace(c.ctx, o, c.send); !errors.Is(err, c.want) || errors.Is(err, engine.ErrBroken) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			if _, sum, err := api.Checksum(t.Context(), weights.SHA256); err != nil || sum != before || api.Status().Mode != "running" {
				t.Errorf("%s: something has changed, %v", name, err)
			}
		}
		err = api.UpdateInPlace(t.Context(), o, sender(set, func(time int) error {
			if time == 2 {
				return gaveUp
			}
			return nil
		}))
		if !errors.Is(err, engine.ErrBroken) || !errors.Is(err, gaveUp) || api.Version() != "" {
			t.Errorf("it ends while it is written: %v", err)
		}
		if _, err := api.AddRequest(t.Context(), engine.Request{PromptIDs: prompt(4), MaxNewTokens: 1}); !errors.Is(err, engine.ErrBroken) {
			t.Errorf("with broken weights: %v", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
		o.Version = "v3"
		err = api.UpdateInPlace(ctx, o, sender(set, func(time int) error {
			if time == 2 {
				cancel() // too late
			}
			return nil
		}))
		if err != nil || api.Version() != "v3" {
			t.Fatalf("%q serves: %v", api.Version(), err)
		}
		if version, sum, err := api.Checksum(t.Context(), weights.XXH3_64); err != nil || version != "v3" || sum != set.Digest(weights.XXH3_64) {
			t.Errorf("%s of %q, %v", sum, version, err)
		}
		if out := add(t, api, engine.Request{PromptIDs: prompt(4), MaxNewTokens: 3, IgnoreEOS: true}).Wait(t.Context()); out.WeightVersions[0].Version != "v3" {
			t.Errorf("%+v", out)
		}
	}
	t.Run("local", func(t *testing.T) { test(t, serve(t, forOne(t), gateway.Options{}).engine) })
	t.Run("remote", func(t *testing.T) {
		test(t, connect(t, serve(t, forOne(t), gateway.Options{}).addr(), remote.Options{}))
	})
}

// An update in place outlasts connections, both times.
func TestUpdateInPlaceOutlastsConnections(t *testing.T) {
	r := serve(t, forOne(t), gateway.Options{})
	p := wiretest.NewProxy(t, r.addr())
	c := connect(t, p.Addr(), remote.Options{Patience: 10 * time.Second})
	set, manifest := trained(t)
	cuts := 0
	err := c.UpdateInPlace(t.Context(), engine.UpdateOptions{Version: "v2", Manifest: manifest}, sender(set, func(int) error { cuts += p.Cut(); return nil }))
	if err != nil || cuts != 2 {
		t.Fatalf("%d connections were cut: %v", cuts, err)
	}
	if version, sum, err := r.engine.Checksum(t.Context(), weights.SHA256); err != nil || version != "v2" || sum != set.Digest(weights.SHA256) {
		t.Errorf("%s of %q, %v", sum, version, err)
	}
}

// Who does not come back the first time has changed nothing. The second time it has broken the
// weights, and others wait for it only so long.
func TestUpdateInPlaceOfWhoVanishes(t *testing.T) {
	t.Parallel()
	const silence = 4 * time.Second
	r := serve(t, forOne(t), gateway.Options{Limits: gateway.Limits{Silence: silence}})
	set, manifest := trained(t)
	for _, last := range []int{1, 2} {
		p := wiretest.NewProxy(t, r.addr())
		c := connect(t, p.Addr(), remote.Options{Patience: time.Second})
		err := c.UpdateInPlace(t.Context(), engine.UpdateOptions{Version: "v2", Manifest: manifest}, sender(set, func(time int) error {
			if time == last {
				p.Refuse(true)
				p.Cut()
			}
			return nil
		}))
		if !errors.Is(err, remote.ErrUnreachable) {
			t.Errorf("time %d: %v", last, err)
		}
		other := connect(t, r.addr(), remote.Options{})
		until(t, "room for another update", func() bool {
			err := other.UpdateInPlace(t.Context(), engine.UpdateOptions{Version: "v3", Manifest: manifest}, func(weights.Put) error { return nil })
			return errors.Is(err, weights.ErrMissing)
		})
		_, err = other.AddRequest(within(t, 10*time.Second), engine.Request{PromptIDs: prompt(4), MaxNewTokens: 1})
		if (last == 2) != errors.Is(err, engine.ErrBroken) || (last == 2) != (r.engine.Version() == "") {
			t.Errorf("time %d: %q serves, %v", last, r.engine.Version(), err)
		}
	}
}
