package engine

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/internal/replaylog"
)

// spawnOnGPU spawns an engine of a small model on the fake driver, whose cache holds a few requests.
func spawnOnGPU(t *testing.T, change func(*Config)) (*Engine, *emu.Driver) {
	t.Helper()
	d := withGPU(t, emu.Options{})
	cfg := Config{Checkpoint: openLlama(t), Device: FirstGPU, MaxContext: 64, PageSize: 4, NumBlocks: 20, MaxRequestsPerBatch: 6, MaxBatchTokens: 24}
	if change != nil {
		change(&cfg)
	}
	e, err := Spawn(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil && !errors.Is(err, cuda.ErrDeviceLost) {
			t.Error(err)
		}
	})
	return e, d
}

// few is a prompt of the model of spawnOnGPU.
func few(n int) []int32 {
	p := text(n)
	for i := range p {
		p[i] %= 256
	}
	return p
}

// TestTinyModelOnAGPU generates the golden's tokens up to the first whose lead bf16 may turn over.
func TestTinyModelOnAGPU(t *testing.T) {
	const lead = 0.15
	withGPU(t, emu.Options{})
	e := spawnTiny(t, Config{MaxContext: 256, MaxBatchTokens: 128, MaxRequestsPerBatch: 8})
	if info := e.Info(); !strings.HasPrefix(info.Executor, "cuda:0 ") || info.Compute != "bf16" || info.KVType != "bf16" {
		t.Fatalf("%+v", info)
	}
	cases := goldenCases(t)[:4]
	compared := 0
	var reqs []Request
	for _, c := range cases {
		reqs = append(reqs, Request{PromptIDs: c.PromptIDs, MaxNewTokens: 8})
	}
	outs, err := e.GenerateBatch(t.Context(), reqs, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		sure := min(8, len(c.Greedy))
		if low := slices.IndexFunc(c.Gap[:sure], func(g float64) bool { return g < lead }); low >= 0 {
			sure = low
		}
		compared += sure
		if got := outs[i].TokenIDs; len(got) < sure || !slices.Equal(got[:sure], c.Greedy[:sure]) {
			t.Errorf("case %d: got %v, want %v", i, got, c.Greedy[:sure])
		}
	}
	if compared < 8 {
		t.Errorf("%d tokens are compared", compared)
	}
	t.Logf("golden: %d greedy tokens of %d cases equal on the fake driver", compared, len(cases))
}

// TestUpdatesOnAGPU changes the weights, also those in the memory of a set that is there alone, and
// goes back.
func TestUpdatesOnAGPU(t *testing.T) {
	for sets := 1; sets <= 2; sets++ {
		e, _ := spawnOnGPU(t, func(c *Config) { c.WeightSets = sets })
		first := greedy(t, e, few(9), 6).TokenIDs
		second := trainedFrom(t, openLlama(t), 1)
		second.update(t, e, "v2", KVKeep)
		other := greedy(t, e, few(9), 6).TokenIDs
		if slices.Equal(first, other) {
			t.Errorf("%d sets: an update changes nothing: %v", sets, other)
		}
		if err := e.Rollback(t.Context(), FirstVersion, KVKeep); err != nil {
			t.Fatal(err)
		}
		if again := greedy(t, e, few(9), 6).TokenIDs; !slices.Equal(first, again) {
			t.Errorf("%d sets: %v, behind the way back %v", sets, first, again)
		}
	}
}

// TestPauseOnAGPU holds a request in the middle, asks for logits and sleeps meanwhile: it goes on with
// the tokens that it has alone.
func TestPauseOnAGPU(t *testing.T) {
	e, _ := spawnOnGPU(t, func(c *Config) { c.CPUOffloadSpace = 0.001 })
	alone := greedy(t, e, few(9), 30).TokenIDs
	s := mustAdd(t, e, Request{PromptIDs: few(9), MaxNewTokens: 30, IgnoreEOS: true, Streaming: true})
	if _, err := s.Recv(t.Context()); err != nil {
		t.Fatal(err)
	}
	h, err := e.Pause(t.Context(), PauseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	logits, err := h.Logits(t.Context(), few(9))
	if err != nil || slices.Index(logits, slices.Max(logits)) != int(alone[0]) {
		t.Errorf("under the pause: %d logits (%v)", len(logits), err)
	}
	if err := e.Sleep(t.Context(), KV|Weights); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Wake(t.Context()), h.Release("")); err != nil {
		t.Fatal(err)
	}
	if out := s.Wait(t.Context()); !slices.Equal(out.TokenIDs, alone) {
		t.Errorf("paused %v (%v), alone %v", out.TokenIDs, out.Err, alone)
	}
}

// TestOffloadOnAGPU has more requests than the cache holds: those that are given up keep theirs on
// the host, and all have the tokens that each has alone.
func TestOffloadOnAGPU(t *testing.T) {
	e, d := spawnOnGPU(t, func(c *Config) { c.CPUOffloadSpace = 0.001 })
	var alone [][]int32
	var reqs []Request
	for i := range 6 {
		reqs = append(reqs, Request{PromptIDs: few(10 + i), MaxNewTokens: 20, IgnoreEOS: true, Private: true})
		alone = append(alone, greedy(t, e, few(10+i), 20).TokenIDs)
	}
	outs, err := e.GenerateBatch(t.Context(), reqs, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	given := 0
	for i, out := range outs {
		given += out.Preemptions
		if !slices.Equal(out.TokenIDs, alone[i]) {
			t.Errorf("request %d gives %v (%v), alone %v", i, out.TokenIDs, out.Err, alone[i])
		}
	}
	if given == 0 || d.Counts().Graphs == 0 {
		t.Errorf("%d were given up, %d graphs were launched", given, d.Counts().Graphs)
	}
}

// TestSessionsOnAGPU ends a session and begins another, with a new executor, under a replay log.
func TestSessionsOnAGPU(t *testing.T) {
	log := new(bytes.Buffer)
	e, _ := spawnOnGPU(t, func(c *Config) { c.Record = unclosed{log} })
	first := greedy(t, e, few(9), 6).TokenIDs
	if err := errors.Join(e.Stop(t.Context(), StopOptions{}), e.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	if again := greedy(t, e, few(9), 6).TokenIDs; !slices.Equal(first, again) {
		t.Errorf("%v, then %v", first, again)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := replaylog.NewReader(log)
	if err != nil || in.Header.Executor != e.Info().Executor || in.Header.Compute != "bf16" || in.Header.Quantize != "" {
		t.Errorf("the log begins with %+v (%v)", in.Header, err)
	}
}

// TestLostOnAGPU loses the device: what is open fails and says so, and a new session says that the
// process must end.
func TestLostOnAGPU(t *testing.T) {
	e, d := spawnOnGPU(t, nil)
	greedy(t, e, few(9), 2)
	const illegalAddress = 700
	d.Fail(illegalAddress)
	out := mustAdd(t, e, Request{PromptIDs: few(9), MaxNewTokens: 6}).Wait(t.Context())
	if !errors.Is(out.Err, ErrFailed) || !errors.Is(out.Err, cuda.ErrDeviceLost) {
		t.Errorf("a request fails with %v", out.Err)
	}
	err := e.Join(t.Context())
	if !errors.Is(err, ErrCrashed) {
		t.Errorf("the session ends with %v", err)
	}
	if err := e.Start(t.Context()); !errors.Is(err, cuda.ErrDeviceLost) || !strings.Contains(err.Error(), "start it again") {
		t.Errorf("the next session: %v", err)
	}
}
