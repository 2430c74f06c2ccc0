package executor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// The values were computed by the formula in another language.
func TestEchoRef(t *testing.T) {
	for _, c := range []struct {
		prompt []int32
		epoch  uint32
		want   []int32
	}{
		{[]int32{1, 2, 3}, 1, []int32{40, 368, 4058, 2745, 41189}},
		{[]int32{0}, 0, []int32{1, 5, 23, 119}},
		{[]int32{50020, 7}, 1<<32 - 1, []int32{26684, 19856, 30295}},
	} {
		if got := executor.EchoRef(c.prompt, len(c.want), 50021, c.epoch); !slices.Equal(got, c.want) {
			t.Errorf("EchoRef(%v, epoch %d) = %v, want %v", c.prompt, c.epoch, got, c.want)
		}
	}
}

// echoRun hands batches to an Echo one after another.
type echoRun struct {
	t      *testing.T
	echo   *executor.Echo
	step   uint64
	result executor.Result
}

func newEchoRun(t *testing.T) *echoRun {
	return &echoRun{t: t, echo: executor.NewEcho(executor.EchoConfig{PageSize: 4})}
}

// do runs a batch and answers what the step failed with.
func (e *echoRun) do(b executor.Batch) error {
	e.t.Helper()
	e.step++
	b.Step, b.Epoch = e.step, max(b.Epoch, 1)
	if err := e.echo.Start(&b); err != nil {
		e.t.Fatal(err)
	}
	if err := e.echo.Finish(&e.result); err != nil {
		e.t.Fatal(err)
	}
	return e.result.Err
}

func admit(slot executor.Slot, ids ...int32) executor.Admit {
	return executor.Admit{Slot: slot, IDs: ids, PromptLen: int32(len(ids)), Parent: executor.NoSlot}
}

func table(slot executor.Slot, blocks ...int32) executor.Table {
	return executor.Table{Slot: slot, Blocks: blocks}
}

func row(slot executor.Slot, start, count int32, sample bool) executor.Row {
	return executor.Row{Slot: slot, Start: start, Count: count, Sample: sample, Mask: -1}
}

var prompt = []int32{1, 2, 3, 4, 5}

// first writes prompt by slot 0 to blocks 0 and 1.
func (e *echoRun) first() {
	e.t.Helper()
	if err := e.do(executor.Batch{
		Admit:  []executor.Admit{admit(0, prompt...)},
		Tables: []executor.Table{table(0, 0, 1)},
		Rows:   []executor.Row{row(0, 0, 5, true)},
	}); err != nil {
		e.t.Fatal(err)
	}
}

func TestEchoEqualsRef(t *testing.T) {
	e := newEchoRun(t)
	e.first()
	got := slices.Clone(e.result.Rows[0].Tokens)
	for p := range int32(3) {
		if err := e.do(executor.Batch{Rows: []executor.Row{row(0, 5+p, 1, true)}}); err != nil {
			t.Fatal(err)
		}
		got = append(got, e.result.Rows[0].Tokens...)
	}
	if want := executor.EchoRef(prompt, 4, 50021, 1); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A token depends on the epoch that each of its KV slots was written in.
func TestEchoRemembersEpochs(t *testing.T) {
	e := newEchoRun(t)
	e.first()
	if err := e.echo.Load(context.Background(), &weights.Set{Epoch: 2}); err != nil {
		t.Fatal(err)
	}
	if err := e.do(executor.Batch{Epoch: 2, Rows: []executor.Row{row(0, 5, 1, true)}}); err != nil {
		t.Fatal(err)
	}
	sixth := executor.EchoRef(prompt, 1, 50021, 1)[0]
	want := (2*(1*2+2*3+3*4+4*5+5*6) + 3*6*(sixth+1)) % 50021
	next := executor.EchoNext(append(slices.Clone(prompt), sixth), []uint32{1, 1, 1, 1, 1, 2}, 50021)
	if got := e.result.Rows[0].Tokens[0]; got != want || next != want {
		t.Errorf("token %d, EchoNext says %d, want %d", got, next, want)
	}
}

// Whoever hands out wrong blocks is told so.
func TestEchoFindsWrongBlocks(t *testing.T) {
	other := admit(1, prompt...)
	for _, c := range []struct {
		name string
		b    executor.Batch
		want string
	}{
		{"not written", executor.Batch{
			Admit: []executor.Admit{other}, Tables: []executor.Table{table(1, 5, 6)}, Rows: []executor.Row{row(1, 4, 1, true)},
		}, "was never written"},
		{"wrong position", executor.Batch{
			Admit: []executor.Admit{other}, Tables: []executor.Table{table(1, 1, 6)}, Rows: []executor.Row{row(1, 4, 1, true)},
		}, "holds position 4"},
		{"wrong token", executor.Batch{
			Admit: []executor.Admit{admit(1, 1, 2, 9, 4, 5)}, Tables: []executor.Table{table(1, 0, 6)}, Rows: []executor.Row{row(1, 4, 1, true)},
		}, "holds token 3 of slot 0, not 9"},
		{"two writers", executor.Batch{
			Admit: []executor.Admit{other}, Tables: []executor.Table{table(1, 0, 1)},
			Rows: []executor.Row{row(0, 5, 1, true), row(1, 4, 1, true)},
		}, "slots 0 and 1 both write to block 1"},
		{"overwritten by a later row", executor.Batch{
			Admit: []executor.Admit{admit(1, 9, 9, 9)}, Tables: []executor.Table{table(1, 0)},
			Rows: []executor.Row{row(0, 5, 1, true), row(1, 0, 3, true)},
		}, "holds token 9 of slot 1, not 1"},
		{"shared before the step that writes is done", executor.Batch{
			Admit:  []executor.Admit{admit(1, 7, 7, 7, 7, 7), admit(2, 7, 7, 7, 7, 7)},
			Tables: []executor.Table{table(1, 3, 4), table(2, 3, 5)},
			Rows:   []executor.Row{row(1, 0, 5, true), row(2, 4, 1, true)},
		}, "is written by slot 1 in the same step"},
	} {
		e := newEchoRun(t)
		e.first()
		if err := e.do(c.b); !errors.Is(err, executor.ErrEcho) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want ErrEcho: %q", c.name, err, c.want)
		}
		if len(e.result.Rows) != 0 {
			t.Errorf("%s: a failed step has rows", c.name)
		}
		if err := e.do(executor.Batch{}); !errors.Is(err, executor.ErrEcho) {
			t.Errorf("%s: the next step gives %v", c.name, err)
		}
	}
}

func TestEchoAllocatesNothing(t *testing.T) {
	tell := sampling.Tell{Logprobs: true, Top: 5, Kept: true}
	for name, params := range map[string]sampling.Params{
		"greedy":     {},
		"random":     {Temperature: 1, Tell: tell},
		"processors": {RepetitionPenalty: 1.5, Tell: tell},
	} {
		t.Run(name, func(t *testing.T) { testEchoAllocates(t, params) })
	}
}

// testEchoAllocates decodes with params.
func testEchoAllocates(t *testing.T, params sampling.Params) {
	e := executor.NewEcho(executor.EchoConfig{Blocks: 200, Outstanding: 2})
	blocks := make([]int32, 200)
	for i := range blocks {
		blocks[i] = int32(i)
	}
	first := admit(0, 1)
	first.Sampling = params
	b := executor.Batch{
		Step: 1, Epoch: 1,
		Admit: []executor.Admit{first}, Tables: []executor.Table{table(0, blocks...)},
		Rows: []executor.Row{row(0, 0, 1, true)},
	}
	var r executor.Result
	step := func() {
		if err := errors.Join(e.Start(&b), e.Finish(&r), r.Err); err != nil {
			t.Fatal(err)
		}
		next := b.Rows[0].Start + 1
		b.Reset()
		b.Step, b.Epoch = r.Step+1, 1
		b.Rows = append(b.Rows, row(0, next, 1, true))
	}
	step()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}

func TestEchoDelayComesBeforeTheStep(t *testing.T) {
	var delayed []uint64
	e := executor.NewEcho(executor.EchoConfig{Outstanding: 2, Delay: func(b *executor.Batch) { delayed = append(delayed, b.Step) }})
	var r executor.Result
	for i := range uint64(2) {
		if err := e.Start(&executor.Batch{Epoch: 1, Step: 3 + i}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range uint64(2) {
		if err := e.Finish(&r); err != nil || r.Step != 3+i || delayed[i] != 3+i {
			t.Errorf("step %d, delayed %v, %v", r.Step, delayed, err)
		}
	}
}
