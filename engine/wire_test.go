package engine

import (
	"testing"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sched"
)

// What is resolved reaches scheduler and intake.
func TestWiring(t *testing.T) {
	echo := executor.NewEcho(executor.EchoConfig{Blocks: 100, PageSize: 16, Slots: 4, Tokens: 40, Context: 200, Outstanding: 2, HostBlocks: 11, CopyCost: 0.5, Overlap: true})
	no, margin := false, 0.25
	for _, c := range []struct {
		cfg    Config
		want   sched.Config
		limits actors.Limits
	}{
		{Config{}, sched.Config{Policy: sched.FIFO, MaxTokens: 40, MaxSlots: 4, PageSize: 16, Blocks: 100, Host: 11, CopyCost: 0.5, Overlap: true, Depth: 2, Margin: 0.15, Sharing: true},
			actors.Limits{Vocab: 50021, MaxContext: 200, CacheTokens: 1600, MaxOpen: 4096}},
		{Config{SchedulerType: "prefill_first", AllowBlockSharing: &no, MaxQueueSize: 7, MaxContext: 50},
			sched.Config{Policy: sched.PrefillFirst, MaxTokens: 40, MaxSlots: 4, PageSize: 16, Blocks: 100, Host: 11, CopyCost: 0.5, Overlap: true, Depth: 2, Sharing: false},
			actors.Limits{Vocab: 50021, MaxContext: 50, CacheTokens: 1600, MaxOpen: 7}},
		{Config{SchedulerType: "priority", UseAsyncBatching: &no, SafetyMargin: &margin, MaxBatchTokens: 3, MaxBatchReads: 77, MaxRequestsPerBatch: 2},
			sched.Config{Policy: sched.Priority, MaxTokens: 3, MaxReads: 77, MaxSlots: 2, PageSize: 16, Blocks: 100, Host: 11, CopyCost: 0.5, Overlap: true, Depth: 1, Margin: 0.25, Sharing: true},
			actors.Limits{Vocab: 50021, MaxContext: 200, CacheTokens: 1600, MaxOpen: 4096}},
	} {
		c.cfg.Executor = echo
		r, err := resolve(c.cfg, plenty)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.sched(echo.Info()); got != c.want {
			t.Errorf("the scheduler gets %+v, want %+v", got, c.want)
		}
		if got := r.limits(echo.Info()); got != c.limits {
			t.Errorf("intake gets %+v, want %+v", got, c.limits)
		}
	}
}

// The CPU executor is asked for the attention that is in force.
func TestAttentionIsWired(t *testing.T) {
	for given, want := range map[string]cpuexec.Attention{"": cpuexec.Tiled, "auto": cpuexec.Tiled, "tiled": cpuexec.Tiled, "plain": cpuexec.Plain} {
		r, err := resolve(Config{Checkpoint: tiny(t), Attention: given}, plenty)
		if err != nil {
			t.Fatal(err)
		}
		if r.cpu.Attention != want {
			t.Errorf("attention %q asks for %q, want %q", given, r.cpu.Attention, want)
		}
	}
}
