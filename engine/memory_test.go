package engine

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cpuexec"
)

// The tiny model's weights as stored and packed, and a block of 32 tokens:
// 6 layers * K and V * 2 heads * 32 elements * 32 tokens * 4 bytes.
const tinyBlock = 6 * 2 * 2 * 32 * 32 * 4

// The plan stays within its share of the memory, and takes what there is.
func TestPlanWithinMemory(t *testing.T) {
	for _, c := range []struct {
		name           string
		limit          int64
		cfg            Config
		tokens, blocks int // blocks 0: as many as fit
		from           string
	}{
		{"plenty", 64 << 30, Config{}, 512, 16384, "512 requests of 1024 tokens use no more"},
		{"a quarter of the limit", 1 << 30, Config{}, 512, 1 << 28 / tinyBlock, "a quarter of the memory limit, which is fixed"},
		{"a small share", 1 << 30, Config{MaxMemoryPercent: 0.05}, 512, 0, "max_memory_percent"},
		{"a share too small for a request beside 512 tokens", 1 << 30, Config{MaxMemoryPercent: 0.013}, 256, 0, "max_memory_percent"},
		{"hardly a block beside 256 tokens", 1 << 30, Config{MaxMemoryPercent: 0.0106}, 256, 0, "max_memory_percent"},
		{"tokens are given", 1 << 30, Config{MaxMemoryPercent: 0.013, MaxBatchTokens: 300}, 300, 0, "max_memory_percent"},
		{"a step of few tokens", 1 << 30, Config{MaxMemoryPercent: 0.0086}, 0, 0, "max_memory_percent"},
		{"blocks are given", 1 << 30, Config{NumBlocks: 10}, 512, 10, "the program"},
		{"the memory is not known", 0, Config{}, 512, 16384, "512 requests of 1024 tokens use no more"},
	} {
		c.cfg.Checkpoint, c.cfg.Compute, c.cfg.KVDType = tiny(t), "f32", "f32"
		c.cfg.Threads = 1
		has := memory{limit: c.limit, resident: 1 << 20}
		if c.limit == 0 {
			has.resident = 0
		}
		r, err := resolve(c.cfg, has)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		m, got := r.Memory, r.Config
		if c.tokens != 0 && got.MaxBatchTokens != c.tokens || c.tokens == 0 && got.MaxBatchTokens >= bestOnCPU.least {
			t.Errorf("%s: %d tokens a step, want %d", c.name, got.MaxBatchTokens, c.tokens)
		}
		if s := setting(t, r, "num_blocks"); s.From != c.from || c.blocks != 0 && got.NumBlocks != c.blocks {
			t.Errorf("%s: %s blocks from %q, want %d from %q", c.name, s.Text(), s.From, c.blocks, c.from)
		}
		if c.limit == 0 {
			continue
		}
		if share := r.Config.MaxMemoryPercent * float64(c.limit-1<<20); m.Usable != int64(share) {
			t.Errorf("%s: %d bytes are usable, not %.0f", c.name, m.Usable, share)
		}
		if m.Total() > m.Usable || m.Executor.KV > c.limit/4+tinyBlock {
			t.Errorf("%s: %d bytes of %d usable, the cache %d", c.name, m.Total(), m.Usable, m.Executor.KV)
		}
		if c.from == "max_memory_percent" && m.Total()+tinyBlock+64 < m.Usable {
			t.Errorf("%s: %d of %d bytes are left, a block takes %d", c.name, m.Usable-m.Total(), m.Usable, tinyBlock)
		}
	}
}

func TestTooLittleMemory(t *testing.T) {
	for _, cfg := range []Config{{MaxMemoryPercent: 0.005}, {MaxMemoryPercent: 0.0086, MaxBatchTokens: 512}} {
		cfg.Checkpoint = tiny(t)
		_, err := resolve(cfg, memory{limit: 1 << 30, resident: 1 << 20})
		if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "max_memory_percent") {
			t.Errorf("%+v: %v", cfg.MaxMemoryPercent, err)
		}
	}
	if _, err := resolve(Config{Checkpoint: tiny(t)}, memory{limit: 1 << 20, resident: 1 << 30}); !errors.Is(err, ErrMemory) {
		t.Errorf("more in use than may be: %v", err)
	}
}

// What is planned is what an engine takes.
func TestPlanIsWhatTheEngineTakes(t *testing.T) {
	cfg := Config{Checkpoint: tiny(t), MaxMemoryPercent: 0.2, MaxBatchTokens: 40, Threads: 2, PageSize: 16, MaxQueueSize: 9, NumBlocks: 1 << 29, CPUOffloadSpace: 0.01}
	r, err := Resolve(cfg)
	if err != nil {
		t.Fatal(err)
	}
	of, err := r.load()
	if err != nil {
		t.Fatal(err)
	}
	made, err := of.next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cpu := made.(*cpuexec.Executor)
	taken, info := cpu.Memory(), cpu.Info()
	if err := cpu.Close(); err != nil {
		t.Error(err)
	}
	taken.Bound = r.Memory.Executor.Bound // now the number is given
	if taken != r.Memory.Executor {
		t.Errorf("taken %+v, planned %+v", taken, r.Memory.Executor)
	}
	if info.Groups[0].Blocks != r.Config.NumBlocks || info.MaxSlots != r.Config.MaxRequestsPerBatch || info.MaxTokens != 40 {
		t.Errorf("the executor has %+v, resolved are %+v", info, r.Config)
	}
}

// The queue grows with the memory and shrinks with the context, within bounds.
func TestQueueSize(t *testing.T) {
	for _, c := range []struct {
		limit         int64
		context, rows int
		want          int
	}{
		{1 << 30, 1024, 8, (1 << 24) / (2048 + 8*1024)},
		{64 << 30, 1024, 8, 1 << 16},
		{64 << 20, 1 << 17, 100, 200},
		{0, 1024, 8, 4096},
		{0, 1024, 3000, 6000},
	} {
		r := &Resolved{from: map[string]string{}, Memory: Memory{Limit: c.limit}}
		r.Config.MaxContext, r.Config.MaxRequestsPerBatch = c.context, c.rows
		if r.sizeQueue(); r.Config.MaxQueueSize != c.want {
			t.Errorf("%+v: %d requests", c, r.Config.MaxQueueSize)
		}
	}
}

// The host pool is what is asked for, within the threshold.
func TestOffloadSpace(t *testing.T) {
	const left = 10 << 30
	for _, c := range []struct {
		space, threshold float64
		limit, want      int64
		notice           bool
	}{
		{0, 0.8, left, 0, false},
		{1, 0.8, left, 1 << 30, false},
		{9, 0.8, left, left / 10 * 8, true},
		{9, 0.5, left, left / 2, true},
		{20, 1, left, 20 << 30, false}, // 1 lifts the cap
		{OffloadAuto, 0.5, left, left / 2, false},
		{OffloadAuto, 1, left, left, false},
		{9, 0, left, 0, true},
		{2, 0.8, 0, 2 << 30, false}, // the memory is not known
	} {
		r := &Resolved{from: map[string]string{}, Memory: Memory{Limit: c.limit}}
		r.Config.CPUOffloadSpace, r.Config.CPUOffloadSpaceSafetyThreshold = c.space, &c.threshold
		if got, err := r.offloadBytes(); err != nil || got != c.want || (len(r.Notices) > 0) != c.notice {
			t.Errorf("%+v: %d bytes, notices %q (%v)", c, got, r.Notices, err)
		}
	}
	threshold := 0.8
	r := &Resolved{from: map[string]string{}}
	r.Config.CPUOffloadSpace, r.Config.CPUOffloadSpaceSafetyThreshold = OffloadAuto, &threshold
	if _, err := r.offloadBytes(); !errors.Is(err, ErrConfig) {
		t.Errorf("of unknown memory: %v", err)
	}
}

// The plan has the host pool in whole blocks, beside all else.
func TestPlanWithHostPool(t *testing.T) {
	resolved := func(space, threshold float64) (*Resolved, error) {
		return resolve(Config{Checkpoint: tiny(t), KVDType: "f32", NumBlocks: 10, MaxContext: 320, CPUOffloadSpace: space, CPUOffloadSpaceSafetyThreshold: &threshold},
			memory{limit: 1 << 30, resident: 1 << 20})
	}
	r, err := resolved(0.25, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	const blocks = 1 << 28 / tinyBlock
	if r.cpu.HostBlocks != blocks || r.Memory.Executor.Host != blocks*tinyBlock || r.Config.CPUOffloadSpace != 0.25 || r.Config.NumBlocks != 10 {
		t.Errorf("%d blocks on the host, plan %+v, in force %v GiB", r.cpu.HostBlocks, r.Memory.Executor, r.Config.CPUOffloadSpace)
	}
	if r, err = resolved(OffloadAuto, 0.5); err != nil || r.Memory.Executor.Host > 1<<29 || r.Memory.Executor.Host < 1<<29-1<<24 || r.Config.CPUOffloadSpace*1000 != math.Trunc(r.Config.CPUOffloadSpace*1000) {
		t.Errorf("half of what is left: %+v (%v)", r.Memory.Executor, err)
	}
	if r, err = resolved(0.00001, 0.8); err != nil || r.Config.CPUOffloadSpace != 0 || len(r.Notices) == 0 {
		t.Errorf("less than a block: %v GiB, notices %q (%v)", r.Config.CPUOffloadSpace, r.Notices, err)
	}
	if _, err = resolved(2, 1); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "cpu_offload_space is 2 GiB (the program), 0.990 GiB are left") {
		t.Errorf("more than there is: %v", err)
	}
	if r, err = resolved(1, 0); err != nil || r.Config.CPUOffloadSpace != 0 || len(r.Notices) != 1 || !strings.Contains(r.Notices[0], "lowered to 0.000 GiB") {
		t.Errorf("a threshold of 0: %v GiB, notices %q (%v)", r.Config.CPUOffloadSpace, r.Notices, err)
	}
}

// Hints bound the requests of a step, from 1 to 1024, unless they are given.
func TestHints(t *testing.T) {
	for _, c := range []struct{ hint, given, tokens, want int }{
		{0, 0, 0, 512}, {0, 0, 4096, 1024}, {3, 0, 0, 3}, {5000, 0, 4096, 1024}, {3, 7, 0, 7}, {300, 0, 20, 20}, {0, 2000, 4096, 2000},
	} {
		r, err := resolve(Config{Checkpoint: tiny(t), Hints: Hints{Requests: c.hint}, MaxRequestsPerBatch: c.given, MaxBatchTokens: c.tokens}, plenty)
		if err != nil || r.Config.MaxRequestsPerBatch != c.want {
			t.Errorf("%+v: %d requests (%v)", c, r.Config.MaxRequestsPerBatch, err)
		}
	}
	got := HintsOf([]Request{{PromptIDs: []int32{1, 2, 3}, MaxNewTokens: 4, N: 3}, {PromptIDs: []int32{1}, MaxNewTokens: 9}})
	if got != (Hints{MaxPrompt: 3, MaxNew: 9, Requests: 4}) {
		t.Errorf("hints %+v", got)
	}
}
