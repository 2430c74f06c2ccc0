package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/weights"
)

// What changes while it is written leaves nothing to compute with: that is said to
// everybody, and what is open goes on with the next whole set.
func TestBrokenWeights(t *testing.T) {
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, again := range []bool{false, true} { // in another session
		e, w := spawnForOne(t, Config{Threads: 1}), newTrained(t, 1)
		open := mustAdd(t, e, Request{PromptIDs: text(20), MaxNewTokens: 900, IgnoreEOS: true})
		if _, err := open.Recv(t.Context()); err != nil {
			t.Fatal(err)
		}
		o := UpdateOptions{Version: "v2", Manifest: w.manifest, KV: KVRecompute}
		norm, _ := w.set.Tensor("model.norm.weight")
		send, want := w.sender(func(time int) { norm.Data[0] ^= byte(time - 1) }), weights.ErrDigest
		if again {
			send, want = panicsInTheMiddle(w, 2), weights.ErrPanicked
		}
		h := pause(t, e, PauseOptions{}) // nothing ends before the weights are broken
		err := e.UpdateInPlace(t.Context(), o, send)
		release(t, h)
		if !errors.Is(err, ErrBroken) || !errors.Is(err, weights.ErrBroken) || !errors.Is(err, want) || !errors.Is(err, ErrUnavailable) {
			t.Fatal(err)
		}
		if !again {
			norm.Data[0] ^= 1
		}
		_, added := e.AddRequest(t.Context(), Request{PromptIDs: text(5)})
		part := o
		part.Manifest.Partial, part.Base = true, FirstVersion
		_, _, summed := e.Checksum(t.Context(), weights.SHA256)
		_, beside := e.Update(t.Context(), part)
		for what, err := range map[string]error{"a request": added, "wake": e.Wake(t.Context()), "start": e.Start(t.Context()), "checksum": summed} {
			if !errors.Is(err, ErrBroken) || Code(err) != "weights_broken" {
				t.Errorf("%s: %v", what, err)
			}
		}
		if !errors.Is(beside, weights.ErrVersion) || e.Version() != "" || e.Kept() != "" || e.Status().Mode != "sleeping" {
			t.Errorf("a part: %v; %q serves, it is %s", beside, e.Version(), e.Status().Mode)
		}
		if again {
			if err := e.Stop(t.Context(), StopOptions{Hard: true, Keep: true}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.inPlace(t, e, "v2", KVRecompute); err != nil {
			t.Fatal(err)
		}
		if again {
			if err := e.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else if out := open.Wait(soon); out.FinishReason != FinishLength || len(out.WeightVersions) != 2 || covers(out.WeightVersions, 900) != nil {
			t.Errorf("ended %s with tokens of %v: %v", out.FinishReason, out.WeightVersions, out.Err)
		}
		other := spawnTiny(t, Config{Threads: 1})
		w.update(t, other, "v2", KVKeep)
		if want, got := greedy(t, other, text(64), 12), greedy(t, e, text(64), 12); !slices.Equal(got.TokenIDs, want.TokenIDs) {
			t.Errorf("again %t: %v, want %v", again, got.TokenIDs, want.TokenIDs)
		}
	}
}

// panicsInTheMiddle sends all tensors, but the given time it panics behind the first one.
func panicsInTheMiddle(w *trained, last int) weights.Send {
	time := 0
	return func(put weights.Put) error {
		time++
		for tensor := range w.set.All() {
			if err := put(tensor.Name, tensor.DType.String(), tensor.Shape, 0, tensor.Data); err != nil {
				return err
			}
			if time == last {
				panic("gone")
			}
		}
		return nil
	}
}
