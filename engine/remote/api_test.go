package remote_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/executor"
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
		h, err := api.Pause(ctx, engine.PauseOptions{}) // so that the request is open when its id is used again
		if err != nil {
			t.Fatal(err)
		}
		s := add(t, api, engine.Request{ID: "a", PromptIDs: prompt(8), MaxNewTokens: 12, IgnoreEOS: true, N: 2})
		if s.ID() != "a" || s.Children()[0].ID() != "a/1" {
			t.Errorf("%s, %s", s.ID(), s.Children()[0].ID())
		}
		if _, err := api.AddRequest(ctx, engine.Request{ID: "a", PromptIDs: prompt(8)}); !errors.Is(err, engine.ErrDuplicateID) {
			t.Errorf("twice: %v", err)
		}
		if err := h.Release(""); err != nil {
			t.Error(err)
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
	endless := func(t *testing.T) *rig {
		return serveEcho(t, executor.EchoConfig{Blocks: 8192, Context: 1 << 17, Delay: slowly}, engine.Config{}, gateway.Options{})
	}
	cancels := func(t *testing.T, api engine.API) {
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
	}
	t.Run("local", func(t *testing.T) { cancels(t, endless(t).engine) })
	t.Run("remote", func(t *testing.T) { cancels(t, connect(t, endless(t).addr(), remote.Options{})) })
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

		lease := 20 * time.Millisecond
		leased, err := api.Pause(ctx, engine.PauseOptions{Lease: lease})
		for errors.Is(err, engine.ErrHoldLost) && lease < time.Minute { // it has ended before anybody knew of it
			lease *= 4
			leased, err = api.Pause(ctx, engine.PauseOptions{Lease: lease})
		}
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

// matcher is code, which cannot be sent.
type matcher struct{}

func (matcher) Match([]int32) int { return -1 }

func TestCodeIsNotSent(t *testing.T) {
	c := connect(t, serve(t, engine.Config{}, gateway.Options{}).addr(), remote.Options{})
	if _, err := c.AddRequest(t.Context(), engine.Request{PromptIDs: prompt(3), Stop: func() engine.Matcher { return matcher{} }}); !errors.Is(err, remote.ErrNotRemote) || !errors.Is(err, engine.ErrRejected) {
		t.Errorf("%v", err)
	}
}

// Texts that no message can have are refused before they are sent: nothing else suffers.
func TestTextsThatCannotBeSent(t *testing.T) {
	r := serve(t, engine.Config{}, gateway.Options{})
	c := connect(t, r.addr(), remote.Options{})
	ctx, bad := t.Context(), "\xff"
	h, err := c.Pause(ctx, engine.PauseOptions{}) // so that the request is not over meanwhile
	if err != nil {
		t.Fatal(err)
	}
	s := add(t, c, engine.Request{PromptIDs: prompt(3), IgnoreEOS: true})
	_, manifest := trained(t)
	u, err := c.Update(ctx, engine.UpdateOptions{Version: "v2", Manifest: manifest})
	if err != nil {
		t.Fatal(err)
	}
	_, wrong := c.Update(ctx, engine.UpdateOptions{Version: bad, Manifest: manifest})
	_, stream := c.AddRequest(ctx, engine.Request{ID: bad, PromptIDs: prompt(3)})
	for i, err := range []error{wrong, stream, u.Put(bad, "F32", nil, 0, nil), c.Rollback(ctx, bad, engine.KVKeep), c.UnloadAdapter(ctx, bad),
		c.UnloadAdapter(ctx, string(make([]byte, 5<<20)))} {
		if !errors.Is(err, engine.ErrParams) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := h.Release(bad); !errors.Is(err, weights.ErrVersion) || r.engine.Status().Holders != 0 {
		t.Errorf("%v", err)
	}
	c.Cancel(bad)
	u.Abort()
	c.Cancel(s.ID())
	if out := s.Wait(ctx); out.FinishReason != engine.FinishCancelled {
		t.Errorf("%+v", out)
	}
}
