package engine

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// mixer computes what comes of a cache of several versions: an executor with one slot
// that has them all.
type mixer struct {
	ex     *cpuexec.Executor
	table  executor.Table
	sets   map[string]*weights.Set // loaded
	epoch  uint32                  // the newest
	batch  executor.Batch
	result executor.Result
}

// newMixer makes one of the versions of engines.
func newMixer(t *testing.T, first, second *Engine) *mixer {
	t.Helper()
	one, two, info := *first.maker.weights, *second.maker.weights, first.Info()
	one.Epoch, two.Epoch = 1, 2
	ex, err := cpuexec.New(cpuexec.Config{Model: first.model, Weights: &one, WeightSets: 2, MaxSlots: 1, NumBlocks: 32, PageSize: info.PageSize,
		MaxContext: info.MaxContext, MaxTokens: info.BatchTokens, Compute: cpuexec.Compute(info.Compute), KVType: cpuexec.KVType(info.KVType)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ex.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := ex.Load(t.Context(), &two); err != nil {
		t.Fatal(err)
	}
	m := &mixer{ex: ex, sets: map[string]*weights.Set{FirstVersion: &one, secondVersion: &two}, epoch: two.Epoch}
	for i := range ex.Info().Groups[0].Blocks {
		m.table.Blocks = append(m.table.Blocks, int32(i))
	}
	return m
}

// tail is what comes behind the tokens of a sequence that the first version sampled,
// out of its cache.
func (m *mixer) tail(t *testing.T, q Request, child int, out Output) (tail []int32) {
	t.Helper()
	q = seeded(q)
	begin := slices.Concat(q.PromptIDs, out.TokenIDs[:byFirst(out)])
	b := &m.batch
	b.Tables = []executor.Table{m.table}
	b.Admit = []executor.Admit{{IDs: begin, PromptLen: int32(len(q.PromptIDs)), Sampling: q.Sampling, Seed: *q.Seed, Child: int32(child), Parent: executor.NoSlot}}
	for _, span := range out.KVVersions {
		for at := span.Start; at < span.End; {
			end := at + 1 // of what is drawn, one at a time
			if at < len(begin) {
				end = min(span.End, len(begin))
			}
			sample := end >= len(begin)
			if id := m.step(t, span.Version, executor.Row{Start: int32(at), Count: int32(end - at), Sample: sample, Mask: -1}); sample {
				tail = append(tail, id)
			}
			at = end
		}
	}
	b.Rows, b.Retire = nil, []executor.Slot{0}
	m.do(t)
	b.Retire = nil
	return tail
}

// step computes a row with a version, and tells what was drawn.
func (m *mixer) step(t *testing.T, version string, row executor.Row) (id int32) {
	t.Helper()
	m.use(t, version)
	m.batch.Epoch, m.batch.Rows = m.epoch, []executor.Row{row}
	m.do(t)
	m.batch.Admit, m.batch.Tables = nil, nil
	if r := m.result.Rows[0]; r.Err != nil || len(r.Tokens) > 1 {
		t.Fatalf("%+v", r)
	} else if row.Sample {
		id = r.Tokens[0]
	}
	return id
}

// use gives a version the newest epoch: those of batches never descend.
func (m *mixer) use(t *testing.T, version string) {
	t.Helper()
	had := m.sets[version]
	if had.Epoch == m.epoch {
		return
	}
	set := *had
	m.epoch++
	set.Epoch, m.sets[version] = m.epoch, &set
	if err := errors.Join(m.ex.Load(t.Context(), &set), m.ex.Drop(had.Epoch)); err != nil {
		t.Fatal(err)
	}
}

func (m *mixer) do(t *testing.T) {
	t.Helper()
	m.batch.Step++
	if err := m.ex.Start(&m.batch); err != nil {
		t.Fatal(err)
	}
	m.result.Reset()
	if err := m.ex.Finish(&m.result); err != nil || m.result.Err != nil {
		t.Fatal(err, m.result.Err)
	}
}
