package updates

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// Tokens and gaps count where they lie; a gap over a border counts nowhere; those
// before the first token of new weights count for themselves, too.
func TestCount(t *testing.T) {
	zero := time.Now()
	at := func(ms int) time.Time { return zero.Add(time.Duration(ms) * time.Millisecond) }
	times := func(ms ...int) (o engine.Output) {
		for _, m := range ms {
			o.Timing.Tokens = append(o.Timing.Tokens, at(m))
		}
		return o
	}
	one := times(-5, 2, 12, 22, 102, 132, 202, 212)
	one.WeightVersions = []engine.VersionSpan{{Version: "a", Start: 0, End: 5}, {Version: "b", Start: 5, End: 8}}
	other := times(250, 260, 300)
	other.WeightVersions = []engine.VersionSpan{{Version: "b", Start: 0, End: 3}}
	r := Report{Bytes: 1000, sent: []sent{{time.Second, 0}, {3 * time.Second, 2 * time.Second}}}
	r.count([]engine.Output{one, other}, [4]time.Time{at(0), at(100), at(200), at(300)})

	if want := 7 / 0.2; math.Abs(r.QuietPerS-want) > 1e-6 { // 300 is behind the last border
		t.Errorf("%g tokens/s without updates, want %g", r.QuietPerS, want)
	}
	if want := 2 / 0.1; math.Abs(r.UpdatesPerS-want) > 1e-6 || math.Abs(r.Ratio-want/r.QuietPerS) > 1e-6 {
		t.Errorf("%g tokens/s with updates, want %g; ratio %g", r.UpdatesPerS, want, r.Ratio)
	}
	for name, c := range map[string]struct{ got, want Gaps }{
		"quiet":   {r.Quiet, Gaps{4, 10, 10, 10}},
		"updates": {r.Beside, Gaps{1, 30, 30, 30}},
		"commits": {r.Commits, Gaps{1, 30, 30, 30}},
		"added":   {r.Added, Gaps{1, 20, 20, 20}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
	if r.StageSeconds != 2 || r.StagePerS != 500 || r.ReadySeconds != 1 {
		t.Errorf("staging %g s, %g bytes/s, ready %g s", r.StageSeconds, r.StagePerS, r.ReadySeconds)
	}
}

// What is computed again is the cache of those who are in their middle.
func TestCountRecomputed(t *testing.T) {
	zero := time.Now()
	out := func(reason engine.FinishReason, ms ...int) (o engine.Output) {
		o.PromptIDs, o.FinishReason = make([]int32, 10), reason
		for _, m := range ms {
			o.Timing.Tokens = append(o.Timing.Tokens, zero.Add(time.Duration(m)*time.Millisecond))
		}
		return o
	}
	d := Delta{at: zero}
	d.count([]engine.Output{
		out(engine.FinishLength, -3, -2, -1),    // over
		out(engine.FinishLength, 1, 2),          // not begun
		out(engine.FinishCancelled),             // likewise
		out(engine.FinishLength, -2, -1, 1),     // 11
		out(engine.FinishCancelled, -3, -2, -1), // 12
	})
	if d.Recomputed != 23 {
		t.Errorf("%d", d.Recomputed)
	}
}

func tiny(t *testing.T) (*engine.Engine, *weights.Set) {
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
	set, err := weights.Load(c.Config, c, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Spawn(t.Context(), engine.Config{Checkpoint: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, set
}

// A run updates as often as asked, while all requests decode; afterwards none is open.
func TestRun(t *testing.T) {
	e, set := tiny(t)
	o := Options{Requests: 4, Tokens: 24, Updates: 3, Every: 100 * time.Millisecond}
	r, err := Run(t.Context(), e, set, o, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if e.Version() != "delta" || r.Bytes != set.Bytes() || len(r.sent) != 3 || !(r.FirstSeconds > 0) {
		t.Errorf("version %s, %+v", e.Version(), r)
	}
	if r.Quiet.Count == 0 || r.Beside.Count == 0 || r.Commits.Count == 0 || r.Commits.Count > 3*o.Requests || !(r.Ratio > 0) {
		t.Errorf("%+v", r)
	}
	if r.Pauses.Count != pauses || !(r.Pauses.P50 > 0) || r.Delta.Bytes <= 0 || r.Delta.Bytes >= r.Bytes || r.Recomputed <= 0 || r.Recomputed > o.Requests*(PromptTokens+o.Tokens) {
		t.Errorf("pauses %+v, some tensors %+v", r.Pauses, r.Delta)
	}
	var table strings.Builder
	if err := r.Write(&table); err != nil || !strings.Contains(table.String(), "4 requests decode, 3 updates of 2.7 MB, one every 0.1 s") {
		t.Errorf("%v: %s", err, table.String())
	}
	if err := e.Stop(t.Context(), engine.StopOptions{}); err != nil {
		t.Error(err)
	}
}

// A run ends when its context does, and when the engine does.
func TestRunEnds(t *testing.T) {
	e, set := tiny(t)
	o := Options{Requests: 4, Tokens: 500, Updates: 1, Every: time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Run(ctx, e, set, o, func(string) { time.AfterFunc(20*time.Millisecond, cancel) }); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context: %v", err)
	}
	e, set = tiny(t) // whose versions were not used
	stop := func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Run(t.Context(), e, set, o, func(string) { time.AfterFunc(20*time.Millisecond, stop) }); !errors.Is(err, engine.ErrUnavailable) && !errors.Is(err, engine.ErrFailed) {
		t.Errorf("after its engine: %v", err)
	}
}

// The overwritten set is measured; what cannot be sent is refused by name.
func TestOverwrite(t *testing.T) {
	e, set := tiny(t)
	o, err := MeasureOverwrite(t.Context(), e, set)
	if err != nil || !(o.Share > 0) || !(o.PauseSeconds > 0) || e.Version() != "in-place-5" || math.Abs(o.OverwritePerS/o.CopyPerS-o.Share) > 1e-9 {
		t.Errorf("%+v, %v", o, err)
	}
	cfg := &model.Config{Family: "llama", Vocab: 64, Hidden: 64, Intermediate: 64, Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 64, TiedHead: true}
	quantised, err := weights.Load(cfg, zeros{cfg}, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := MeasureOverwrite(t.Context(), e, quantised); !errors.Is(err, weights.ErrDType) || !strings.Contains(err.Error(), "is Q8_0") {
		t.Errorf("quantised: %v", err)
	}
}

// zeros is a source of quantised tensors.
type zeros struct{ *model.Config }

func (z zeros) Tensors() []model.Tensor {
	list := z.Config.Tensors()
	for i := range list {
		list[i].DType = model.Q8_0
	}
	return list
}

func (zeros) ReadTensor(string, []byte) error { return nil }
