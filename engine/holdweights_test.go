package engine

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// heldWeights are the weights under a hold.
func readWeights(t *testing.T, h Hold) HeldWeights {
	t.Helper()
	w, err := h.Weights(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// turnOver changes a tensor as newTrained(t, 1) does.
func turnOver(t *testing.T, w HeldWeights, name string) {
	t.Helper()
	tensor, err := w.Tensor(name)
	if err != nil {
		t.Fatal(err)
	}
	size := tensor.DType.RowBytes(1)
	for i := size - 1; i < len(tensor.Data); i += 3 * size {
		tensor.Data[i] ^= 0x80
	}
}

// What is written under a hold computes after its release as after an update with the
// same bytes, while what is open goes on.
func TestWeightsAreWrittenUnderAHold(t *testing.T) {
	e, updated := spawnTiny(t, Config{Threads: 2, WeightSets: 2}), spawnTiny(t, Config{Threads: 2, WeightSets: 2})
	newTrained(t, 1).update(t, updated, "v2", KVKeep)
	first, second := greedy(t, e, text(20), 12), greedy(t, updated, text(20), 12)
	open := mustAdd(t, e, Request{PromptIDs: text(30), MaxNewTokens: 200, IgnoreEOS: true})
	h := pause(t, e, PauseOptions{})
	w := readWeights(t, h)
	for _, name := range w.Names() {
		turnOver(t, w, name)
	}
	if again := readWeights(t, h); again != w {
		t.Error("other weights at the second call")
	}
	if _, err := w.Tensor("none"); !errors.Is(err, weights.ErrUnknown) {
		t.Errorf("a tensor that there is not: %v", err)
	}
	if e.Version() != FirstVersion {
		t.Error("it computes before the release")
	}
	if err := h.Release("v2"); err != nil {
		t.Fatal(err)
	}
	if got := greedy(t, e, text(20), 12); slices.Equal(first.TokenIDs, second.TokenIDs) || !slices.Equal(got.TokenIDs, second.TokenIDs) || e.Version() != "v2" {
		t.Errorf("%s brings %v, an update %v, the version before %v", e.Version(), got.TokenIDs, second.TokenIDs, first.TokenIDs)
	}
	if e.digest() != updated.digest() {
		t.Error("the bytes are others than those of an update")
	}
	if out := open.Wait(t.Context()); out.FinishReason != FinishLength {
		t.Errorf("what was open ended %s: %v", out.FinishReason, out.Err)
	}
}

// Whatever is wrong with what was written, the weights before serve on, and the pause
// has ended; nothing written is no new version.
func TestWeightsThatAreNotTaken(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 2, WeightSets: 2})
	want := greedy(t, e, text(20), 12)
	const name = "model.norm.weight"
	for _, c := range []struct {
		what    string
		write   func(HeldWeights)
		version string
		class   error
	}{
		{"nothing", func(HeldWeights) {}, "", nil},
		{"the same", func(w HeldWeights) { turnOver(t, w, name); turnOver(t, w, name) }, "v2", nil},
		{"without a name", func(w HeldWeights) { turnOver(t, w, name) }, "", weights.ErrVersion},
		{"the same name", func(w HeldWeights) { turnOver(t, w, name) }, FirstVersion, weights.ErrVersion},
		{"not finite", func(w HeldWeights) {
			tensor, err := w.Tensor(name)
			if err != nil {
				t.Fatal(err)
			}
			copy(tensor.Data[len(tensor.Data)-tensor.DType.RowBytes(1):], bytes.Repeat([]byte{0xff}, 4))
		}, "v2", weights.ErrNotFinite},
		{"an update since", func(w HeldWeights) { turnOver(t, w, name); newTrained(t, 0).update(t, e, "other", KVKeep) }, "v2", weights.ErrVersion},
	} {
		h := pause(t, e, PauseOptions{})
		before := e.digest
		c.write(readWeights(t, h))
		sum, version := before(), e.Version()
		if err := h.Release(c.version); !errors.Is(err, c.class) || c.class == nil && err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if e.digest() != sum || e.Version() != version || e.Status().Mode != "running" {
			t.Errorf("%s: %s serves, %s before, and it is %s", c.what, e.Version(), version, e.Status().Mode)
		}
		if got := greedy(t, e, text(20), 12); !slices.Equal(got.TokenIDs, want.TokenIDs) {
			t.Errorf("%s: other tokens", c.what)
		}
		if _, err := h.Weights(t.Context()); !errors.Is(err, ErrHoldLost) {
			t.Errorf("%s: weights after release: %v", c.what, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	h, err := e.Pause(ctx, PauseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	turnOver(t, readWeights(t, h), name)
	cancel()
	<-h.Done()
	if err := h.Release("v2"); !errors.Is(err, ErrHoldLost) || e.Version() == "v2" {
		t.Errorf("written by one whose hold was lost: %v, %s serves", err, e.Version())
	}
	echo := spawnEcho(t, executor.EchoConfig{}, Config{})
	if _, err := pause(t, echo, PauseOptions{Lease: time.Hour}).Weights(t.Context()); !errors.Is(err, ErrNoWeights) {
		t.Errorf("of an executor of the caller's: %v", err)
	}
}

// The weights of a hold stay what they are, whatever serves and is sent meanwhile; when
// the hold has ended, in whatever way, their memory is free again.
func TestHeldWeightsStay(t *testing.T) {
	first := newTrained(t, 0)
	for _, lost := range []bool{false, true} {
		e := spawnTiny(t, Config{Threads: 1, WeightSets: 2})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		h, err := e.Pause(ctx, PauseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w := readWeights(t, h)
		newTrained(t, 1).update(t, e, "v2", KVKeep)
		newTrained(t, 2).update(t, e, "v3", KVKeep)
		again := newTrained(t, 3)
		u := again.begin(t, e, "v4", KVKeep)
		if err := again.send(u); err != nil {
			t.Fatal(err)
		}
		for _, name := range w.Names() {
			got, err := w.Tensor(name)
			if want, _ := first.set.Tensor(name); err != nil || !bytes.Equal(got.Data, want.Data) {
				t.Fatalf("%s has other bytes, or %v", name, err)
			}
		}
		u.Abort()
		memory := func() int {
			e.life <- struct{}{}
			defer e.others()
			taken, _ := e.store.Memory()
			return taken
		}
		before := memory()
		if lost {
			cancel()
			until(t, "the end of the hold", func() bool { return memory() < before })
		} else if err := h.Release(""); err != nil || memory() >= before {
			t.Errorf("released: %v, %d bytes are taken, %d were", err, memory(), before)
		}
		if _, err := w.Tensor("model.norm.weight"); !errors.Is(err, ErrHoldLost) {
			t.Errorf("a tensor behind the end: %v", err)
		}
	}
}

// Close ends a hold with weights, whose holder gets no more of them.
func TestCloseWithHeldWeights(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 1, WeightSets: 2})
	h := pause(t, e, PauseOptions{})
	w := readWeights(t, h)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the hold", func() bool { _, err := w.Tensor("model.norm.weight"); return errors.Is(err, ErrHoldLost) })
	if err := h.Release("v2"); !errors.Is(err, ErrHoldLost) {
		t.Errorf("released behind it: %v", err)
	}
}

// A quantised tensor is given as the numbers that it stands for.
func TestQuantisedWeightsAreFloats(t *testing.T) {
	stored := weights.Tensor{Tensor: model.Tensor{Name: "a", DType: model.Q8_0, Shape: []int{2, 32}}}
	stored.Data = make([]byte, stored.Bytes())
	for i := range stored.Data {
		stored.Data[i] = byte(i % 61)
	}
	got := floats(stored)
	if got.DType != model.F32 || len(got.Data) != got.Bytes() {
		t.Fatalf("%s of %d bytes", got.DType, len(got.Data))
	}
	a, b := make([]float32, 32), make([]float32, 32)
	for r := range 2 {
		stored.Row(a, r)
		got.Row(b, r)
		if !slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }) {
			t.Errorf("row %d is %v, want %v", r, b, a)
		}
	}
}

// Experts in one tensor have outputs as rows in blocks, and inputs as rows in floats, also
// where a matrix is square.
func TestExpertsInBlocksAreTurnedFloats(t *testing.T) {
	for _, out := range []int{3, 32} {
		const experts, in = 2, 32
		stored := weights.Tensor{Tensor: model.Tensor{Name: "a", DType: model.MXFP4, Shape: []int{experts, out, in}}}
		stored.Data = make([]byte, stored.Bytes())
		for i := range stored.Data {
			stored.Data[i] = byte(i*7%251) | 1
			if i%17 == 0 {
				stored.Data[i] = 120 // the scale
			}
		}
		got := floats(stored)
		if want := []int{experts, in, out}; !slices.Equal(got.Shape, want) || got.DType != model.F32 || len(got.Data) != got.Bytes() {
			t.Fatalf("%s %v of %d bytes, want F32 %v", got.DType, got.Shape, len(got.Data), want)
		}
		row, column := make([]float32, in), make([]float32, out)
		for e := range experts {
			for o := range out {
				stored.Row(row, e*out+o)
				for i, want := range row {
					if got.Row(column, e*in+i); column[o] != want {
						t.Fatalf("expert %d, output %d, input %d of %d: %g, want %g", e, o, i, out, column[o], want)
					}
				}
			}
		}
		if changed(stored, got) {
			t.Error("a copy that nobody wrote to differs")
		}
		if got.Data[3] ^= 64; !changed(stored, got) {
			t.Error("a copy that was written to does not differ")
		}
	}
}
