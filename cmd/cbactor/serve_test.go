package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// watched is untilCrash for an engine, and its end.
func watched(t *testing.T, e engine.API) (cancel func(), end <-chan error) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	ended := make(chan error, 1)
	go func() { ended <- untilCrash(ctx, e) }()
	return cancel, ended
}

// A server outlives sessions that clients end, not a crash.
func TestServerOutlivesStops(t *testing.T) {
	e := tinyEngine(t)
	cancel, ended := watched(t, e)
	if err := errors.Join(e.Stop(t.Context(), engine.StopOptions{}), e.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Errorf("it has ended after a stop: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
}

func TestServerEndsWithACrash(t *testing.T) {
	echo := executor.NewEcho(executor.EchoConfig{Blocks: 16, Delay: func(*executor.Batch) { panic("odd") }})
	e, err := engine.Spawn(t.Context(), engine.Config{Executor: echo, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// It has crashed, which is what this is about.
		_ = e.Close()
	})
	_, ended := watched(t, e)
	s, err := e.AddRequest(t.Context(), engine.Request{PromptIDs: []int32{1}, MaxNewTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.Wait(t.Context())
	if err := <-ended; !errors.Is(err, engine.ErrCrashed) {
		t.Errorf("it ends with %v", err)
	}
}
