package cpuexec

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/executor/suite"
	"github.com/cbactor/cbactor/internal/familytest"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// makeWith answers the suite's wishes over one model; cfg says the rest.
func makeWith(m *model.Config, set *weights.Set, cfg Config) suite.Make {
	return func(t *testing.T, o suite.Options) executor.Executor {
		cfg.Model, cfg.Weights = m, set
		cfg.PageSize, cfg.NumBlocks, cfg.MaxSlots, cfg.MaxTokens, cfg.MaxContext = o.PageSize, o.Blocks, o.MaxSlots, o.MaxTokens, o.MaxContext
		cfg.MaxAdapters, cfg.WeightSets, cfg.HostBlocks, cfg.KeepLogits = o.Adapters, o.Sets, o.HostBlocks, o.KeepLogits
		e, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		e.step.alone = 0 // as for a model that is worth it
		return e
	}
}

func TestConformance(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	for _, threads := range []int{1, 2} {
		suite.Run(t, makeWith(m, set, Config{Threads: threads}))
	}
	for _, kv := range kvTypes[1:] {
		suite.Run(t, makeWith(m, set, Config{Threads: 2, KVType: kv}))
	}
}

func TestAdaptersConform(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	for _, threads := range []int{1, 2} {
		suite.RunAdapters(t, makeWith(m, set, Config{Threads: threads}), func(number int) *model.Adapter {
			return familytest.Adapter(m, uint64(number), 5, familytest.Everywhere)
		})
	}
}

func TestSetsConform(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	suite.RunSets(t, makeWith(m, set, Config{Threads: 2}), func(epoch uint32) *weights.Set {
		return flipped(t, family("llama"), epoch, 1+int(epoch))
	})
}

func TestSleepConforms(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	suite.RunSleep(t, makeWith(m, set, Config{Threads: 2}))
}

// poisoned is a checkpoint in which one row of the embedding is NaN.
type poisoned struct {
	*checkpoint.Checkpoint
	id int
}

func (p poisoned) ReadTensor(name string, dst []byte) error {
	err := p.Checkpoint.ReadTensor(name, dst)
	if name == "model.embed_tokens.weight" {
		row := 4 * p.Config.Hidden
		copy(dst[p.id*row:], slices.Repeat([]byte{0, 0, 0xc0, 0x7f}, p.Config.Hidden))
	}
	return err
}

const poison = 77

// loadPoisoned reads a checkpoint in which the embedding of poison is NaN. The head
// is not tied to it, so nobody else meets it.
func loadPoisoned(t *testing.T) (*model.Config, *weights.Set) {
	t.Helper()
	c, err := checkpoint.Open(family("llama-rope-llama3"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := weights.Load(c.Config, poisoned{c, poison}, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return c.Config, set
}

// TestBadRow gives one request a token whose embedding is NaN.
func TestBadRow(t *testing.T) {
	m, set := loadPoisoned(t)
	suite.BadRow(t, makeWith(m, set, Config{Threads: 2}), []int32{5, poison, 6})
}

// TestBlockAfterNaN lets a sequence use the block of one that was NaN all over.
func TestBlockAfterNaN(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	for _, name := range kernelNames() {
		for _, kv := range kvTypes {
			cfg := Config{Model: m, Weights: set, Threads: 1, Kernels: name, MaxContext: 64, MaxSlots: 1, KVType: kv}
			clean, used := newDriver(t, cfg, 64, true), newDriver(t, cfg, 64, true)
			for i := range used.e.step.cache.mem {
				used.e.step.cache.mem[i] = 0xff // of any type a NaN
			}
			a, b := &sequence{ids: []int32{9, 8, 7}, limit: 4}, &sequence{ids: []int32{9, 8, 7}, limit: 4}
			clean.run(a)
			used.run(b)
			sameLogits(t, name+", "+string(kv), b.logits, a.logits)
		}
	}
}
