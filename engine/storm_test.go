package engine

import (
	"context"
	"errors"
	commandline "flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

var storms = commandline.Int("storms", 3, "seeds of TestStorm")

// A thousand requests, added, cancelled and read in every style by sixteen goroutines,
// with deadlines, matchers and prompts that are only scored; a stop somewhere in between,
// a second session that finds the cache, and a hard stop somewhere in that: each accepted
// one ends once, with tokens that it would have alone, none is lost, and nothing comes
// after an end.
func TestStorm(t *testing.T) {
	const requests, workers = 1000, 16
	first := rand.Uint64()
	for i := range *storms {
		seed := first + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			s := newStorm(t, r, requests, nil)
			for w := range workers {
				r := rand.New(rand.NewPCG(seed, uint64(1+w)))
				s.workers.Go(func() {
					for s.left.Add(-1) >= 0 {
						s.styles()[r.IntN(len(s.styles()))](r)
					}
				})
			}
			s.run()
		})
	}
}

// storm is one of them.
type storm struct {
	t       *testing.T
	engine  *Engine
	left    atomic.Int64
	stopAt  int64 // requests left when the engine is stopped
	keep    bool
	again   int64       // requests left when the first session ends, 0: there is one
	soft    bool        // is how it ends
	over    atomic.Bool // nothing comes any more
	workers sync.WaitGroup

	changing bool // weights do: what is right, somebody else tells
	draws    bool // some requests are sampled

	mu       sync.Mutex
	accepted map[string][]int32 // the prompt of each
	ends     map[string]int
	reasons  map[FinishReason]int
}

// newStorm makes one whose steps take as long as delay.
func newStorm(t *testing.T, r *rand.Rand, requests int64, delay func(*executor.Batch)) *storm {
	ec := executor.EchoConfig{PageSize: 4, Blocks: 40 + r.IntN(80), Slots: 4 + r.IntN(28), Tokens: 32 + r.IntN(64), Outstanding: 1 + r.IntN(2), HostBlocks: r.IntN(2) * 40, Sets: 1 + r.IntN(2), Context: 120, Delay: delay}
	s := stormOver(t, spawnEcho(t, ec, Config{MaxQueueSize: 20 + r.IntN(200)}), requests)
	s.stopAt, s.keep = r.Int64N(requests), r.IntN(2) == 0
	if r.IntN(2) == 0 {
		s.again, s.soft = s.stopAt+r.Int64N(requests-s.stopAt), r.IntN(2) == 0
	}
	return s
}

// stormOver is a storm over an engine.
func stormOver(t *testing.T, e *Engine, requests int64) *storm {
	s := &storm{t: t, engine: e, accepted: map[string][]int32{}, ends: map[string]int{}, reasons: map[FinishReason]int{}}
	s.left.Store(requests)
	return s
}

// run stops the engine when it is time, waits for all, and looks what became of them.
func (s *storm) run() {
	collected := make(chan struct{})
	go func() { // reads what nobody asks for by name
		defer close(collected)
		for {
			out, err := s.engine.NextResult(context.Background())
			switch {
			case !errors.Is(err, io.EOF):
				s.ended(out, err)
			case s.over.Load():
				return
			default: // between two sessions, or before the last has gone
				time.Sleep(100 * time.Microsecond)
			}
		}
	}()
	if s.again > 0 {
		s.stop(s.again, StopOptions{Hard: !s.soft, Keep: true})
		if err := s.engine.Start(context.Background()); err != nil {
			s.t.Error(err)
		}
	}
	s.stop(s.stopAt, StopOptions{Hard: true, Keep: s.keep})
	s.workers.Wait()
	s.over.Store(true)
	<-collected
	until(s.t, "every accepted request has ended", func() bool { // handlers are told on their own time
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.ends) == len(s.accepted)
	})
	for id, n := range s.ends {
		if n != 1 || s.accepted[id] == nil {
			s.t.Errorf("%s ended %d times, accepted: %t", id, n, s.accepted[id] != nil)
		}
	}
	if n := len(s.engine.requests.byID); n != 0 {
		s.t.Errorf("%d requests are still there", n)
	}
	s.t.Logf("%d accepted, stopped with %d to come, ended as %v", len(s.accepted), s.stopAt, s.reasons)
}

// stop stops when so many requests are left.
func (s *storm) stop(at int64, o StopOptions) {
	for s.left.Load() > at {
		time.Sleep(100 * time.Microsecond)
	}
	if err := s.engine.Stop(context.Background(), o); err != nil {
		s.t.Error(err)
	}
}

// accept notes a request that was taken in, under all of its ids.
func (s *storm) accept(r Request, ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.accepted[id] = r.PromptIDs
	}
}

// ended notes an output.
func (s *storm) ended(out Output, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.t.Errorf("no output: %v", err)
		return
	}
	if err := covers(out.WeightVersions, len(out.TokenIDs)); err != nil {
		s.t.Errorf("%s: %d tokens by %v: %v", out.RequestID, len(out.TokenIDs), out.WeightVersions, err)
	}
	if want := executor.EchoRef(out.PromptIDs, len(out.TokenIDs), echoVocab, 1); !s.changing && !slices.Equal(out.TokenIDs, want) {
		s.t.Errorf("%s has %v, want %v", out.RequestID, out.TokenIDs, want)
	}
	if out.FinishReason == FinishFailed && !errors.Is(out.Err, ErrStopped) {
		s.t.Errorf("%s failed: %v", out.RequestID, out.Err)
	}
	s.ends[out.RequestID]++
	s.reasons[out.FinishReason]++
}

// refused tells of an error that nothing here explains.
func (s *storm) refused(err error) {
	for _, class := range []error{ErrQueueFull, ErrStopping, ErrPaused, ErrNotRunning, ErrStale, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, class) {
			return
		}
	}
	s.t.Error(err)
}

// styles are the ways to have a request and to read it.
func (s *storm) styles() []func(*rand.Rand) {
	return []func(*rand.Rand){s.stream, s.handled, s.named, s.unnamed, s.batch, s.late, s.all}
}

// stream reads a request by its Stream, or cancels it, or lets its context end.
func (s *storm) stream(r *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if r.IntN(4) == 0 {
		time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, cancel)
	}
	q := s.request(r)
	stream, err := s.engine.AddRequest(ctx, q)
	if err != nil {
		s.refused(err)
		return
	}
	all := append([]*Stream{stream}, stream.Children()...)
	for _, c := range all {
		s.accept(q, c.ID())
	}
	if r.IntN(4) == 0 {
		s.engine.Cancel(all[r.IntN(len(all))].ID())
	}
	for _, c := range all {
		s.ended(s.readOut(c, r), nil)
	}
}

// readOut reads a stream to its end, chunk by chunk.
func (s *storm) readOut(stream *Stream, r *rand.Rand) Output {
	if r.IntN(2) == 0 {
		return stream.Wait(context.Background())
	}
	n := 0
	for {
		c, err := stream.Recv(context.Background())
		if err != nil || c.Offset != n {
			s.t.Errorf("a chunk at %d after %d tokens: %v", c.Offset, n, err)
			return Output{}
		}
		n += len(c.TokenIDs)
		if c.Final == nil {
			continue
		}
		if _, err := stream.Recv(context.Background()); err != io.EOF {
			s.t.Errorf("after the end comes %v", err)
		}
		return *c.Final
	}
}

// handled has a request read by a handler, and forgets it.
func (s *storm) handled(r *rand.Rand) {
	q := s.request(r)
	q.Handler = func(c Chunk) {
		if c.Final != nil {
			s.ended(*c.Final, nil)
		}
	}
	stream, err := s.engine.AddRequest(context.Background(), q)
	if err != nil {
		s.refused(err)
		return
	}
	s.accept(q, stream.ID())
	for _, c := range stream.Children() {
		s.accept(q, c.ID())
	}
	if r.IntN(3) == 0 {
		s.engine.Cancel(stream.ID())
	}
}

// unnamed adds requests for the one who takes any result.
func (s *storm) unnamed(r *rand.Rand) {
	var list []Request
	for range 1 + r.IntN(4) {
		q := s.request(r)
		q.N = 0
		list = append(list, q)
	}
	names, err := s.engine.AddRequests(context.Background(), list)
	if err != nil {
		s.refused(err)
	}
	for i, id := range names {
		if id == "" {
			continue
		}
		s.accept(list[i], id)
		if r.IntN(4) == 0 {
			s.engine.Cancel(id)
		}
	}
}

// named adds a request and reads it by its id, unless the one who takes any result is
// quicker.
func (s *storm) named(r *rand.Rand) {
	q := s.request(r)
	q.N = 0
	names, err := s.engine.AddRequests(context.Background(), []Request{q})
	if err != nil {
		s.refused(err)
		return
	}
	id := names[0]
	s.accept(q, id)
	if r.IntN(2) == 0 {
		if out, err := s.engine.Result(context.Background(), id); !errors.Is(err, ErrUnknownID) {
			s.ended(out, err)
		}
		return
	}
	for c, err := range s.engine.ResultsOf(context.Background(), id) {
		if errors.Is(err, ErrUnknownID) {
			return
		}
		if err != nil {
			s.t.Error(err)
			return
		}
		if c.Final != nil {
			s.ended(*c.Final, nil)
		}
	}
}

// batch runs some requests together; what is refused there was never accepted.
func (s *storm) batch(r *rand.Rand) {
	list := make([]Request, r.IntN(4))
	for i := range list {
		list[i] = s.request(r)
		list[i].N = 0
	}
	outs, err := s.engine.GenerateBatch(context.Background(), list, BatchOptions{})
	if err != nil && !errors.Is(err, ErrStopped) {
		s.refused(err)
	}
	for i, out := range outs {
		if out.RequestID == "" {
			s.refused(out.Err)
			continue
		}
		s.accept(list[i], out.RequestID)
		s.ended(out, nil)
	}
}
