package executor_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/executor"
)

func newHostRun(t *testing.T) *echoRun {
	return &echoRun{t: t, echo: executor.NewEcho(executor.EchoConfig{PageSize: 4, HostBlocks: 4})}
}

// swapIn admits prompt to slot 1, whose blocks 6 and 7 come from the host's.
func swapIn(host ...int32) executor.Batch {
	b := executor.Batch{
		Admit: []executor.Admit{admit(1, prompt...)}, Tables: []executor.Table{table(1, 6, 7)},
		Rows: []executor.Row{row(1, 4, 1, true)},
	}
	for i, h := range host {
		b.Copies = append(b.Copies, executor.Copy{Kind: executor.CopyIn, From: h, To: 6 + int32(i)})
	}
	return b
}

// out copies slot 0's first block.
func out(host int32) executor.Batch {
	return executor.Batch{Copies: []executor.Copy{{Kind: executor.CopyOut, From: 0, To: host}}}
}

func TestEchoReadsTheHost(t *testing.T) {
	e := newHostRun(t)
	e.first()
	want := slices.Clone(e.result.Rows[0].Tokens)
	for _, b := range []executor.Batch{out(3), swapIn(3)} {
		if err := e.do(b); err != nil {
			t.Fatal(err)
		}
	}
	if got := e.result.Rows[0].Tokens; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Where copies overlap with rows, what comes from the host is there for the next
// step's rows, not yet for those of its own.
func TestEchoCopiesInBesideRows(t *testing.T) {
	for _, together := range []bool{true, false} {
		e := &echoRun{t: t, echo: executor.NewEcho(executor.EchoConfig{PageSize: 4, HostBlocks: 4, Overlap: true})}
		e.first()
		want := slices.Clone(e.result.Rows[0].Tokens)
		if err := e.do(out(3)); err != nil {
			t.Fatal(err)
		}
		in := swapIn(3)
		rows := in.Rows
		if !together {
			in.Rows = nil
		}
		err := e.do(in)
		if together {
			if !errors.Is(err, executor.ErrEcho) {
				t.Errorf("a row of the same step: %v", err)
			}
			continue
		}
		if err == nil {
			err = e.do(executor.Batch{Rows: rows})
		}
		if err != nil || !slices.Equal(e.result.Rows[0].Tokens, want) {
			t.Errorf("%v, %v, want %v", e.result.Rows, err, want)
		}
	}
}

// Whoever reads from the host what is not there is told so.
func TestEchoFindsWrongHostBlocks(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []executor.Batch
		want  string
	}{
		{"not written", []executor.Batch{out(3), swapIn(2)}, "slot 1 position 0 in block 6 was never written"},
		{"read twice", []executor.Batch{
			out(3), {Copies: []executor.Copy{{Kind: executor.CopyIn, From: 3, To: 5}}}, swapIn(3),
		}, "slot 1 position 0 in block 6 was never written"},
		{"a block that held another page", []executor.Batch{
			{Copies: []executor.Copy{{Kind: executor.CopyOut, From: 1, To: 3}}}, swapIn(3),
		}, "slot 1 position 0 in block 6 holds position 4"},
		{"copied out after it was overwritten", []executor.Batch{
			{Admit: []executor.Admit{admit(2, 9, 9, 9)}, Tables: []executor.Table{table(2, 0)}, Rows: []executor.Row{row(2, 0, 3, true)}},
			out(3), swapIn(3),
		}, "holds token 9 of slot 2, not 1"},
	} {
		e := newHostRun(t)
		e.first()
		last := len(c.steps) - 1
		for _, b := range c.steps[:last] {
			if err := e.do(b); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		if err := e.do(c.steps[last]); !errors.Is(err, executor.ErrEcho) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want ErrEcho: %q", c.name, err, c.want)
		}
	}
}
