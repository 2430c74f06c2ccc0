package engine

import (
	"context"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// maker makes the executors of sessions, one after the other.
type maker struct {
	weights *weights.Set   // that serve, which the next executor begins with; it needs life
	stored  []model.Tensor // of the checkpoint, whose formats matrices keep
	from    func(*weights.Set) (executor.Executor, error)

	// loses says that a matrix which was stored as one type at first is computed as less than
	// it is when it is sent as another.
	loses func(was, sent model.DType) bool
}

// next makes the executor of the next session.
func (m *maker) next(ctx context.Context) (executor.Executor, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m.from(m.weights)
}

// load reads the weights: what it gives makes executors with them.
func (r *Resolved) load() (*maker, error) {
	c := r.Config.Checkpoint
	set, err := weights.Load(c.Config, c, 1, FirstVersion)
	if err != nil {
		return nil, err
	}
	m := &maker{weights: set, stored: c.Tensors()}
	if r.gpu != nil {
		m.from, m.loses = r.onGPU(), r.gpuLoses
	} else {
		m.from, m.loses = r.onCPU(), r.cpuLoses
	}
	return m, nil
}

// onCPU makes executors on the CPU.
func (r *Resolved) onCPU() func(*weights.Set) (executor.Executor, error) {
	cfg := r.cpu
	cfg.Profile = r.Config.Profile
	r.keepTuned(&cfg.Tune)
	return func(set *weights.Set) (executor.Executor, error) {
		cfg := cfg
		cfg.Weights = set
		if r.Config.TensorParallelSize > 1 {
			return r.ranks(cfg).New()
		}
		return cpuexec.New(cfg)
	}
}
