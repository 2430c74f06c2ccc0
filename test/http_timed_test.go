package test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/executor"
	overhttp "github.com/cbactor/cbactor/server"
	"github.com/cbactor/cbactor/text"
)

// timed is an engine that is served over HTTP and keeps the moment of each token.
type timed struct {
	*engine.Engine
	url string

	mu      sync.Mutex
	streams map[string]*engine.Stream // by the id of the request
}

// newTimed serves ECHO, each step of which takes so long.
func newTimed(t *testing.T, step time.Duration) *timed {
	t.Helper()
	model, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	codec, err := text.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	echo := executor.NewEcho(executor.EchoConfig{Vocab: 2048, PageSize: 32, Blocks: 4096, Slots: 512, Tokens: 512, Context: 1024, Outstanding: 2, Delay: func(*executor.Batch) { time.Sleep(step) }})
	inner, err := engine.Spawn(t.Context(), engine.Config{Checkpoint: model, Executor: echo, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	e := &timed{Engine: inner, streams: map[string]*engine.Stream{}}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e.url = "http://" + l.Addr().String()
	s, err := overhttp.New(overhttp.Options{Models: []overhttp.Model{{Name: "tiny", Engine: inner, Texts: texts.New(e, codec), Spell: codec.Spell}}, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		s.Drain(context.Background()) // the test's own context has ended
		serving.Wait()
	})
	return e
}

// AddRequest implements texts.Engine.
func (e *timed) AddRequest(ctx context.Context, r engine.Request) (*engine.Stream, error) {
	r.Timestamps = true
	s, err := e.Engine.AddRequest(ctx, r)
	if err == nil {
		e.mu.Lock()
		e.streams[s.ID()] = s
		e.mu.Unlock()
	}
	return s, err
}

// times are the moments of the tokens of a request that has been read to its end.
func (e *timed) times(t *testing.T, id string) []time.Time {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.streams[id]
	if s == nil {
		t.Fatalf("no request %q", id)
	}
	return s.Wait(t.Context()).Timing.Tokens
}
