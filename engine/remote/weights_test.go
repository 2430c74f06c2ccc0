package remote_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// trained is the embedded model with every sign of some numbers turned over.
func trained(t testing.TB) (*weights.Set, weights.Manifest) {
	t.Helper()
	model, _ := tiny(t)
	set, err := weights.Load(model.Config, model, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	m := weights.Manifest{}
	for tensor := range set.All() {
		size := tensor.DType.RowBytes(1)
		for i := size - 1; i < len(tensor.Data); i += 3 * size {
			tensor.Data[i] ^= 0x80
		}
		m.Tensors = append(m.Tensors, weights.Entry{Name: tensor.Name, DType: tensor.DType.String(), Shape: tensor.Shape, Digest: weights.Sum(weights.XXH3_128, tensor.Data)})
	}
	return set, m
}

func put(set *weights.Set, u engine.Update) error {
	for tensor := range set.All() {
		if err := u.Put(tensor.Name, tensor.DType.String(), tensor.Shape, 0, tensor.Data); err != nil {
			return err
		}
	}
	return nil
}

func TestUpdatesOnEither(t *testing.T) {
	both(t, func(t *testing.T, api engine.API) {
		ctx := t.Context()
		set, manifest := trained(t)
		greedy := func() engine.Output {
			return add(t, api, engine.Request{PromptIDs: prompt(20), MaxNewTokens: 12, IgnoreEOS: true}).Wait(ctx)
		}
		before := greedy()
		u, err := api.Update(ctx, engine.UpdateOptions{Version: "v2", Manifest: manifest})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := api.Update(ctx, engine.UpdateOptions{Version: "v3", Manifest: manifest}); !errors.Is(err, weights.ErrBusy) {
			t.Errorf("two at a time: %v", err)
		}
		if gaps, err := u.Missing(ctx); err != nil || len(gaps) != len(manifest.Tensors) {
			t.Errorf("%d gaps, %v", len(gaps), err)
		}
		if err := u.Commit(ctx); !errors.Is(err, weights.ErrMissing) {
			t.Errorf("before it is there: %v", err)
		}
		if err := errors.Join(put(set, u), u.Commit(ctx)); err != nil {
			t.Fatal(err)
		}
		u.Abort()
		if api.Version() != "v2" || api.Kept() != engine.FirstVersion {
			t.Errorf("%q serves, %q is kept", api.Version(), api.Kept())
		}
		if version, sum, err := api.Checksum(ctx, weights.XXH3_64); err != nil || version != "v2" || sum != set.Digest(weights.XXH3_64) {
			t.Errorf("%s of %q, %v", sum, version, err)
		}
		after := greedy()
		if slices.Equal(before.TokenIDs, after.TokenIDs) || after.WeightVersions[0].Version != "v2" {
			t.Errorf("%v, %v, by %v", before.TokenIDs, after.TokenIDs, after.WeightVersions)
		}
		if err := api.Rollback(ctx, engine.FirstVersion, engine.KVRecompute); err != nil {
			t.Fatal(err)
		}
		if out := greedy(); !slices.Equal(out.TokenIDs, before.TokenIDs) {
			t.Errorf("%v, want %v", out.TokenIDs, before.TokenIDs)
		}
		if err := api.Rollback(ctx, "v9", engine.KVKeep); !errors.Is(err, weights.ErrVersion) {
			t.Errorf("%v", err)
		}

		// Wrong bytes are told at the next Put or Commit at the latest, and end the update.
		if u, err = api.Update(ctx, engine.UpdateOptions{Version: "v4", Manifest: manifest}); err != nil {
			t.Fatal(err)
		}
		if u.Dropped() != "" || api.Kept() != "v2" {
			t.Errorf("%q was dropped, %q is kept", u.Dropped(), api.Kept())
		}
		first := manifest.Tensors[0]
		if err := errors.Join(u.Put("no such", "F32", []int{1}, 0, make([]byte, 4)), u.Commit(ctx)); !errors.Is(err, weights.ErrUnknown) {
			t.Errorf("%v", err)
		}
		t1, _ := set.Tensor(first.Name)
		if err := u.Put(first.Name, first.DType, first.Shape, 0, slices.Repeat([]byte{0xff}, len(t1.Data))); err == nil {
			err = u.Commit(ctx)
			if !errors.Is(err, weights.ErrNotFinite) {
				t.Errorf("not numbers: %v", err)
			}
		}
		u.Abort()
		until(t, "there is room for another one", func() bool {
			u, err := api.Update(ctx, engine.UpdateOptions{Version: "v5", Manifest: manifest})
			if err == nil {
				u.Abort()
			}
			return err == nil
		})
		if api.Version() != engine.FirstVersion {
			t.Errorf("%q serves", api.Version())
		}
	})
}

func TestHeldWeightsOnEither(t *testing.T) {
	both(t, func(t *testing.T, api engine.API) {
		ctx := t.Context()
		greedy := func() []int32 {
			return add(t, api, engine.Request{PromptIDs: prompt(20), MaxNewTokens: 12, IgnoreEOS: true}).Wait(ctx).TokenIDs
		}
		before := greedy()
		set, _ := trained(t)
		h, err := api.Pause(ctx, engine.PauseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := h.Weights(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Tensor("no such"); !errors.Is(err, weights.ErrUnknown) {
			t.Errorf("%v", err)
		}
		for i, name := range w.Names() {
			tensor, err := w.Tensor(name)
			if err != nil {
				t.Fatal(err)
			}
			if changed, _ := set.Tensor(name); i%2 == 0 {
				copy(tensor.Data, changed.Data)
			}
			if again, err := w.Tensor(name); err != nil || &again.Data[0] != &tensor.Data[0] {
				t.Errorf("another copy of %s, %v", name, err)
			}
		}
		if err := h.Release("v2"); err != nil || api.Version() != "v2" {
			t.Fatalf("%v, %q serves", err, api.Version())
		}
		if slices.Equal(greedy(), before) {
			t.Error("what was written does not compute")
		}
		if _, err := w.Tensor(w.Names()[0]); !errors.Is(err, engine.ErrHoldLost) {
			t.Errorf("%v", err)
		}
		if h, err = api.Pause(ctx, engine.PauseOptions{}); err != nil {
			t.Fatal(err)
		}
		if w, err = h.Weights(ctx); err != nil {
			t.Fatal(err)
		}
		tensor, err := w.Tensor(w.Names()[0])
		if err != nil {
			t.Fatal(err)
		}
		tensor.Data[len(tensor.Data)-1] ^= 0x80
		if err := h.Release("v2"); !errors.Is(err, weights.ErrVersion) || api.Status().Mode != "running" {
			t.Errorf("the same name: %v, %+v", err, api.Status())
		}
	})
}
