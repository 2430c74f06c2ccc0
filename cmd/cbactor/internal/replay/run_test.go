package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/internal/replaylog"
	"github.com/cbactor/cbactor/weights"
)

// file is a file in memory.
type file struct{ bytes.Buffer }

func (*file) Close() error { return nil }

type noProcessor struct{}

func (noProcessor) Process([]int32, int, []float32) error { return nil }

// periods are by how many numbers one comes whose sign a version has turned over.
var periods = map[string]int{"v2": 17, "v3": 11}

// version is the embedded model's weights as a version has them.
func version(t *testing.T, name string) *weights.Set {
	t.Helper()
	c := tiny(t)
	set, err := weights.Load(c.Config, c, 1, name)
	if err != nil {
		t.Fatal(err)
	}
	for tensor := range set.All() {
		size := tensor.DType.RowBytes(1)
		for i := size - 1; periods[name] > 0 && i < len(tensor.Data); i += periods[name] * size {
			tensor.Data[i] ^= 0x80
		}
	}
	return set
}

func source(t *testing.T) Source {
	return func(w replaylog.Weights) (*weights.Set, error) { return version(t, w.Version), nil }
}

func tiny(t *testing.T) *checkpoint.Checkpoint {
	t.Helper()
	c, err := checkpoint.Open(checkpoint.Embedded)
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

func spawn(t *testing.T, cfg engine.Config) *engine.Engine {
	t.Helper()
	cfg.Checkpoint = tiny(t)
	e, err := engine.Spawn(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// update lets a version serve.
func update(t *testing.T, e *engine.Engine, name string, kv engine.KVPolicy) {
	t.Helper()
	if err := staged(t, e, name, kv).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// staged is an update that is ready for its Commit.
func staged(t *testing.T, e *engine.Engine, name string, kv engine.KVPolicy) engine.Update {
	t.Helper()
	set := version(t, name)
	o := engine.UpdateOptions{Version: name, KV: kv}
	for tensor := range set.All() {
		o.Manifest.Tensors = append(o.Manifest.Tensors, weights.Entry{Name: tensor.Name, DType: tensor.DType.String(), Shape: tensor.Shape})
	}
	u, err := e.Update(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for tensor := range set.All() {
		if err := u.Put(tensor.Name, tensor.DType.String(), tensor.Shape, 0, tensor.Data); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

const (
	promptLength = 21
	maxNew       = 64
	longPrompt   = 700 // computed in many chunks, while weights change
)

// prompt is one of promptLength ids, of which pairs share their beginnings.
func prompt(n int) []int32 {
	ids := make([]int32, promptLength)
	for i := range ids {
		ids[i] = int32(3 + (i*i+17*(n/2))%200)
	}
	ids[promptLength-1] = int32(3 + n)
	return ids
}

// request is the i-th of a run.
func request(i int) engine.Request {
	r := engine.Request{ID: fmt.Sprintf("r%d", i), PromptIDs: prompt(i), MaxNewTokens: maxNew, IgnoreEOS: i%5 != 0}
	if i < 4 {
		r.MaxNewTokens *= 4 // they live to see all versions, however fast they are
	}
	if i%4 == 1 {
		r.N = 3
	}
	if i%3 != 0 {
		r.Sampling.Temperature, r.Sampling.TopP, r.Sampling.RepetitionPenalty = 0.9, 0.95, 1.1
	}
	if i%6 == 2 {
		r.KV = engine.KVRecompute
	}
	return r
}

// record runs requests with updates under way, and gives the log, the trace and what
// came out.
func record(t *testing.T, cfg engine.Config) (log, tr string, outs []engine.Output) {
	t.Helper()
	recorded, traced := &file{}, &file{}
	cfg.Record, cfg.Trace, cfg.WeightSets, cfg.Threads, cfg.Seed = recorded, traced, 2, 2, 7
	e := spawn(t, cfg)
	var streams []*engine.Stream
	add := func(from, to int) {
		for i := from; i < to; i++ {
			s, err := e.AddRequest(t.Context(), request(i))
			if err != nil {
				t.Fatal(err)
			}
			streams = append(append(streams, s), s.Children()...)
		}
	}
	add(0, 8)
	await(t, streams[1], 10)
	resume := pause(t, e)
	update(t, e, "v2", engine.KVKeep)
	resume()
	await(t, streams[1], 22)
	resume = pause(t, e)
	update(t, e, "v3", engine.KVRecompute)
	resume()
	add(8, 11)
	await(t, streams[1], 36)
	resume = pause(t, e)
	if err := e.Rollback(t.Context(), "v2", engine.KVKeep); err != nil {
		t.Fatal(err)
	}
	resume()
	e.Cancel("r6")
	add(11, 12)
	for _, s := range streams {
		outs = append(outs, s.Wait(t.Context()))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return recorded.String(), traced.String(), outs
}

// recordLong runs long prompts one behind the other, each with forks, while an update comes
// into force, and gives the log.
func recordLong(t *testing.T, cfg engine.Config) (log string) {
	t.Helper()
	recorded := &file{}
	cfg.Record, cfg.WeightSets, cfg.Threads, cfg.Seed = recorded, 2, 2, 7
	e := spawn(t, cfg)
	resume := pause(t, e)
	v2 := staged(t, e, "v2", engine.KVKeep)
	var streams []*engine.Stream
	for i := range 10 {
		s, err := e.AddRequest(t.Context(), engine.Request{
			PromptIDs: append([]int32{int32(3 + i)}, slices.Repeat(prompt(40), longPrompt/promptLength)...), N: 3, MaxNewTokens: 8, IgnoreEOS: true, KV: engine.KVKeep,
		})
		if err != nil {
			t.Fatal(err)
		}
		streams = append(append(streams, s), s.Children()...)
	}
	resume()
	await(t, streams[0], 1)
	if err := v2.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range streams {
		s.Wait(t.Context())
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return recorded.String()
}

// pause pauses, so that nobody ends while weights are sent.
func pause(t *testing.T, e *engine.Engine) (resume func()) {
	t.Helper()
	h, err := e.Pause(t.Context(), engine.PauseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := h.Release(""); err != nil {
			t.Error(err)
		}
	}
}

// await reads a stream until n tokens are there, or it has ended.
func await(t *testing.T, s *engine.Stream, n int) {
	t.Helper()
	for {
		c, err := s.Recv(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.Offset+len(c.TokenIDs) >= n {
			return
		}
	}
}

// begin begins to read a log.
func begin(t *testing.T, log string) (*replaylog.Reader, replaylog.Weights) {
	t.Helper()
	in, err := replaylog.NewReader(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	e, err := in.Next()
	if err != nil || e.Weights == nil {
		t.Fatalf("got %+v, %v", e, err)
	}
	return in, *e.Weights
}

func player(t *testing.T, in *replaylog.Reader, first replaylog.Weights) *Player {
	t.Helper()
	p, err := New(Config{Model: tiny(t).Config, Header: in.Header, First: first, Source: source(t), Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func replay(t *testing.T, log string) Summary {
	t.Helper()
	in, first := begin(t, log)
	s, err := player(t, in, first).Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// changed is of a log the requests that change takes, changed there, with all their
// sequences and the weights. Of some the same tokens may come nevertheless.
func changed(t *testing.T, log string, change func(*replaylog.Request, *replaylog.Sequence) bool) string {
	t.Helper()
	texts := strings.SplitAfter(log, "\n")
	lines, taken := make([]replaylog.Line, len(texts)-1), map[uint64]bool{}
	for i := 1; i < len(lines); i++ {
		l := &lines[i]
		if err := json.Unmarshal([]byte(texts[i]), l); err != nil {
			t.Fatal(err)
		}
		if number(l) > 0 && change(l.Request, l.Sequence) {
			taken[number(l)] = true
		}
	}
	if len(taken) == 0 {
		t.Fatal("the log has no such line")
	}
	out := texts[0]
	for _, l := range lines[1:] {
		if n := number(&l); n > 0 && !taken[n] {
			continue
		}
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		out += string(text) + "\n"
	}
	return out
}

// number is that of the request which a line is about, 0: none.
func number(l *replaylog.Line) uint64 {
	switch {
	case l.Request != nil:
		return l.Request.Number
	case l.Sequence != nil:
		return l.Sequence.Request
	}
	return 0
}

// spans counts caches that were computed again, those that several weights computed,
// and of these the ones that forks took over.
func spans(t *testing.T, log string) (again, several, forked int) {
	t.Helper()
	in, _ := begin(t, log)
	for {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			return again, several, forked
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Sequence == nil {
			continue
		}
		again += max(0, len(e.Sequence.Caches)-1)
		for _, c := range e.Sequence.Caches {
			if len(c.Runs) > 1 {
				several++
			}
			if len(c.Runs) > 1 && e.Sequence.Child > 0 && int(c.Runs[1].Start) < len(e.Request.Prompt) {
				forked++
			}
		}
	}
}
