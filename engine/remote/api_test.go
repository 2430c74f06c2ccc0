package remote_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// both runs a test with an engine in the process, and with one behind a gateway.
func both(t *testing.T, do func(t *testing.T, api engine.API)) {
	t.Run("local", func(t *testing.T) {
		do(t, serve(t, engine.Config{}, gateway.Options{}).engine)
	})
	t.Run("remote", func(t *testing.T) {
		do(t, connect(t, serve(t, engine.Config{}, gateway.Options{}).addr(), remote.Options{}))
	})
}

// prompt is one for the embedded model.
func prompt(n int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32((i*37 + 11) % 400)
	}
	return p
}

func TestRequestsOnEither(t *testing.T) {
	both(t, func(t *testing.T, api engine.API) {
		ctx := t.Context()
		s := add(t, api, engine.Request{ID: "a", PromptIDs: prompt(8), MaxNewTokens: 12, IgnoreEOS: true, N: 2})
		if s.ID() != "a" || s.Children()[0].ID() != "a/1" {
			t.Errorf("%s, %s", s.ID(), s.Children()[0].ID())
		}
		if _, err := api.AddRequest(ctx, engine.Request{ID: "a", PromptIDs: prompt(8)}); !errors.Is(err, engine.ErrDuplicateID) {
			t.Errorf("twice: %v", err)
		}
		first, second := s.Wait(ctx), s.Children()[0].Wait(ctx)
		if len(first.TokenIDs) != 12 || !slices.Equal(first.TokenIDs, second.TokenIDs) || first.FinishReason != engine.FinishLength {
			t.Errorf("%+v\n%+v", first, second)
		}
		if _, err := s.Recv(ctx); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}

		names, err := api.AddRequests(ctx, []engine.Request{{ID: "x", PromptIDs: prompt(3), MaxNewTokens: 2}, {PromptIDs: prompt(5), MaxNewTokens: 3}})
		if err != nil || names[0] != "x" {
			t.Fatalf("%v, %v", names, err)
		}
		if out, err := api.Result(ctx, names[1]); err != nil || len(out.TokenIDs) != 3 {
			t.Errorf("%+v, %v", out, err)
		}
		for out, err := range api.Results(ctx) {
			if err != nil || out.RequestID != "x" {
				t.Errorf("%+v, %v", out, err)
			}
		}
		if _, err := api.Result(ctx, "x"); !errors.Is(err, engine.ErrUnknownID) {
			t.Errorf("read twice: %v", err)
		}

		var told []int32
		chunks := make(chan engine.Chunk, 64)
		add(t, api, engine.Request{PromptIDs: prompt(8), MaxNewTokens: 12, IgnoreEOS: true, Streaming: true, Handler: func(c engine.Chunk) { chunks <- c }})
		for c := range chunks {
			if told = append(told, c.TokenIDs...); c.Final != nil {
				break
			}
		}
		if !slices.Equal(told, first.TokenIDs) {
			t.Errorf("a handler got %v, want %v", told, first.TokenIDs)
		}

		outs, err := api.GenerateBatch(ctx, []engine.Request{{PromptIDs: prompt(4), MaxNewTokens: 2}, {}, {PromptIDs: []int32{-1}}, {PromptIDs: prompt(6), MaxNewTokens: 5, IgnoreEOS: true}}, engine.BatchOptions{})
		if err != nil || len(outs) != 4 || !errors.Is(outs[1].Err, engine.ErrEmptyPrompt) || !errors.Is(outs[2].Err, engine.ErrVocab) || len(outs[3].TokenIDs) != 5 {
			t.Errorf("%+v, %v", outs, err)
		}
	})
}

func TestCancelOnEither(t *testing.T) {
	both(t, func(t *testing.T, api engine.API) {
		long := engine.Request{ID: "a", PromptIDs: prompt(8), IgnoreEOS: true, N: 2}
		s := add(t, api, long)
		read(t, s, 3)
		api.Cancel("a/1")
		if out := s.Children()[0].Wait(t.Context()); out.FinishReason != engine.FinishCancelled {
			t.Errorf("%+v", out)
		}
		read(t, s, 1)
		api.Cancel("a")
		if out := s.Wait(t.Context()); out.FinishReason != engine.FinishCancelled || len(out.TokenIDs) < 4 {
			t.Errorf("%+v", out)
		}
		ctx, cancel := context.WithCancel(t.Context())
		long.ID, long.N = "b", 1
		s, err := api.AddRequest(ctx, long)
		if err != nil {
			t.Fatal(err)
		}
		read(t, s, 2)
		cancel()
		if out := s.Wait(t.Context()); out.FinishReason != engine.FinishCancelled {
			t.Errorf("%+v", out)
		}
		if _, err := api.AddRequest(ctx, long); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
	})
}

func TestSessionsOnEither(t *testing.T) {
	both(t, func(t *testing.T, api engine.API) {
		ctx := t.Context()
		if !api.Running() || api.Status().Mode != "running" {
			t.Errorf("%+v", api.Status())
		}
		parts := 0
		if err := api.Warmup(ctx, func(done, total int) { parts++ }); err != nil || parts < 2 {
			t.Errorf("%d parts, %v", parts, err)
		}
		if err := api.Stop(ctx, engine.StopOptions{}); err != nil || api.Running() {
			t.Errorf("%v, running: %t", err, api.Running())
		}
		if err := api.Join(ctx); err != nil {
			t.Error(err)
		}
		if _, err := api.AddRequest(ctx, engine.Request{PromptIDs: prompt(3)}); !errors.Is(err, engine.ErrNotRunning) {
			t.Errorf("%v", err)
		}
		if _, err := api.NextResult(ctx); err != io.EOF {
			t.Errorf("%v", err)
		}
		if err := api.Start(ctx); err != nil || !api.Running() {
			t.Errorf("%v", err)
		}
		end, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		if _, err := api.NextResult(end); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if err := errors.Join(api.Close(), api.Close()); err != nil {
			t.Error(err)
		}
		if _, err := api.AddRequest(ctx, engine.Request{PromptIDs: prompt(3)}); !errors.Is(err, engine.ErrClosed) {
			t.Errorf("%v", err)
		}
		if err := api.Stop(ctx, engine.StopOptions{}); !errors.Is(err, engine.ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}

func TestPausesOnEither(t *testing.T) {
	both(t, func(t *testing.T, api engine.API) {
		ctx := t.Context()
		h, err := api.Pause(ctx, engine.PauseOptions{Refuse: true})
		if err != nil {
			t.Fatal(err)
		}
		if s := api.Status(); s.Mode != "paused" || s.Holders != 1 || h.Err() != nil {
			t.Errorf("%+v", s)
		}
		if _, err := api.AddRequest(ctx, engine.Request{PromptIDs: prompt(3)}); !errors.Is(err, engine.ErrPaused) {
			t.Errorf("%v", err)
		}
		logits, err := h.Logits(ctx, prompt(9))
		if err != nil || len(logits) != api.Info().Vocab {
			t.Errorf("%d logits, %v", len(logits), err)
		}
		if err := errors.Join(h.Renew(), h.Release(""), h.Release("")); err != nil || h.Err() != nil {
			t.Errorf("%v, %v", err, h.Err())
		}
		<-h.Done()
		best := int32(slices.Index(logits, slices.Max(logits)))
		if out := add(t, api, engine.Request{PromptIDs: prompt(9), MaxNewTokens: 1, IgnoreEOS: true}).Wait(ctx); out.TokenIDs[0] != best {
			t.Errorf("%v, the largest of the logits is of %d", out.TokenIDs, best)
		}

		leased, err := api.Pause(ctx, engine.PauseOptions{Lease: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		<-leased.Done()
		if !errors.Is(leased.Err(), engine.ErrHoldLost) || !errors.Is(leased.Renew(), engine.ErrHoldLost) || !errors.Is(leased.Release("x"), engine.ErrHoldLost) {
			t.Errorf("%v", leased.Err())
		}
		bound, cancel := context.WithCancel(ctx)
		if h, err = api.Pause(bound, engine.PauseOptions{}); err != nil {
			t.Fatal(err)
		}
		cancel()
		<-h.Done()
		if !errors.Is(h.Err(), engine.ErrHoldLost) {
			t.Errorf("%v", h.Err())
		}
		until(t, "it runs again", func() bool { return api.Status().Mode == "running" })

		if err := api.Sleep(ctx, engine.KV|engine.Weights); err != nil || api.Status().Asleep != engine.KV|engine.Weights {
			t.Errorf("%v, %+v", err, api.Status())
		}
		if err := api.Wake(ctx); err != nil || api.Status().Mode != "running" {
			t.Errorf("%v, %+v", err, api.Status())
		}
		if err := api.Sleep(ctx, 0); !errors.Is(err, engine.ErrParams) {
			t.Errorf("%v", err)
		}
	})
}

// trained is the embedded model with every sign of some numbers turned over.
func trained(t *testing.T) (*weights.Set, weights.Manifest) {
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
		if u.Dropped() != "v2" {
			t.Errorf("%q was dropped", u.Dropped())
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

// What a client gets is what the engine gives, to the last field but the times that are its
// clock's.
func TestRemoteIsLocal(t *testing.T) {
	r := serve(t, engine.Config{}, gateway.Options{})
	c := connect(t, r.addr(), remote.Options{})
	seed := uint64(7)
	story := "Once upon a time"
	for name, q := range map[string]texts.Request{
		"greedy":  {Request: engine.Request{PromptIDs: prompt(20), MaxNewTokens: 40}},
		"sampled": {Request: engine.Request{PromptIDs: prompt(20), MaxNewTokens: 40, IgnoreEOS: true, Seed: &seed, N: 3, Sampling: sampling.Params{Temperature: 1, TopK: 20, RepetitionPenalty: 1.2, Bias: []sampling.Bias{{ID: 3, Value: -2}}}}},
		"told":    {Request: engine.Request{PromptIDs: prompt(300), MaxNewTokens: 20, Timestamps: true, Sampling: sampling.Params{Tell: sampling.Tell{Logprobs: true, Top: 3, Kept: true, Prompt: true}}}},
		"score":   {Request: engine.Request{PromptIDs: prompt(30), Score: true, Sampling: sampling.Params{Tell: sampling.Tell{Prompt: true}}}},
		"text":    {Request: engine.Request{MaxNewTokens: 40}, Prompt: texts.Prompt{Text: &story}},
		"raw":     {Request: engine.Request{MaxNewTokens: 10}, Prompt: texts.Prompt{Raw: &story}},
		"stop":    {Request: engine.Request{MaxNewTokens: 60}, Prompt: texts.Prompt{Text: &story}, Stop: []string{"girl", "boy"}},
		"kept":    {Request: engine.Request{MaxNewTokens: 60}, Prompt: texts.Prompt{Text: &story}, Stop: []string{"girl"}, KeepStop: true, BadWords: []string{"Lily"}},
	} {
		q.ID = name
		there, err := c.Generate(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []texts.Output
		for _, s := range append([]texts.Stream{there}, there.Children()...) {
			got = append(got, follow(t, s))
		}
		here, err := r.local.Generate(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, s := range append([]texts.Stream{here}, here.Children()...) {
			want := s.Wait(t.Context())
			if len(got[i].Timing.Tokens) != len(want.Timing.Tokens) || got[i].Timing.Ended.IsZero() {
				t.Errorf("%s: %+v", name, got[i].Timing)
			}
			got[i].Timing, want.Timing = engine.Timing{}, engine.Timing{}
			got[i].Usage.CachedTokens, want.Usage.CachedTokens = 0, 0
			if !reflect.DeepEqual(got[i], want) {
				t.Errorf("%s:\n%+v\nwant\n%+v", name, got[i], want)
			}
		}
	}
	in, err := c.Encode(t.Context(), texts.Prompt{Text: &story})
	if want, _ := r.local.Encode(t.Context(), texts.Prompt{Text: &story}); err != nil || !slices.Equal(in, want) {
		t.Errorf("%v, %v", in, err)
	}
	if out, err := c.Decode(t.Context(), in); err != nil || out != story {
		t.Errorf("%q, %v", out, err)
	}
	if !reflect.DeepEqual(c.Info(), r.engine.Info()) {
		t.Errorf("%+v\nwant\n%+v", c.Info(), r.engine.Info())
	}
}

// follow reads a stream, whose chunks must make up its output.
func follow(t testing.TB, s texts.Stream) texts.Output {
	t.Helper()
	var words string
	var tokens []int32
	for {
		c, err := s.Recv(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.Offset != len(tokens) {
			t.Errorf("%s: tokens from %d on behind %d", s.ID(), c.Offset, len(tokens))
		}
		words, tokens = words+c.Text, append(tokens, c.TokenIDs...)
		if c.Final == nil {
			continue
		}
		if words != c.Final.Text || !slices.Equal(tokens, c.Final.TokenIDs) {
			t.Errorf("%s: chunks of %q, the output is %q", s.ID(), words, c.Final.Text)
		}
		return *c.Final
	}
}

// matcher is code, which cannot be sent.
type matcher struct{}

func (matcher) Match([]int32) int { return -1 }

func TestCodeIsNotSent(t *testing.T) {
	c := connect(t, serve(t, engine.Config{}, gateway.Options{}).addr(), remote.Options{})
	if _, err := c.AddRequest(t.Context(), engine.Request{PromptIDs: prompt(3), Stop: func() engine.Matcher { return matcher{} }}); !errors.Is(err, remote.ErrNotRemote) || !errors.Is(err, engine.ErrRejected) {
		t.Errorf("%v", err)
	}
}
