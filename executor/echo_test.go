package executor_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/executor/suite"
)

func newEcho(config executor.EchoConfig) suite.Make {
	return func(_ *testing.T, o suite.Options) executor.Executor {
		config.HostBlocks = o.HostBlocks
		config.PageSize, config.Blocks, config.Slots = o.PageSize, o.Blocks, o.MaxSlots
		config.Tokens, config.Context = o.MaxTokens, o.MaxContext
		return executor.NewEcho(config)
	}
}

func TestEchoConforms(t *testing.T) {
	t.Run("one step", func(t *testing.T) { suite.Run(t, newEcho(executor.EchoConfig{})) })
	t.Run("two steps", func(t *testing.T) { suite.Run(t, newEcho(executor.EchoConfig{Outstanding: 2})) })
	t.Run("copies beside rows", func(t *testing.T) { suite.Run(t, newEcho(executor.EchoConfig{Outstanding: 2, Overlap: true})) })
	t.Run("small vocabulary", func(t *testing.T) { suite.Run(t, newEcho(executor.EchoConfig{Vocab: 97})) })
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
