package engine

import (
	commandline "flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/gpuexec"
	"github.com/cbactor/cbactor/weights"
)

var (
	gpuStorms        = commandline.Int("gpu-storms", 1, "seeds of TestPauseStormOnGPU")
	gpuStormRequests = commandline.Int64("gpu-storm-requests", 40, "requests of each")
)

// The same over the executor for GPUs on the fake driver, hastily and lazily, with two sets and with one, with sessions
// that have another executor: tokens are those that each sequence draws alone.
func TestPauseStormOnGPU(t *testing.T) {
	const workers, controllers = 8, 4
	emu.Only(t, "virtual time does not stop for others")
	if testing.Short() {
		t.Skip("the fake device takes seconds")
	}
	first := rand.Uint64()
	for i := range *gpuStorms {
		seed := first + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			schedule := []emu.Schedule{emu.Hasty, emu.Lazy}[i/2%2]
			stormed, alone := emulated(t, schedule), emulated(t, emu.Eager)
			synctest.Test(t, func(t *testing.T) {
				t.Cleanup(func() { time.Sleep(time.Second) }) // what the actor library started for late messages ends
				r := rand.New(rand.NewPCG(seed, 0))
				c := openLlama(t)
				cfg := gpuexec.Config{Device: stormed, Model: c.Config, MaxMemory: 32 << 20, MaxContext: 120, Graphs: gpuexec.Graphs{Varlen: true, Decode: true},
					PageSize: 4, NumBlocks: 40 + r.IntN(40), MaxSlots: 4 + r.IntN(8), MaxTokens: 32 + r.IntN(32), HostBlocks: r.IntN(2) * 40, WeightSets: 2 - i%2}
				norms := norms{}
				m := &maker{weights: llamaSet(t, c), stored: c.Tensors(), from: func(set *weights.Set) (executor.Executor, error) {
					cfg := cfg
					cfg.Weights = set
					return norms.paced(cfg, time.Duration(200+r.IntN(800))*time.Microsecond)
				}}
				ex, err := m.next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				e, err := Spawn(t.Context(), Config{Executor: ex, MaxQueueSize: 20 + r.IntN(50), Log: zerolog.Nop()})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := e.Close(); err != nil {
						t.Error(err)
					}
				})
				log := changing(t, e, c.Config, m)
				s := stormOver(t, e, *gpuStormRequests)
				s.draws = true
				cfg.Device, cfg.Graphs = alone, gpuexec.Graphs{}
				p := newPauseStorm(s, log, newAlone(t, cfg, c, norms).next)
				p.other = true
				p.run(seed, workers, controllers)
			})
		})
	}
}

// emulated is a fake device.
func emulated(t *testing.T, s emu.Schedule) *cuda.Device {
	t.Helper()
	d, err := emu.Open(t, emu.Options{Schedule: s}).Device(0)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// norms are the last norm's weights that executors got, by epoch.
type norms map[uint32][]byte

const lastNorm = "model.norm.weight"

// paced is an executor whose steps take their time, and which notes what it computes with.
type paced struct {
	*gpuexec.Executor
	step  time.Duration
	norms norms
}

func (n norms) paced(cfg gpuexec.Config, step time.Duration) (executor.Executor, error) {
	n.note(cfg.Weights)
	ex, err := gpuexec.New(cfg)
	if err != nil {
		return nil, err
	}
	return &paced{ex, step, n}, nil
}

// normed is a checkpoint with another last norm.
type normed struct {
	*checkpoint.Checkpoint
	norm []byte
}

func (n normed) ReadTensor(name string, dst []byte) error {
	if name == lastNorm {
		copy(dst, n.norm)
		return nil
	}
	return n.Checkpoint.ReadTensor(name, dst)
}
