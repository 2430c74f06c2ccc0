package remote_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/wire/wiretest"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// slowly lets a step of ECHO take a while.
func slowly(*executor.Batch) { time.Sleep(time.Millisecond) }

// cutting cuts all connections of a proxy again and again, sooner and later in turn, so that
// some live long enough on a slow machine, until it is stopped, and counts them.
func cutting(t *testing.T, p *wiretest.Proxy, every time.Duration) (cuts *atomic.Int64, stop func()) {
	end, cuts := make(chan struct{}), new(atomic.Int64)
	var running sync.WaitGroup
	running.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-end:
				return
			case <-time.After(every << max(0, n%16-11)): // 12 times at that pace, then 2, 4, 8, 16 times as long
				cuts.Add(int64(p.Cut()))
			}
		}
	})
	return cuts, func() {
		close(end)
		running.Wait()
	}
}

// fewest is how many connections are cut at least, however quick the machine is.
const fewest = 4

// Requests outlast connections: no token is missing or comes twice, no text either, and
// each ends once, though connections live for a moment only.
func TestRequestsOutlastConnections(t *testing.T) {
	t.Parallel()
	r := serve(t, engine.Config{}, gateway.Options{})
	p := wiretest.NewProxy(t, r.addr())
	c := connect(t, p.Addr(), remote.Options{Patience: 10 * time.Second})
	cuts, stop := cutting(t, p, 30*time.Millisecond)
	story := "Once upon a time"
	rounds := 6
	if testing.Short() {
		rounds /= 2
	}
	var running sync.WaitGroup
	for i := range 6 {
		running.Go(func() {
			for k := 0; k < rounds || cuts.Load() < fewest; k++ {
				seed := uint64(10*i + k)
				q := texts.Request{Request: engine.Request{MaxNewTokens: 100, IgnoreEOS: true, Seed: &seed, N: 1 + k%2}, Prompt: texts.Prompt{Text: &story}}
				q.Sampling.Temperature = 1
				s, err := c.Generate(t.Context(), q)
				if err != nil {
					t.Error(err)
					return
				}
				there := []texts.Output{follow(t, s)}
				for _, child := range s.Children() {
					there = append(there, follow(t, child))
				}
				here, err := r.local.Generate(t.Context(), q)
				if err != nil {
					t.Error(err)
					return
				}
				for i, s := range append([]texts.Stream{here}, here.Children()...) {
					if want := s.Wait(t.Context()); there[i].Text != want.Text || !slices.Equal(there[i].TokenIDs, want.TokenIDs) || there[i].FinishReason != want.FinishReason {
						t.Errorf("%q, %s (%v), want %q", there[i].Text, there[i].FinishReason, there[i].Err, want.Text)
					}
				}
			}
		})
	}
	running.Wait()
	stop()
	t.Logf("%d cuts", cuts.Load())
}

// Calls are obeyed once, whatever connections come between them and their answers: an update
// arrives whole, a batch is complete, and what is paused is let go as often.
func TestCallsOutlastConnections(t *testing.T) {
	t.Parallel()
	r := serve(t, engine.Config{}, gateway.Options{})
	p := wiretest.NewProxy(t, r.addr())
	c := connect(t, p.Addr(), remote.Options{Patience: 10 * time.Second})
	set, manifest := trained(t)
	cuts, stop := cutting(t, p, 30*time.Millisecond)
	updates := 10
	if testing.Short() {
		updates /= 2
	}
	for i := 0; i < updates || cuts.Load() < fewest; i++ {
		version := fmt.Sprint("v", i+2)
		u, err := c.Update(t.Context(), engine.UpdateOptions{Version: version, Manifest: manifest})
		if err == nil {
			err = errors.Join(put(set, u), u.Commit(t.Context()))
		}
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		if r.engine.Version() != version {
			t.Errorf("%s serves", r.engine.Version())
		}
		h, err := c.Pause(t.Context(), engine.PauseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if s := r.engine.Status(); s.Holders != 1 {
			t.Errorf("%d holders", s.Holders)
		}
		if err := errors.Join(h.Renew(), h.Release("")); err != nil {
			t.Error(err)
		}
		outs, err := c.GenerateBatch(t.Context(), slices.Repeat([]engine.Request{{PromptIDs: prompt(9 + i), MaxNewTokens: 4, IgnoreEOS: true}}, 30), engine.BatchOptions{})
		if err != nil || slices.ContainsFunc(outs, func(o engine.Output) bool { return len(o.TokenIDs) != 4 || o.WeightVersions[0].Version != version }) {
			t.Errorf("%+v, %v", outs, err)
		}
	}
	stop()
	if _, sum, err := r.engine.Checksum(t.Context(), weights.SHA256); err != nil || sum != set.Digest(weights.SHA256) {
		t.Errorf("%s, %v", sum, err)
	}
	if s := r.engine.Status(); s.Mode != "running" || s.Holders != 0 {
		t.Errorf("%+v", s)
	}
}

// open is one of everything that can be open.
type open struct {
	stream *engine.Stream
	hold   engine.Hold
	update engine.Update
}

func everything(t *testing.T, r *rig, c *remote.Client) (o open) {
	t.Helper()
	_, manifest := trained(t)
	slow := add(t, r.engine, engine.Request{PromptIDs: prompt(3), IgnoreEOS: true, Sampling: sampling.Params{Processor: slower{}}}) // so that the other is open until the pause
	defer r.engine.Cancel(slow.ID())
	var err error
	o.stream = add(t, c, engine.Request{PromptIDs: prompt(5), IgnoreEOS: true})
	read(t, o.stream, 3)
	if o.hold, err = c.Pause(t.Context(), engine.PauseOptions{}); err != nil {
		t.Fatal(err)
	}
	if o.update, err = c.Update(t.Context(), engine.UpdateOptions{Version: "v2", Manifest: manifest}); err != nil {
		t.Fatal(err)
	}
	return o
}

// slower is a sampling.Processor that lets every step take a while.
type slower struct{}

func (slower) Process([]int32, int, []float32) error {
	time.Sleep(5 * time.Millisecond)
	return nil
}

// gone tells that what was open has ended because of an error.
func (o open) gone(t *testing.T, why error) {
	t.Helper()
	ctx := within(t, 10*time.Second)
	out := o.stream.Wait(ctx)
	if out.FinishReason != engine.FinishFailed || !errors.Is(out.Err, why) || !errors.Is(out.Err, engine.ErrFailed) || len(out.TokenIDs) < 3 || out.WeightVersions == nil {
		t.Errorf("%+v", out)
	}
	select {
	case <-o.hold.Done():
	case <-ctx.Done():
		t.Fatal("the hold goes on")
	}
	if err := o.hold.Err(); !errors.Is(err, engine.ErrHoldLost) || !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if _, err := o.hold.Logits(ctx, prompt(3)); !errors.Is(err, engine.ErrHoldLost) {
		t.Errorf("%v", err)
	}
	if err := o.update.Commit(ctx); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

// An engine that is not to be reached for longer than the client's patience is given up; one
// that is there again is found by the next call, and what it had of the client ends by itself.
func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	r := serve(t, engine.Config{}, gateway.Options{Kept: 300 * time.Millisecond})
	p := wiretest.NewProxy(t, r.addr())
	const patience = time.Second // in which a connection can be made on a busy machine
	c := connect(t, p.Addr(), remote.Options{Patience: patience})
	o := everything(t, r, c)
	p.Refuse(true)
	p.Cut()
	begin := time.Now()
	if _, err := c.AddRequest(t.Context(), engine.Request{PromptIDs: prompt(3)}); !errors.Is(err, remote.ErrUnreachable) || !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took > 10*patience {
		t.Errorf("it took %v", took)
	}
	o.gone(t, remote.ErrUnreachable)
	if s := c.Status(); s.Mode != "unreachable" || c.Running() {
		t.Errorf("%+v", s)
	}
	if _, err := c.State(t.Context()); !errors.Is(err, remote.ErrUnreachable) {
		t.Errorf("%v", err)
	}
	p.Refuse(false)
	until(t, "the engine lets go", func() bool { s := r.engine.Status(); return s.Mode == "running" && s.Holders == 0 })
	if out := add(t, c, engine.Request{PromptIDs: prompt(3), MaxNewTokens: 2, IgnoreEOS: true}).Wait(within(t, 10*time.Second)); out.FinishReason != engine.FinishLength {
		t.Errorf("%+v", out)
	}
}

// An engine that has given up a client says so: what was open has ended, and is not asked for
// again.
func TestAnEngineForgets(t *testing.T) {
	r := serve(t, engine.Config{}, gateway.Options{Kept: 50 * time.Millisecond})
	p := wiretest.NewProxy(t, r.addr())
	c := connect(t, p.Addr(), remote.Options{Patience: time.Minute})
	o := everything(t, r, c)
	p.Refuse(true)
	p.Cut()
	until(t, "the engine lets go", func() bool { s := r.engine.Status(); return s.Mode == "running" && s.Holders == 0 })
	p.Refuse(false)
	o.gone(t, remote.ErrUnreachable)
	if out := add(t, c, engine.Request{PromptIDs: prompt(3), MaxNewTokens: 2, IgnoreEOS: true}).Wait(within(t, 10*time.Second)); out.FinishReason != engine.FinishLength {
		t.Errorf("%+v", out)
	}
}

// Another run of the engine knows nothing of what the one before had.
func TestARestartIsNoticed(t *testing.T) {
	r := serve(t, engine.Config{}, gateway.Options{})
	address := r.addr()
	c := connect(t, address, remote.Options{Patience: 10 * time.Second})
	o := everything(t, r, c)
	r.gateway.Close()
	r.open(t, true, gateway.Options{Listen: address})
	o.gone(t, remote.ErrRestarted)
	if out := add(t, c, engine.Request{PromptIDs: prompt(3), MaxNewTokens: 2, IgnoreEOS: true}).Wait(within(t, 10*time.Second)); out.FinishReason != engine.FinishLength {
		t.Errorf("%+v", out)
	}
}

// What was cancelled while there was no connection ends here at once, and at the engine when
// there is one again.
func TestCancelWithoutAConnection(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 256, Delay: slowly}, engine.Config{}, gateway.Options{})
	p := wiretest.NewProxy(t, r.addr())
	c := connect(t, p.Addr(), remote.Options{Patience: 10 * time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	s, err := c.AddRequest(ctx, engine.Request{ID: "a", PromptIDs: ids(5, 1), N: 2})
	if err != nil {
		t.Fatal(err)
	}
	read(t, s, 3)
	read(t, s.Children()[0], 1)
	p.Refuse(true)
	p.Cut()
	waiting := make(chan error, 1)
	go func() {
		_, err := c.AddRequest(ctx, engine.Request{ID: "b", PromptIDs: ids(5, 2)})
		waiting <- err
	}()
	time.Sleep(20 * time.Millisecond)
	begin := time.Now()
	cancel() // and nobody waits for the end of the patience
	for _, s := range []*engine.Stream{s, s.Children()[0]} {
		if out := s.Wait(t.Context()); out.FinishReason != engine.FinishCancelled || len(out.TokenIDs) == 0 {
			t.Errorf("%+v", out)
		}
	}
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	p.Refuse(false)
	for _, id := range []string{"a", "b"} {
		until(t, "its id is free at the engine", func() bool {
			s, err := c.AddRequest(t.Context(), engine.Request{ID: id, PromptIDs: ids(5, 1), MaxNewTokens: 1})
			return err == nil && s.Wait(t.Context()).FinishReason == engine.FinishLength
		})
	}
}

// An engine that is stopped in the middle keeps nobody whose context ends.
func TestAFrozenEngineHoldsNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes as long as an answer is waited for")
	}
	t.Parallel()
	r := serveEcho(t, executor.EchoConfig{Blocks: 256, Delay: slowly}, engine.Config{}, gateway.Options{})
	p := wiretest.NewProxy(t, r.addr())
	c := connect(t, p.Addr(), remote.Options{Patience: time.Minute})
	p.Freeze(true)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := c.AddRequest(ctx, engine.Request{ID: "a", PromptIDs: ids(5, 1)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if _, err := c.Pause(ctx, engine.PauseOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took > 12*time.Second {
		t.Errorf("it took %v", took)
	}
	p.Freeze(false)
	until(t, "what nobody waited for is undone", func() bool {
		s, err := r.engine.AddRequest(t.Context(), engine.Request{ID: "a", PromptIDs: ids(5, 1), MaxNewTokens: 1})
		if err != nil {
			return false
		}
		return s.Wait(t.Context()).FinishReason == engine.FinishLength && r.engine.Status().Holders == 0
	})
}

// Close leaves nothing of the client at the engine.
func TestCloseLeavesNothing(t *testing.T) {
	r := serve(t, engine.Config{}, gateway.Options{})
	c := connect(t, r.addr(), remote.Options{})
	o := everything(t, r, c)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if out := o.stream.Wait(t.Context()); out.FinishReason != engine.FinishFailed || !errors.Is(out.Err, engine.ErrStopped) {
		t.Errorf("%+v", out)
	}
	until(t, "the engine runs, without updates", func() bool {
		u, err := r.engine.Update(t.Context(), engine.UpdateOptions{Version: "v3"})
		if err == nil {
			u.Abort()
		}
		s := r.engine.Status()
		return !errors.Is(err, weights.ErrBusy) && s.Mode == "running" && s.Holders == 0
	})
	if _, err := c.Pause(t.Context(), engine.PauseOptions{}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// So does Close where the connection has just ended, if there can be another one. A dial that nobody
// answers does not keep it.
func TestCloseWithoutAConnection(t *testing.T) {
	t.Parallel()
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, gateway.Options{})
	p := wiretest.NewProxy(t, r.addr())
	for _, there := range []bool{true, false} {
		least := time.Hour
		for try := 0; try < 3 && least > 3*time.Second; try++ { // other programs run beside this one
			p.Freeze(false)
			c := connect(t, p.Addr(), remote.Options{})
			if _, err := c.Pause(t.Context(), engine.PauseOptions{}); err != nil {
				t.Fatal(err)
			}
			if there {
				p.Refuse(true)
			} else {
				p.Freeze(true)
			}
			p.Cut()
			time.Sleep(20 * time.Millisecond)
			p.Refuse(false)
			begin := time.Now()
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			least = min(least, time.Since(begin))
			if there {
				until(t, "the engine goes on", func() bool { return r.engine.Status().Holders == 0 })
			}
		}
		if least > 3*time.Second {
			t.Errorf("it took %v", least)
		}
	}
}

// Nobody listens, or it is no engine: Connect says so when it has tried once.
func TestConnectFails(t *testing.T) {
	p := wiretest.NewProxy(t, "127.0.0.1:1")
	for _, address := range []string{p.Addr(), "127.0.0.1:1", "192.0.2.1:7000"} {
		ctx := within(t, time.Minute)
		if _, err := remote.Connect(ctx, address, remote.Options{Patience: time.Hour}); !errors.Is(err, remote.ErrUnreachable) || ctx.Err() != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := remote.Connect(t.Context(), p.Addr(), remote.Options{ID: "short"}); !errors.Is(err, engine.ErrParams) {
		t.Errorf("%v", err)
	}
}

// A client behind a slow network holds up nobody but itself, and gets everything nevertheless.
func TestASlowNetworkSlowsItselfAlone(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 1024}, engine.Config{}, gateway.Options{})
	p := wiretest.NewProxy(t, r.addr())
	slow, quick := connect(t, p.Addr(), remote.Options{}), connect(t, r.addr(), remote.Options{})
	p.Throttle(20_000)
	q := engine.Request{PromptIDs: ids(5, 1), MaxNewTokens: 1500, IgnoreEOS: true}
	q.Sampling.Tell.Logprobs = true
	hold, err := r.engine.Pause(t.Context(), engine.PauseOptions{}) // no token comes before the network stands still
	if err != nil {
		t.Fatal(err)
	}
	there := add(t, slow, q)
	p.Freeze(true)
	if err := hold.Release(""); err != nil {
		t.Fatal(err)
	}
	want := add(t, quick, q).Wait(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if c, err := there.Recv(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the slow one has %d tokens when the other has ended: the test shows nothing (%v)", len(c.TokenIDs), err)
	}
	p.Freeze(false)
	got := there.Wait(t.Context())
	if !slices.Equal(got.TokenIDs, want.TokenIDs) || len(got.Logprobs) != len(want.Logprobs) {
		t.Errorf("%d tokens, want %d", len(got.TokenIDs), len(want.TokenIDs))
	}
}
