package executor_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/executor/suite"
)

// The values were computed by the formula in another language.
func TestEchoRefOfGroups(t *testing.T) {
	for _, c := range []struct {
		windows []int
		want    []int32
	}{
		{[]int{3}, []int32{76, 834, 10830, 12361}},
		{[]int{0, 2}, []int32{208, 6430, 37782, 19816}},
		{[]int{2, 0, 1}, []int32{344, 20900, 14752, 47929}},
	} {
		if got := executor.EchoRef([]int32{1, 2, 3, 4}, len(c.want), 50021, 1, c.windows...); !slices.Equal(got, c.want) {
			t.Errorf("windows %v: %v, want %v", c.windows, got, c.want)
		}
	}
}

// newGroupsRun is an Echo of a full group and one with a window of 3, pages of 4.
func newGroupsRun(t *testing.T) *echoRun {
	return &echoRun{t: t, echo: executor.NewEcho(executor.EchoConfig{PageSize: 4, Windows: []int{0, 3}, HostBlocks: 2})}
}

func sliding(slot executor.Slot, index int32, blocks ...int32) executor.Table {
	return executor.Table{Slot: slot, Group: 1, Index: index, Blocks: blocks}
}

// firstOfGroups writes prompt by slot 0 to blocks 0 and 1 of one group, 3 and 2 of the other.
func (e *echoRun) firstOfGroups() {
	e.t.Helper()
	if err := e.do(executor.Batch{
		Admit:  []executor.Admit{admit(0, prompt...)},
		Tables: []executor.Table{table(0, 0, 1), sliding(0, 0, 3, 2)},
		Rows:   []executor.Row{row(0, 0, 5, true)},
	}); err != nil {
		e.t.Fatal(err)
	}
}

func TestEchoOfGroupsEqualsRef(t *testing.T) {
	e := newGroupsRun(t)
	if g := e.echo.Info().Groups; len(g) != 2 || g[0].Window != 0 || g[1].Window != 3 || g[1].Blocks != g[0].Blocks || g[1].Host != 2 {
		t.Fatalf("groups %+v", g)
	}
	e.firstOfGroups()
	got := slices.Clone(e.result.Rows[0].Tokens)
	for p := range int32(3) {
		if err := e.do(executor.Batch{Rows: []executor.Row{row(0, 5+p, 1, true)}}); err != nil {
			t.Fatal(err)
		}
		got = append(got, e.result.Rows[0].Tokens...)
	}
	if want := executor.EchoRef(prompt, 4, 50021, 1, 0, 3); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A slot that goes on at position 6 attends to 4 and later: its sliding table begins
// with block 1. Copies and blocks of one group are nothing to the other.
func TestEchoGroupsAreApart(t *testing.T) {
	longer := append(slices.Clone(prompt), 9, 9)
	for _, c := range []struct {
		name string
		b    executor.Batch
		want string // "" is none
	}{
		{"goes on", executor.Batch{Tables: []executor.Table{table(1, 0, 1), sliding(1, 1, 2)}, Rows: []executor.Row{row(1, 5, 2, true)}},
			"table indexes 0 to 1"}, // position 5 attends to 3
		{"goes on late", executor.Batch{Tables: []executor.Table{table(1, 0, 1), sliding(1, 0, 3, 2)}, Rows: []executor.Row{row(1, 5, 2, true)}}, ""},
		{"a block of the other group", executor.Batch{Tables: []executor.Table{table(1, 0, 1), sliding(1, 0, 0, 1)}, Rows: []executor.Row{row(1, 5, 2, true)}},
			"group 1: echo: wrong cache: slot 1 position 3 in block 0 was never written"},
		{"a copy in the other group", executor.Batch{Tables: []executor.Table{table(1, 0, 1), sliding(1, 0, 3, 6)},
			Copies: []executor.Copy{{Group: 0, From: 2, To: 6}}, Rows: []executor.Row{row(1, 5, 2, true)}},
			"group 1: echo: wrong cache: slot 1 position 4 in block 6 was never written"},
	} {
		e := newGroupsRun(t)
		e.firstOfGroups()
		c.b.Step, c.b.Epoch, c.b.Admit = 2, 1, []executor.Admit{admit(1, longer...)}
		err := e.echo.Start(&c.b)
		if err == nil {
			err = errors.Join(e.echo.Finish(&e.result), e.result.Err)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestEchoWithAWindowConforms(t *testing.T) {
	suite.Run(t, newEcho(executor.EchoConfig{Windows: []int{5}}))
}

func TestEchoOfTwoGroupsConforms(t *testing.T) {
	suite.Run(t, newEcho(executor.EchoConfig{Windows: []int{0, 5}}))
	suite.Run(t, newEcho(executor.EchoConfig{Windows: []int{6, 0}, Sectors: 90, PerSector: []int{1, 3}}))
}
