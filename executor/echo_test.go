package executor_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/executor/suite"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

func newEcho(config executor.EchoConfig) suite.Make {
	return func(_ *testing.T, o suite.Options) executor.Executor {
		config.HostBlocks = o.HostBlocks
		config.PageSize, config.Blocks, config.Slots = o.PageSize, o.Blocks, o.MaxSlots
		config.Tokens, config.Context, config.Adapters, config.Sets = o.MaxTokens, o.MaxContext, o.Adapters, o.Sets
		return executor.NewEcho(config)
	}
}

func TestEchoConforms(t *testing.T) {
	t.Run("one step", func(t *testing.T) { suite.Run(t, newEcho(executor.EchoConfig{})) })
	t.Run("two steps", func(t *testing.T) { suite.Run(t, newEcho(executor.EchoConfig{Outstanding: 2})) })
	t.Run("copies beside rows", func(t *testing.T) { suite.Run(t, newEcho(executor.EchoConfig{Outstanding: 2, Overlap: true})) })
	t.Run("small vocabulary", func(t *testing.T) { suite.Run(t, newEcho(executor.EchoConfig{Vocab: 97})) })
}

func TestEchoAdaptersConform(t *testing.T) {
	part := &model.Adapter{Parts: make([]model.AdapterPart, 1)} // it only looks at names
	suite.RunAdapters(t, newEcho(executor.EchoConfig{Outstanding: 2}), func(int) *model.Adapter { return part })
}

func TestEchoSetsConform(t *testing.T) {
	c, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	suite.RunSets(t, newEcho(executor.EchoConfig{Outstanding: 2}), func(epoch uint32) *weights.Set {
		set, err := weights.Load(c.Config, c, epoch, "") // it only looks whose memory it is
		if err != nil {
			t.Fatal(err)
		}
		return set
	})
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestEchoSleepConforms(t *testing.T) {
	suite.RunSleep(t, newEcho(executor.EchoConfig{Outstanding: 2}))
}

// An adapter adds to the epoch; what it wrote is of no use to others.
func TestEchoAdapterFormula(t *testing.T) {
	e := executor.NewEcho(executor.EchoConfig{Adapters: 1})
	if err := errors.Join(e.LoadAdapter("x", &model.Adapter{Parts: make([]model.AdapterPart, 1)}), e.Load(context.Background(), &weights.Set{Epoch: 3})); err != nil {
		t.Fatal(err)
	}
	ids := []int32{7, 8, 9, 10, 11}
	step := func(b executor.Batch) executor.Result {
		t.Helper()
		var r executor.Result
		err := e.Start(&b)
		if err == nil {
			err = e.Finish(&r)
		}
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := step(executor.Batch{Step: 1, Epoch: 3, Admit: []executor.Admit{{Slot: 0, IDs: ids, PromptLen: 5, Adapter: "x", Parent: executor.NoSlot}},
		Tables: []executor.Table{{Slot: 0, Blocks: []int32{2}}}, Rows: []executor.Row{{Slot: 0, Count: 5, Sample: true, Mask: -1}}})
	if want := executor.EchoRef(ids, 1, 50021, 3+executor.EchoAdapter("x")); !slices.Equal(r.Rows[0].Tokens, want) {
		t.Errorf("sampled %v, want %v", r.Rows[0].Tokens, want)
	}
	r = step(executor.Batch{Step: 2, Epoch: 3, Admit: []executor.Admit{{Slot: 1, IDs: ids, PromptLen: 5, Parent: executor.NoSlot}},
		Tables: []executor.Table{{Slot: 1, Blocks: []int32{2}}}, Rows: []executor.Row{{Slot: 1, Start: 4, Count: 1, Sample: true, Mask: -1}}})
	if !errors.Is(r.Err, executor.ErrEcho) {
		t.Errorf("cache of an adapter read without it: %v", r.Err)
	}
}

func TestEchoBadRow(t *testing.T) {
	bad := []int32{3, 4, 5, 6, 7}
	for _, outstanding := range []int{1, 2} {
		suite.BadRow(t, newEcho(executor.EchoConfig{Outstanding: outstanding, Fail: func(ids []int32) error {
			if slices.Equal(ids, bad) {
				return errors.New("bad row")
			}
			return nil
		}}), bad)
	}
}

// What was handed over before Close is still answered, in order.
func TestEchoClosesBehindItsSteps(t *testing.T) {
	for range 20 { // a wrong choice between the two would be random
		e := executor.NewEcho(executor.EchoConfig{Outstanding: 2})
		for step := range uint64(2) {
			if err := e.Start(&executor.Batch{Epoch: 1, Step: step + 1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		var r executor.Result
		for step := range uint64(2) {
			if err := e.Finish(&r); err != nil || r.Step != step+1 {
				t.Fatalf("step %d, %v; want step %d", r.Step, err, step+1)
			}
		}
	}
}
