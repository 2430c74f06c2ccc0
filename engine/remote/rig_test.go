package remote_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is an engine with a gateway before it.
type rig struct {
	engine  *engine.Engine
	local   *texts.Local
	gateway *gateway.Gateway
}

// tiny is the embedded model and its codec.
func tiny(t testing.TB) (*checkpoint.Checkpoint, *text.Codec) {
	t.Helper()
	model, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	codec, err := text.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	return model, codec
}

// serve has a gateway before an engine of the embedded model.
func serve(t testing.TB, cfg engine.Config, o gateway.Options) *rig {
	t.Helper()
	model, codec := tiny(t)
	cfg.Checkpoint = model
	if cfg.NumBlocks == 0 {
		cfg.NumBlocks = 256
	}
	return serves(t, cfg, codec, o)
}

// serveEcho has a gateway before an engine that computes next to nothing.
func serveEcho(t testing.TB, ec executor.EchoConfig, cfg engine.Config, o gateway.Options) *rig {
	t.Helper()
	cfg.Executor = executor.NewEcho(ec)
	return serves(t, cfg, nil, o)
}

func serves(t testing.TB, cfg engine.Config, codec *text.Codec, o gateway.Options) *rig {
	t.Helper()
	cfg.Log = zerolog.Nop()
	e, err := engine.Spawn(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{engine: e, local: texts.New(e, codec)}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	r.open(t, codec != nil, o)
	return r
}

// open opens a gateway, in the place of the one before if that is closed.
func (r *rig) open(t testing.TB, words bool, o gateway.Options) {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	o.Log = zerolog.Nop()
	var service texts.Service
	if words {
		service = r.local
	}
	g, err := gateway.New(r.engine, service, o)
	if err != nil {
		t.Fatal(err)
	}
	r.gateway = g
	t.Cleanup(g.Close)
}

func (r *rig) addr() string { return r.gateway.Addr().String() }

// connect connects to an address.
func connect(t testing.TB, address string, o remote.Options) *remote.Client {
	t.Helper()
	o.Log = zerolog.Nop()
	c, err := remote.Connect(t.Context(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// ids is a prompt for ECHO.
func ids(n, salt int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32((i*31 + salt*17 + 5) % 1000)
	}
	return p
}

func add(t testing.TB, api engine.API, r engine.Request) *engine.Stream {
	t.Helper()
	s, err := api.AddRequest(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read reads so many tokens of a stream, at least.
func read(t testing.TB, s *engine.Stream, n int) (got []int32) {
	t.Helper()
	for len(got) < n {
		c, err := s.Recv(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, c.TokenIDs...); c.Final != nil {
			break
		}
	}
	return got
}

// until waits for something that comes soon.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not come: %s", what)
		}
	}
}

// within is a context for what must come soon.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), d, errors.New("it takes too long"))
	t.Cleanup(cancel)
	return ctx
}
