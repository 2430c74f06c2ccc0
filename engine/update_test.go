package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// trained is a set of the tiny model to be sent: its own weights with every third
// number's sign turned over, or others for other n.
type trained struct {
	set      *weights.Set
	manifest weights.Manifest
}

func newTrained(t *testing.T, n int) *trained {
	t.Helper()
	return trainedFrom(t, tiny(t), n)
}

// trainedFrom is that of another model.
func trainedFrom(t *testing.T, c *checkpoint.Checkpoint, n int) *trained {
	t.Helper()
	set, err := weights.Load(c.Config, c, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	w := &trained{set: set, manifest: weights.Manifest{Result: weights.Digest{}}}
	for tensor := range set.All() {
		size := tensor.DType.RowBytes(1)
		for i := size - 1; n > 0 && i < len(tensor.Data); i += (n + 2) * size {
			tensor.Data[i] ^= 0x80
		}
		w.manifest.Tensors = append(w.manifest.Tensors, weights.Entry{Name: tensor.Name, DType: tensor.DType.String(), Shape: tensor.Shape,
			Digest: weights.Sum(weights.XXH3_128, tensor.Data)})
	}
	return w
}

// send puts all tensors, each in two chunks, the last first.
func (w *trained) send(u Update) error {
	for tensor := range w.set.All() {
		half := len(tensor.Data) / 2 / 4 * 4
		for _, part := range [][2]int{{half, len(tensor.Data)}, {0, half}} {
			if err := u.Put(tensor.Name, tensor.DType.String(), tensor.Shape, part[0], tensor.Data[part[0]:part[1]]); err != nil {
				return err
			}
		}
	}
	return nil
}

// update commits a set as a version.
func (w *trained) update(t *testing.T, e *Engine, version string, kv KVPolicy) {
	t.Helper()
	u := w.begin(t, e, version, kv)
	if err := w.send(u); err != nil {
		t.Fatal(err)
	}
	if err := u.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (w *trained) begin(t *testing.T, e *Engine, version string, kv KVPolicy) Update {
	t.Helper()
	u, err := e.Update(t.Context(), UpdateOptions{Version: version, Manifest: w.manifest, KV: kv})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// greedy is what an engine brings behind a prompt.
func greedy(t *testing.T, e *Engine, prompt []int32, n int) Output {
	t.Helper()
	out := mustAdd(t, e, Request{PromptIDs: prompt, MaxNewTokens: n, IgnoreEOS: true}).Wait(t.Context())
	if out.FinishReason != FinishLength {
		t.Fatalf("ended %s: %v", out.FinishReason, out.Err)
	}
	return out
}

// text is a prompt of the tiny model.
func text(n int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32((i*37 + 11) % 400)
	}
	return p
}

func (e *Engine) digest() weights.Digest { return e.store.Current().Digest(weights.SHA256) }

// A way back gives the first version's bytes and tokens; each version is computed as
// by an engine that has had no other, also by one that was made anew.
func TestRollbackIsTheFirstVersion(t *testing.T) {
	for sets := 1; sets <= 2; sets++ {
		t.Run(fmt.Sprint(sets), func(t *testing.T) { rollsBack(t, spawnTiny(t, Config{Threads: 2, WeightSets: sets})) })
	}
}

func rollsBack(t *testing.T, e *Engine) {
	first := greedy(t, e, text(20), 12)
	v2 := newTrained(t, 1)
	u := v2.begin(t, e, "v2", KVKeep)
	sum := e.digest()
	if err := errors.Join(v2.send(u), u.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	second := greedy(t, e, text(20), 12)
	if slices.Equal(first.TokenIDs, second.TokenIDs) || e.digest() == sum {
		t.Fatal("both versions bring the same: the test shows nothing")
	}
	if e.Version() != "v2" || e.Kept() != FirstVersion {
		t.Errorf("%q serves, %q is kept", e.Version(), e.Kept())
	}
	for i, version := range []string{FirstVersion, "v2", FirstVersion} {
		if err := e.Rollback(t.Context(), version, KVKeep); err != nil {
			t.Fatal(err)
		}
		want := []Output{first, second}[i%2]
		if got := greedy(t, e, text(20), 12); !slices.Equal(got.TokenIDs, want.TokenIDs) || got.WeightVersions[0].Version != version {
			t.Errorf("back to %s: %v of %v, want %v", version, got.TokenIDs, got.WeightVersions, want.TokenIDs)
		}
	}
	if e.digest() != sum {
		t.Error("the first version's bytes are others")
	}
	if err := e.Rollback(t.Context(), "v9", KVKeep); !errors.Is(err, weights.ErrVersion) {
		t.Errorf("to a version that never was: %v", err)
	}
	v2.update(t, e, "v3", KVKeep)
	if err := e.Stop(t.Context(), StopOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := greedy(t, e, text(20), 12); !slices.Equal(got.TokenIDs, second.TokenIDs) || got.WeightVersions[0].Version != "v3" {
		t.Errorf("another session: %v of %v, want %v", got.TokenIDs, got.WeightVersions, second.TokenIDs)
	}
	newTrained(t, 2).update(t, e, "v4", KVKeep)
	if err := e.Rollback(t.Context(), "v3", KVKeep); err != nil {
		t.Fatal(err)
	}
	if got := greedy(t, e, text(20), 12); !slices.Equal(got.TokenIDs, second.TokenIDs) {
		t.Errorf("back in another session: %v, want %v", got.TokenIDs, second.TokenIDs)
	}
	if n := e.Metrics().Updates; n != 7 { // v2, three rollbacks, v3, v4, and back
		t.Errorf("%d updates are counted", n)
	}
}

// A request goes on over an update: it is told which weights made its tokens and their
// cache, in chunks and at the end; what is computed again goes on as the new weights
// would behind the same tokens.
func TestRequestsGoOnOverAnUpdate(t *testing.T) {
	v2 := newTrained(t, 1)
	for i, kv := range []KVPolicy{KVKeep, KVRecompute, KVAbort, KVKeep, KVRecompute, KVAbort, KVKeep, KVRecompute, KVAbort} {
		end := FinishLength
		if kv == KVAbort {
			end = FinishAborted
		}
		e := spawnTiny(t, Config{Threads: 1, WeightSets: 1 + i/3%2})
		var commit func() error
		if i >= 6 {
			commit = func() error { return v2.inPlace(t, e, "v2", kv) }
		} else {
			u := v2.begin(t, e, "v2", kv)
			if err := v2.send(u); err != nil {
				t.Fatal(err)
			}
			commit = func() error { return u.Commit(t.Context()) }
		}
		const n = 400
		slow := new(unhurried)
		s := mustAdd(t, e, Request{PromptIDs: text(20), MaxNewTokens: n, IgnoreEOS: true, Sampling: sampling.Params{Processor: slow}})
		var told, tokens []VersionSpan
		var out Output
		for committed := false; out.RequestID == ""; {
			c, err := s.Recv(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, span := range c.WeightVersions {
				told = extend(told, span.Version, span.End)
			}
			if told[len(told)-1].End = max(told[len(told)-1].End, c.Offset+len(c.TokenIDs)); c.KVVersions != nil {
				tokens = c.KVVersions
			}
			if !committed && c.Offset > 20 {
				committed = true
				if err := commit(); err != nil {
					t.Fatal(err)
				}
				slow.over.Store(true)
			}
			if c.Final != nil {
				out = *c.Final
			}
		}
		if out.FinishReason != end || end == FinishLength && len(out.TokenIDs) != n {
			t.Errorf("policy %d: ended %s with %d tokens: %v", kv, out.FinishReason, len(out.TokenIDs), out.Err)
		}
		if err := covers(out.WeightVersions, len(out.TokenIDs)); err != nil || !slices.Equal(told, out.WeightVersions) {
			t.Errorf("policy %d: tokens of %v, told were %v (%v)", kv, out.WeightVersions, told, err)
		}
		if err := covers(out.KVVersions, 20+len(out.TokenIDs)-1); err != nil || tokens[len(tokens)-1].Version != out.KVVersions[len(out.KVVersions)-1].Version {
			t.Errorf("policy %d: cache of %v, told was %v (%v)", kv, out.KVVersions, tokens, err)
		}
		old := out.WeightVersions[0].End
		switch {
		case kv == KVAbort && len(out.WeightVersions) != 1, kv != KVAbort && len(out.WeightVersions) != 2:
			t.Errorf("policy %d: tokens of %v", kv, out.WeightVersions)
		case kv == KVKeep && (len(out.KVVersions) != 2 || out.KVVersions[0].End != 20+old-1 && out.KVVersions[0].End != 20+old):
			t.Errorf("kept: cache of %v, tokens of %v", out.KVVersions, out.WeightVersions)
		case kv == KVRecompute:
			rest := greedy(t, e, append(text(20), out.TokenIDs[:old]...), n-old)
			if len(out.KVVersions) != 1 || !slices.Equal(rest.TokenIDs, out.TokenIDs[old:]) {
				t.Errorf("computed again: cache of %v; %v behind %d tokens, want %v", out.KVVersions, out.TokenIDs[old:], old, rest.TokenIDs)
			}
		}
	}
}

// unhurried lets a request take its time, until that is over.
type unhurried struct{ over atomic.Bool }

func (u *unhurried) Process([]int32, int, []float32) error {
	if !u.over.Load() {
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// covers wants spans to cover n without a gap, each of another version than the one before.
func covers(spans []VersionSpan, n int) error {
	at := 0
	for i, s := range spans {
		if s.Start != at || s.End <= s.Start || i > 0 && s.Version == spans[i-1].Version {
			return fmt.Errorf("%v", spans)
		}
		at = s.End
	}
	if at != n {
		return fmt.Errorf("up to %d of %d", at, n)
	}
	return nil
}

// What is wrong is refused by name, and the version before serves on, to the bit.
func TestARefusedUpdateChangesNothing(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 1})
	before := greedy(t, e, text(20), 8).TokenIDs
	good := newTrained(t, 1)
	const name = "model.norm.weight"
	norm, _ := good.set.Tensor(name)
	nan := make([]byte, len(norm.Data))
	for i := range nan {
		nan[i] = 0xff
	}
	for _, c := range []struct {
		name string
		do   func(u Update) error
		want error
	}{
		{"killed in the middle", func(u Update) error { return u.Commit(t.Context()) }, weights.ErrMissing},
		{"not finite", func(u Update) error { return u.Put(name, norm.DType.String(), norm.Shape, 0, nan) }, weights.ErrNotFinite},
		{"another type", func(u Update) error { return u.Put(name, "I8", norm.Shape, 0, norm.Data) }, weights.ErrDType},
		{"another shape", func(u Update) error { return u.Put(name, norm.DType.String(), []int{1}, 0, norm.Data) }, weights.ErrShape},
		{"unknown", func(u Update) error { return u.Put("model.norm.bias", norm.DType.String(), norm.Shape, 0, norm.Data) }, weights.ErrUnknown},
		{"wrong digest", func(u Update) error {
			return u.Put(name, norm.DType.String(), norm.Shape, 0, make([]byte, len(norm.Data)))
		}, weights.ErrDigest},
		{"twice", func(u Update) error {
			other := slices.Clone(norm.Data)
			other[0] ^= 1
			return errors.Join(u.Put(name, norm.DType.String(), norm.Shape, 0, norm.Data), u.Put(name, norm.DType.String(), norm.Shape, 0, other))
		}, weights.ErrTwice},
		{"its context has ended", func(u Update) error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return errors.Join(good.send(u), u.Commit(ctx))
		}, context.Canceled},
	} {
		u := good.begin(t, e, "v2", KVRecompute)
		if _, err := e.Update(t.Context(), UpdateOptions{Version: "v3", Manifest: good.manifest}); !errors.Is(err, weights.ErrBusy) {
			t.Errorf("%s: another update: %v", c.name, err)
		}
		if err := c.do(u); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		u.Abort()
		u.Abort()
		if got := greedy(t, e, text(20), 8); !slices.Equal(got.TokenIDs, before) || e.Version() != FirstVersion {
			t.Errorf("%s: version %q brings %v, want %v", c.name, e.Version(), got.TokenIDs, before)
		}
	}
	good.update(t, e, "v2", KVRecompute)
	if err := e.Rollback(t.Context(), FirstVersion, KVAsUpdate); err != nil {
		t.Fatal(err)
	}
	if got := greedy(t, e, text(20), 8); !slices.Equal(got.TokenIDs, before) {
		t.Errorf("back: %v, want %v", got.TokenIDs, before)
	}
	if err := e.Rollback(t.Context(), "v2", KVAbort+1); !errors.Is(err, ErrParams) || e.Version() != FirstVersion {
		t.Errorf("back by no policy: %v, %q serves", err, e.Version())
	}
	if u := good.begin(t, e, "v4", KVKeep); u.Dropped() != "" || e.Kept() != "v2" {
		t.Errorf("dropped is %q, kept %q", u.Dropped(), e.Kept())
	}
}

// A request may ask for a version at least, and for an end when it gets too old.
func TestVersionsThatRequestsAskFor(t *testing.T) {
	e := spawnTiny(t, Config{Threads: 1})
	none := 0
	if _, err := e.AddRequest(t.Context(), Request{PromptIDs: text(5), MinVersion: "v2"}); !errors.Is(err, ErrStale) || !errors.Is(err, ErrUnavailable) {
		t.Errorf("before it is there: %v", err)
	}
	minus := -1
	for _, r := range []Request{{PromptIDs: text(5), MaxStaleness: &minus}, {PromptIDs: text(5), KV: 9}} {
		if _, err := e.AddRequest(t.Context(), r); !errors.Is(err, ErrParams) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	open := func(a, b Request) (*Stream, *Stream, Hold) { // both have tokens, and get no more yet
		var s [2]*Stream
		h := pause(t, e, PauseOptions{})
		for i, r := range []Request{a, b} {
			r.PromptIDs, r.MaxNewTokens, r.IgnoreEOS = text(5), 900, true
			s[i] = mustAdd(t, e, r)
		}
		release(t, h)
		for _, s := range s {
			if _, err := s.Recv(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return s[0], s[1], pause(t, e, PauseOptions{})
	}
	fresh, own, h := open(Request{MaxStaleness: &none}, Request{KV: KVAbort})
	newTrained(t, 1).update(t, e, "v2", KVKeep)
	release(t, h)
	for want, s := range map[FinishReason]*Stream{FinishStale: fresh, FinishAborted: own} {
		out := s.Wait(t.Context())
		if err := covers(out.WeightVersions, len(out.TokenIDs)); err != nil || out.FinishReason != want || len(out.WeightVersions) != 1 || len(out.KVVersions) != 1 {
			t.Errorf("ended %s, want %s, tokens of %v, cache of %v (%v)", out.FinishReason, want, out.WeightVersions, out.KVVersions, err)
		}
	}
	newest, cancelled, h := open(Request{MinVersion: "v2"}, Request{MinVersion: FirstVersion})
	if err := e.Rollback(t.Context(), FirstVersion, KVKeep); err != nil {
		t.Fatal(err)
	}
	e.Cancel(cancelled.ID())
	release(t, h)
	if out := newest.Wait(t.Context()); out.FinishReason != FinishStale || len(out.WeightVersions) != 1 || out.WeightVersions[0].Version != "v2" {
		t.Errorf("ended %s with tokens of %v", out.FinishReason, out.WeightVersions)
	}
	if _, err := e.AddRequest(t.Context(), Request{PromptIDs: text(5), MinVersion: "v2"}); !errors.Is(err, ErrStale) {
		t.Errorf("behind the way back: %v", err)
	}
	if out := cancelled.Wait(t.Context()); out.FinishReason != FinishCancelled || len(out.WeightVersions) == 0 || out.WeightVersions[0].Version != "v2" {
		t.Errorf("ended %s with tokens of %v", out.FinishReason, out.WeightVersions)
	}
}

// An executor that was passed in has its own weights.
func TestNoWeightsToUpdate(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{}, Config{})
	if _, err := e.Update(t.Context(), UpdateOptions{Version: "v2"}); !errors.Is(err, ErrNoWeights) {
		t.Errorf("update: %v", err)
	}
	if err := e.Rollback(t.Context(), "v2", KVKeep); !errors.Is(err, ErrNoWeights) {
		t.Errorf("rollback: %v", err)
	}
	if out := mustAdd(t, e, Request{PromptIDs: ids(5, 1), MaxNewTokens: 3}).Wait(t.Context()); out.WeightVersions[0] != (VersionSpan{FirstVersion, 0, 3}) {
		t.Errorf("tokens of %v", out.WeightVersions)
	}
}
