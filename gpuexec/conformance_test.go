package gpuexec

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/executor/suite"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// makeWith answers the suite's wishes over one model, on one device: with graphs lazily, without
// them hastily.
func makeWith(t *testing.T, m *model.Config, set *weights.Set, graphs Graphs) suite.Make {
	schedule := emu.Hasty
	if graphs != (Graphs{}) {
		schedule = emu.Lazy
	}
	dev := device(t, emu.Open(t, emu.Options{Schedule: schedule}))
	return func(t *testing.T, o suite.Options) executor.Executor {
		e, err := New(Config{
			Device: dev, Model: m, Weights: set, MaxMemory: 64 << 20,
			PageSize: o.PageSize, NumBlocks: o.Blocks, MaxSlots: o.MaxSlots, MaxTokens: o.MaxTokens, MaxContext: o.MaxContext,
			WeightSets: o.Sets, HostBlocks: o.HostBlocks, KeepLogits: o.KeepLogits, Graphs: graphs, QPadding: 8,
			MaxAdapters: o.Adapters, MaxAdapterRank: 40,
		})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
}

// all is that all steps have graphs.
var all = Graphs{Varlen: true, Decode: true}

// family is the folder of a golden model that is committed with its weights.
func family(name string) string { return filepath.Join("..", "test", "testdata", "families", name) }

// windowed is a model with two kinds of attention, whose groups share memory by sectors.
func windowed(t *testing.T) (*model.Config, *weights.Set) {
	t.Helper()
	c, set := loadModel(t, family("llama"))
	m := *c
	m.Attn, m.Window = []model.Attention{model.Sliding, model.Full, model.Sliding, model.Sliding}, 20
	return &m, set
}

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("graphs conform")
	}
	m, set := windowed(t)
	suite.Run(t, makeWith(t, m, set, Graphs{}))
}

func TestGraphsConform(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	suite.Run(t, makeWith(t, m, set, all))
}

func TestSleepConforms(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	suite.RunSleep(t, makeWith(t, m, set, all))
}

// changed is a checkpoint one of whose tensors is not what it is.
type changed struct {
	*checkpoint.Checkpoint
	name   string
	change func(data []byte)
}

func (c changed) ReadTensor(name string, dst []byte) error {
	err := c.Checkpoint.ReadTensor(name, dst)
	if name == c.name {
		c.change(dst)
	}
	return err
}

// loadChanged reads such a checkpoint.
func loadChanged(t *testing.T, path string, epoch uint32, name string, change func([]byte)) (*model.Config, *weights.Set) {
	t.Helper()
	c, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	set, err := weights.Load(c.Config, changed{c, name, change}, epoch, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return c.Config, set
}

func TestSetsConform(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	suite.RunSets(t, makeWith(t, m, set, all), func(epoch uint32) *weights.Set {
		_, other := loadChanged(t, family("llama"), epoch, "model.norm.weight", func(data []byte) {
			for i := 3; i < len(data); i += 4 * (1 + int(epoch)) {
				data[i] ^= 0x80 // the sign of a number in float32
			}
		})
		return other
	})
}

// TestBadRow gives one request a token whose embedding is NaN. The head is not tied to it, so nobody
// else meets it.
func TestBadRow(t *testing.T) {
	m, set := loadPoisoned(t)
	suite.BadRow(t, makeWith(t, m, set, all), []int32{5, poison, 6})
}

// poison is a token whose embedding is NaN in what loadPoisoned reads.
const poison = 77

func loadPoisoned(t *testing.T) (*model.Config, *weights.Set) {
	t.Helper()
	path := family("llama-rope-llama3")
	plain, _ := loadModel(t, path)
	return loadChanged(t, path, 1, "model.embed_tokens.weight", func(data []byte) {
		row := 4 * plain.Hidden
		copy(data[poison*row:], slices.Repeat([]byte{0, 0, 0xc0, 0x7f}, plain.Hidden))
	})
}
