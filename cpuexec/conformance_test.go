package cpuexec

import (
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/executor/suite"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// makeWith answers the suite's wishes over one model.
func makeWith(m *model.Config, set *weights.Set, threads int) suite.Make {
	return func(t *testing.T, o suite.Options) executor.Executor {
		e, err := New(Config{
			Model: m, Weights: set, Threads: threads,
			PageSize: o.PageSize, NumBlocks: o.Blocks, MaxSlots: o.MaxSlots, MaxTokens: o.MaxTokens, MaxContext: o.MaxContext,
			HostBlocks: o.HostBlocks, KeepLogits: o.KeepLogits,
		})
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
		suite.Run(t, makeWith(m, set, threads))
	}
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

// TestBadRow gives one request a token whose embedding is NaN. The head is not
// tied to the embedding, so nobody else meets it.
func TestBadRow(t *testing.T) {
	const id = 77
	c, err := checkpoint.Open(family("llama-rope-llama3"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := weights.Load(c.Config, poisoned{c, id}, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	suite.BadRow(t, makeWith(c.Config, set, 2), []int32{5, id, 6})
}

// TestBlockAfterNaN lets a sequence use the block of one that was NaN all over.
func TestBlockAfterNaN(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	for _, name := range kernelNames() {
		cfg := Config{Model: m, Weights: set, Threads: 1, Kernels: name, MaxContext: 64, MaxSlots: 1}
		clean, used := newDriver(t, cfg, 64, true), newDriver(t, cfg, 64, true)
		for i := range used.e.step.cache.mem {
			used.e.step.cache.mem[i] = float32(math.NaN())
		}
		a, b := &sequence{ids: []int32{9, 8, 7}, limit: 4}, &sequence{ids: []int32{9, 8, 7}, limit: 4}
		clean.run(a)
		used.run(b)
		sameLogits(t, name, b.logits, a.logits)
	}
}
