package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/weights"
)

// spawnForOne is an engine of the tiny model in whose memory is one set, as it is stored.
func spawnForOne(t *testing.T, cfg Config) *Engine {
	t.Helper()
	cfg.Checkpoint, cfg.NumBlocks, cfg.MaxBatchTokens = tiny(t), 64, 64
	r, err := Resolve(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Memory
	if m.Limit == 0 {
		t.Skip("how much memory there is cannot be told")
	}
	m.NextSet, m.Executor.NextSet = 0, 0
	cfg.MaxMemoryPercent = float64(m.Total()+m.WeightSet/2) / float64(m.Limit-m.Resident)
	e := spawnTiny(t, cfg)
	if m := e.Info().Memory; m.NextSet != 0 || m.Executor.NextSet != 0 || e.Info().Blocks != 64 {
		t.Fatalf("planned are %+v", m)
	}
	return e
}

// sender sends all tensors in pieces. Before each time it calls change.
func (w *trained) sender(change func(time int)) weights.Send {
	time := 0
	return func(put weights.Put) error {
		time++
		change(time)
		for tensor := range w.set.All() {
			for at := 0; at < len(tensor.Data); at += 4000 {
				if err := put(tensor.Name, tensor.DType.String(), tensor.Shape, at, tensor.Data[at:min(at+4000, len(tensor.Data))]); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func (w *trained) inPlace(t *testing.T, e *Engine, version string, kv KVPolicy) error {
	t.Helper()
	return e.UpdateInPlace(t.Context(), UpdateOptions{Version: version, Manifest: w.manifest, KV: kv}, w.sender(func(int) {}))
}

// Where memory holds one set, Update says so and takes nothing, and what is written in
// place computes as with an engine that has had no other, within the memory of one.
func TestUpdateInPlace(t *testing.T) {
	e, other := spawnForOne(t, Config{Threads: 2}), spawnTiny(t, Config{Threads: 2})
	v2, v3 := newTrained(t, 1), newTrained(t, 2)
	if _, err := e.Update(t.Context(), UpdateOptions{Version: "v2", Manifest: v2.manifest}); !errors.Is(err, weights.ErrMemory) {
		t.Fatalf("beside the one that serves: %v", err)
	}
	first := greedy(t, e, text(64), 12)
	for i, w := range []*trained{v2, v3} {
		version := fmt.Sprint("v", i+2)
		w.update(t, other, version, KVKeep)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := w.inPlace(t, e, version, KVKeep); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; !underRace && grown > uint64(w.set.Bytes()) {
			t.Errorf("%d bytes were taken, the set has %d", grown, w.set.Bytes())
		}
		if taken, idle := e.store.Memory(); int64(taken+idle) > e.Info().Memory.WeightSet {
			t.Errorf("the store has %d and %d bytes, a set %d", taken, idle, e.Info().Memory.WeightSet)
		}
		want, got := greedy(t, other, text(64), 12), greedy(t, e, text(64), 12)
		if !slices.Equal(got.TokenIDs, want.TokenIDs) || slices.Equal(got.TokenIDs, first.TokenIDs) || got.WeightVersions[0].Version != version {
			t.Errorf("%s: %v of %v, want %v", version, got.TokenIDs, got.WeightVersions, want.TokenIDs)
		}
		if got.Usage.CachedTokens != 0 {
			t.Errorf("%s: %d tokens of older weights were found", version, got.Usage.CachedTokens)
		}
		if e.digest() != other.digest() || e.Version() != version || e.Kept() != "" || e.Status().Mode != "running" {
			t.Errorf("%q serves, %q is kept, it is %s; the same bytes: %t", e.Version(), e.Kept(), e.Status().Mode, e.digest() == other.digest())
		}
	}
	if err := e.Rollback(t.Context(), "v2", KVKeep); !errors.Is(err, weights.ErrVersion) {
		t.Errorf("back: %v", err)
	}
	if err := e.Stop(t.Context(), StopOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := v2.inPlace(t, e, "v4", KVKeep); err != nil { // without a session
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	v2.update(t, other, "v4", KVKeep)
	if want, got := greedy(t, other, text(64), 12), greedy(t, e, text(64), 12); !slices.Equal(got.TokenIDs, want.TokenIDs) {
		t.Errorf("another session: %v, want %v", got.TokenIDs, want.TokenIDs)
	}
}

// What is wrong is found before anything is written: the version before serves on, to the
// bit, and what runs is not even paused.
func TestARefusedUpdateInPlaceChangesNothing(t *testing.T) {
	e := spawnForOne(t, Config{Threads: 1})
	before, good := greedy(t, e, text(20), 8).TokenIDs, newTrained(t, 1)
	beside := good.sender(func(time int) {
		if time > 1 {
			return
		}
		_, err := e.Update(t.Context(), UpdateOptions{Version: "v9", Manifest: good.manifest})
		for _, err := range []error{err, good.inPlace(t, e, "v9", KVKeep)} {
			if !errors.Is(err, weights.ErrBusy) {
				t.Errorf("beside another update: %v", err)
			}
		}
	})
	if err := e.UpdateInPlace(t.Context(), UpdateOptions{Version: "v1", Manifest: good.manifest}, beside); err != nil {
		t.Fatal(err)
	}
	if err := newTrained(t, 0).inPlace(t, e, "v2", KVKeep); err != nil {
		t.Fatal(err)
	}
	sum := e.digest()
	const name = "model.norm.weight"
	norm, _ := good.set.Tensor(name)
	one := func(name, dtype string, shape []int, data []byte) weights.Send {
		return func(put weights.Put) error {
			return put(name, dtype, shape, 0, data)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	defer cancel()
	gaveUp := errors.New("the trainer is gone")
	for _, c := range []struct {
		what string
		ctx  context.Context
		send weights.Send
		want error
	}{
		{"killed in the middle", t.Context(), one(name, norm.DType.String(), norm.Shape, norm.Data), weights.ErrMissing},
		{"an error of its own", t.Context(), func(func(string, string, []int, int, []byte) error) error { return gaveUp }, gaveUp},
		{"no source", t.Context(), nil, ErrParams},
		{"a panic", t.Context(), func(func(string, string, []int, int, []byte) error) error { panic("gone") }, weights.ErrPanicked},
		{"not finite", t.Context(), one(name, norm.DType.String(), norm.Shape, bytes.Repeat([]byte{0xff}, len(norm.Data))), weights.ErrNotFinite},
		{"another type", t.Context(), one(name, "I8", norm.Shape, norm.Data), weights.ErrDType},
		{"another shape", t.Context(), one(name, norm.DType.String(), []int{1}, norm.Data), weights.ErrShape},
		{"unknown", t.Context(), one("model.norm.bias", norm.DType.String(), norm.Shape, norm.Data), weights.ErrUnknown},
		{"twice", t.Context(), func(put weights.Put) error {
			return errors.Join(put(name, norm.DType.String(), norm.Shape, 0, norm.Data), put(name, norm.DType.String(), norm.Shape, 0, norm.Data))
		}, weights.ErrChunk},
		{"wrong digest", t.Context(), newTrained(t, 2).sender(func(int) {}), weights.ErrDigest},
		{"its context has ended", gone, good.sender(func(int) { cancel() }), context.Canceled},
		{"its context has ended between", gone, good.sender(func(int) {}), context.Canceled},
	} {
		open := mustAdd(t, e, Request{PromptIDs: text(9), MaxNewTokens: 4})
		err := e.UpdateInPlace(c.ctx, UpdateOptions{Version: "v3", Manifest: good.manifest, KV: KVAbort}, c.send)
		if !errors.Is(err, c.want) || errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
		if out := open.Wait(t.Context()); out.FinishReason == FinishAborted || out.Err != nil {
			t.Errorf("%s: what was open ended %s: %v", c.what, out.FinishReason, out.Err)
		}
		if got := greedy(t, e, text(20), 8); !slices.Equal(got.TokenIDs, before) || e.Version() != "v2" || e.digest() != sum {
			t.Errorf("%s: version %q brings %v, want %v", c.what, e.Version(), got.TokenIDs, before)
		}
	}
}

// A source that ends with an error before it has brought anything again, and a holder who
// reads the weights, are met under the pause: all goes on as before.
func TestUpdateInPlaceThatCannotBeWritten(t *testing.T) {
	e, w := spawnForOne(t, Config{Threads: 1}), newTrained(t, 1)
	before, sum := greedy(t, e, text(20), 8).TokenIDs, weights.Digest{}
	h := pause(t, e, PauseOptions{})
	readWeights(t, h)
	sum = e.digest()
	once, gaveUp := w.sender(func(int) {}), errors.New("it comes once")
	times := 0
	for _, c := range []struct {
		send weights.Send
		want error
	}{
		{w.sender(func(int) {}), weights.ErrInUse},
		{func(put weights.Put) error {
			if times++; times > 1 {
				return gaveUp
			}
			return once(put)
		}, gaveUp},
	} {
		err := e.UpdateInPlace(t.Context(), UpdateOptions{Version: "v2", Manifest: w.manifest}, c.send)
		if !errors.Is(err, c.want) || errors.Is(err, ErrBroken) || e.digest() != sum {
			t.Errorf("%v, want %v", err, c.want)
		}
		if err := h.Release(""); err != nil {
			t.Fatal(err)
		}
		if got := greedy(t, e, text(20), 8); !slices.Equal(got.TokenIDs, before) {
			t.Errorf("%v: %v, want %v", c.want, got.TokenIDs, before)
		}
	}
}

// A holder of a pause writes weights in place where there is no other memory.
func TestHeldWeightsAreWrittenInPlace(t *testing.T) {
	e, other := spawnForOne(t, Config{Threads: 1}), spawnTiny(t, Config{Threads: 1})
	newTrained(t, 1).update(t, other, "v2", KVKeep)
	open := mustAdd(t, e, Request{PromptIDs: text(30), MaxNewTokens: 200, IgnoreEOS: true})
	h, also := pause(t, e, PauseOptions{}), pause(t, e, PauseOptions{})
	w := readWeights(t, h)
	for _, name := range w.Names() {
		turnOver(t, w, name)
	}
	if err := h.Release("v2"); err != nil || e.Status().Holders != 1 || e.Status().Mode == "running" {
		t.Fatalf("it is %+v: %v", e.Status(), err)
	}
	if err := also.Release(""); err != nil {
		t.Fatal(err)
	}
	if got, want := greedy(t, e, text(20), 12), greedy(t, other, text(20), 12); !slices.Equal(got.TokenIDs, want.TokenIDs) || e.Version() != "v2" || e.digest() != other.digest() {
		t.Errorf("%q brings %v, want %v", e.Version(), got.TokenIDs, want.TokenIDs)
	}
	if out := open.Wait(t.Context()); out.FinishReason != FinishLength {
		t.Errorf("what was open ended %s: %v", out.FinishReason, out.Err)
	}
}
