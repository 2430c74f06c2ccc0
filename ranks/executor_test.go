package ranks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// part is an executor without a model, with a fault where it has one.
type part struct {
	*executor.Echo
	load error
	held []uint32 // epochs
}

func (p *part) Load(ctx context.Context, set *weights.Set) error {
	if p.load != nil {
		return p.load
	}
	p.held = append(p.held, set.Epoch)
	return p.Echo.Load(ctx, set)
}

func (p *part) Drop(epoch uint32) error {
	p.held = slices.DeleteFunc(p.held, func(e uint32) bool { return e == epoch })
	return p.Echo.Drop(epoch)
}

// step runs one of a request's prompt.
func step(t *testing.T, e *Executor, number uint64) error {
	t.Helper()
	b := &executor.Batch{Step: number, Epoch: 1}
	if number == 1 {
		b.Admit = []executor.Admit{{Slot: 0, IDs: []int32{1, 2, 3}, PromptLen: 3, Parent: executor.NoSlot}}
		b.Tables = []executor.Table{{Slot: 0, Blocks: []int32{0}}}
	}
	b.Rows = []executor.Row{{Slot: 0, Start: int32(number - 1), Count: 1, Mask: -1}}
	if err := e.Start(b); err != nil {
		t.Fatal(err)
	}
	var r executor.Result
	if err := e.Finish(&r); err != nil {
		t.Fatal(err)
	}
	return r.Err
}

// closes gives everything back.
func closes(t *testing.T, e *Executor) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	for _, finished := range e.finished[1:] {
		for range finished {
			continue
		}
	}
}

// A rank that panics fails the step and all later ones, by its number, and nobody waits for it.
func TestFailedRank(t *testing.T) {
	var told error
	broken := executor.NewEcho(executor.EchoConfig{Delay: func(b *executor.Batch) {
		if b.Step == 2 {
			panic("planted")
		}
	}})
	e := New([]Part{&part{Echo: executor.NewEcho(executor.EchoConfig{})}, &part{Echo: broken}}, time.Minute, func(err error) { told = err })
	defer closes(t, e)
	if err := step(t, e, 1); err != nil {
		t.Error(err)
	}
	if err := step(t, e, 2); !errors.Is(err, ErrPanic) || !strings.HasPrefix(err.Error(), "rank 1: ") {
		t.Errorf("%v", err)
	}
	if !errors.Is(told, ErrPanic) {
		t.Errorf("others learn %v", told)
	}
}

// A rank that hangs is left behind when another one has failed.
func TestHangingRank(t *testing.T) {
	gate := make(chan struct{})
	planted := errors.New("planted")
	hanging := executor.NewEcho(executor.EchoConfig{Delay: func(*executor.Batch) { <-gate }})
	e := New([]Part{&part{Echo: executor.NewEcho(executor.EchoConfig{})}, &part{Echo: hanging}}, 10*time.Millisecond, func(error) {})
	e.fail(planted)
	if err := step(t, e, 1); !errors.Is(err, planted) {
		t.Errorf("%v", err)
	}
	close(gate)
	closes(t, e)
}

// Weights are loaded on all ranks or on none.
func TestLoadOnAllOrNone(t *testing.T) {
	planted := errors.New("planted")
	parts := []*part{{Echo: executor.NewEcho(executor.EchoConfig{})}, {Echo: executor.NewEcho(executor.EchoConfig{}), load: planted}}
	e := New([]Part{parts[0], parts[1]}, time.Minute, func(error) {})
	defer closes(t, e)
	set := &weights.Set{Epoch: 2}
	if err := e.Load(t.Context(), set); !errors.Is(err, planted) || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("%v", err)
	}
	if len(parts[0].held) != 0 {
		t.Errorf("rank 0 holds %v", parts[0].held)
	}
	parts[1].load = nil
	if err := e.Load(t.Context(), set); err != nil || len(parts[0].held) != 1 || len(parts[1].held) != 1 {
		t.Errorf("%v, ranks hold %v and %v", err, parts[0].held, parts[1].held)
	}
}
