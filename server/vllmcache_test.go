package server

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/cbactor/cbactor/engine"
)

// told calls a route of trainers, without a body if that is "".
func (r *rig) told(path, body string) (a map[string]any) {
	r.t.Helper()
	r.control(path, body, &a)
	return a
}

// A reset that says that it succeeded leaves nothing in the cache; requests that run keep it
// from that, unless they may be computed again.
func TestResetPrefixCache(t *testing.T) {
	r := serveChanging(t)
	prompt := make([]int32, 100)
	cached := func() int {
		t.Helper()
		return r.ask(completionsPath, object{"prompt": prompt, "max_tokens": 1, "temperature": 0}).Usage.Details.Cached
	}
	if first, second := cached(), cached(); first != 0 || second == 0 {
		t.Fatalf("%d of a prompt are in the cache, then %d", first, second)
	}
	if a := r.told("/reset_prefix_cache", ""); a["success"] != true {
		t.Fatalf("%v", a)
	}
	if n := cached(); n != 0 {
		t.Errorf("after a reset %d tokens are in the cache", n)
	}
	body := object{"prompt": prompt, "max_tokens": 400, "temperature": 0, "ignore_eos": true, "return_token_ids": true}
	r.hurried.Store(true)
	want := r.ask(completionsPath, body).Choices[0].IDs
	r.hurried.Store(false)
	long := make(chan told)
	go func() { long <- r.ask(completionsPath, body) }()
	before := r.engine.Metrics().GeneratedTokens
	r.until("it runs", func() bool { return r.engine.Metrics().GeneratedTokens > before+3 })
	if a := r.told("/reset_prefix_cache", "{}"); a["success"] != false {
		t.Errorf("while one runs: %v", a)
	}
	if a := r.told("/reset_prefix_cache?reset_running_requests=true&reset_external=true", ""); a["success"] != true {
		t.Errorf("with those that run: %v", a)
	}
	r.hurried.Store(true)
	if got := (<-long).Choices[0].IDs; len(got) != 400 || !slices.Equal(got, want) {
		t.Errorf("what ran has %d tokens, or others", len(got))
	}
	r.resting()
}

// What sleeps goes on sleeping.
func TestResetPrefixCacheAsleep(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	for _, c := range []struct {
		parts engine.Part
		want  bool
	}{{engine.Weights, false}, {engine.KV, true}, {engine.KV | engine.Weights, true}} {
		if err := r.engine.Sleep(t.Context(), c.parts); err != nil {
			t.Fatal(err)
		}
		if a := r.told("/reset_prefix_cache", ""); a["success"] != c.want || r.engine.Status().Asleep != c.parts {
			t.Errorf("%d asleep: %v, then %+v", c.parts, a, r.engine.Status())
		}
		if err := r.engine.Wake(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"/reset_mm_cache", "/reset_encoder_cache"} {
		r.told(path, "")
	}
}

// slept is an engine that somebody else puts to sleep just behind who empties its cache.
type slept struct {
	engine.API
	again atomic.Bool
	then  func()
}

func (e *slept) Sleep(ctx context.Context, parts engine.Part) error {
	err := e.API.Sleep(ctx, parts)
	if !e.again.Swap(true) {
		e.then()
	}
	return err
}

// Who empties the cache does not wake what somebody else has put to sleep meanwhile.
func TestResetPrefixCacheLeavesAsleep(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	m := &r.server.models[0]
	m.Engine = &slept{API: r.engine, then: func() {
		if err := r.server.sleep(t.Context(), m, engine.KV|engine.Weights, pauseOptions{}); err != nil {
			t.Error(err)
		}
	}}
	if a := r.told("/reset_prefix_cache", ""); a["success"] != true || r.engine.Status().Asleep != engine.KV|engine.Weights {
		t.Errorf("%v, then %+v", a, r.engine.Status())
	}
}
