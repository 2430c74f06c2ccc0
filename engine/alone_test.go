package engine

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/gpuexec"
	"github.com/cbactor/cbactor/internal/replaylog"
	"github.com/cbactor/cbactor/weights"
)

// note keeps what a set has. An executor's Load and New are called one at a time.
func (n norms) note(set *weights.Set) {
	norm, _ := set.Tensor(lastNorm)
	n[set.Epoch] = bytes.Clone(norm.Data)
}

// Load implements executor.Loader.
func (p *paced) Load(ctx context.Context, set *weights.Set) error {
	p.norms.note(set)
	return p.Executor.Load(ctx, set)
}

// Finish implements executor.Executor.
func (p *paced) Finish(r *executor.Result) error {
	time.Sleep(p.step)
	return p.Executor.Finish(r)
}

// alone computes sequences one by one, each by the weights that computed it in company.
type alone struct {
	t      *testing.T
	from   *checkpoint.Checkpoint
	norms  norms
	ex     *gpuexec.Executor
	table  executor.Table
	loaded uint32 // epoch of a log that is loaded, as this one's own:
	own    uint32

	entry  *replaylog.Sequence // whose sequence it has, with these ids in its cache
	ids    []int32
	epochs []uint32
	batch  executor.Batch
	result executor.Result
}

func newAlone(t *testing.T, cfg gpuexec.Config, c *checkpoint.Checkpoint, n norms) *alone {
	t.Helper()
	a := &alone{t: t, from: c, norms: n, loaded: 1, own: 1}
	cfg.Weights, cfg.WeightSets, cfg.MaxSlots, cfg.MaxTokens, cfg.NumBlocks, cfg.HostBlocks = llamaSet(t, c), 2, 1, cfg.MaxContext, 0, 0
	var err error
	if a.ex, err = gpuexec.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.ex.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range cfg.MaxContext / cfg.PageSize {
		a.table.Blocks = append(a.table.Blocks, int32(i))
	}
	return a
}

// next is a nextOf. What is in the cache already is not computed again.
func (a *alone) next(e *replaylog.Entry, ids []int32, epochs []uint32) (id int32) {
	n := len(a.ids)
	if a.entry != e.Sequence || n >= len(ids) || !slices.Equal(a.epochs, epochs[:n]) || !slices.Equal(a.ids, ids[:n]) {
		if a.entry != nil {
			a.batch.Retire = []executor.Slot{0}
			a.do()
		}
		q := e.Request
		a.batch.Tables = []executor.Table{a.table}
		a.batch.Admit = []executor.Admit{{IDs: ids, PromptLen: int32(len(q.Prompt)), Sampling: q.Sampling, Seed: q.Seed, Child: e.Sequence.Child, Parent: executor.NoSlot}}
		a.entry, n = e.Sequence, 0
	}
	for n < len(ids) {
		end := n
		for end < len(ids) && epochs[end] == epochs[n] {
			end++
		}
		a.use(epochs[n])
		a.batch.Rows = []executor.Row{{Start: int32(n), Count: int32(end - n), Sample: end == len(ids), Mask: -1}}
		a.do()
		n = end
	}
	a.ids, a.epochs = slices.Clone(ids), slices.Clone(epochs)
	return a.result.Rows[0].Tokens[0]
}

// use loads what an epoch of the log has, as an epoch of its own: those of batches never descend.
func (a *alone) use(epoch uint32) {
	if a.loaded == epoch {
		return
	}
	set, err := weights.Load(a.from.Config, normed{a.from, a.norms[epoch]}, a.own+1, "alone")
	if err != nil {
		a.t.Fatal(err)
	}
	if err := errors.Join(a.ex.Load(a.t.Context(), set), a.ex.Drop(a.own)); err != nil {
		a.t.Fatal(err)
	}
	a.loaded, a.own = epoch, a.own+1
}

// do runs the batch, and empties it.
func (a *alone) do() {
	a.batch.Step++
	a.batch.Epoch = a.own
	if err := a.ex.Start(&a.batch); err != nil {
		a.t.Fatal(err)
	}
	if err := a.ex.Finish(&a.result); err != nil || a.result.Err != nil {
		a.t.Fatal(err, a.result.Err)
	}
	a.batch = executor.Batch{Step: a.batch.Step}
}
