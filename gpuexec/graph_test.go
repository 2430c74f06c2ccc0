package gpuexec

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// crowd lets sequences begin one after another, each with a longer prompt in chunks of up to 11 tokens, and
// draw beside each other, two steps handed over at a time; it answers what each drew. Steps are numbered from
// behind a number on.
func crowd(t *testing.T, e *Executor, behind uint64) [][]int32 {
	t.Helper()
	const sequences, draws, chunk = 3, 6, 11
	page := e.Info().PageSize
	var next, drawn [sequences]int
	out := make([][]int32, sequences)
	prompt := func(s int) []int32 {
		ids := make([]int32, 5+19*s)
		for i := range ids {
			ids[i] = int32((31*i + 7*s) % 200)
		}
		return ids
	}
	size := pages(len(prompt(sequences-1))+draws, page)
	batches, results := [MaxOutstanding]executor.Batch{}, executor.Result{}
	flying := 0
	finish := func() {
		flying--
		if err := e.Finish(&results); err != nil || results.Err != nil {
			t.Fatal(err, results.Err)
		}
		for _, row := range results.Rows {
			out[row.Slot] = append(out[row.Slot], row.Tokens...)
		}
	}
	for step := 0; ; step++ {
		if flying == MaxOutstanding {
			finish()
		}
		b := &batches[step%MaxOutstanding]
		b.Reset()
		b.Step, b.Epoch = behind+uint64(step+1), 1
		for s := range min(sequences, step+1) {
			ids := prompt(s)
			if drawn[s] == draws {
				continue
			}
			if next[s] == 0 {
				a := executor.Admit{Slot: executor.Slot(s), IDs: ids, PromptLen: int32(len(ids)), Parent: executor.NoSlot, Seed: uint64(s)}
				a.Sampling = sampling.Params{Temperature: float32(s)}
				blocks := make([]int32, size)
				for i := range blocks {
					blocks[i] = int32(s*size + i)
				}
				b.Admit = append(b.Admit, a)
				b.Tables = append(b.Tables, executor.Table{Slot: a.Slot, Blocks: blocks})
			}
			n := max(1, min(chunk, len(ids)-next[s]))
			row := executor.Row{Slot: executor.Slot(s), Start: int32(next[s]), Count: int32(n), Mask: -1}
			if next[s] += n; next[s] >= len(ids) {
				row.Sample = true
				if drawn[s]++; drawn[s] == draws {
					b.Retire = append(b.Retire, row.Slot)
				}
			}
			b.Rows = append(b.Rows, row)
		}
		if len(b.Rows) == 0 {
			for flying > 0 {
				finish()
			}
			return out
		}
		if err := e.Start(b); err != nil {
			t.Fatal(err)
		}
		flying++
	}
}

// graphed is a configuration for crowd.
func graphed(device *cuda.Device, m *model.Config, set *weights.Set, graphs Graphs) Config {
	return Config{Device: device, Model: m, Weights: set, MaxMemory: 32 << 20, MaxContext: 64, MaxTokens: 32, MaxSlots: 3, PageSize: 8, QPadding: 16, Graphs: graphs}
}

// TestGraphsAreTheKernels draws by graphs of both kinds of steps, of one, and of none.
func TestGraphsAreTheKernels(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	driver := emu.Open(t, emu.Options{})
	var want [][]int32
	ran := map[Graphs]int{}
	for _, graphs := range []Graphs{{}, {Varlen: true}, {Decode: true}, {Varlen: true, Decode: true}} {
		before := driver.Counts().Graphs
		got := crowd(t, start(t, graphed(device(t, driver), m, set, graphs)), 0)
		ran[graphs] = driver.Counts().Graphs - before
		if want == nil {
			want = got
		}
		if !slices.EqualFunc(got, want, slices.Equal) || len(got[2]) != 6 {
			t.Errorf("%+v draw %v, kernels one by one %v", graphs, got, want)
		}
	}
	if varlen, decode := ran[Graphs{Varlen: true}], ran[Graphs{Decode: true}]; !emu.Hardware() && (ran[Graphs{}] != 0 || varlen == 0 || decode == 0 || ran[all] != varlen+decode) {
		t.Errorf("graphs ran %v", ran)
	}
}

// TestFewShapes has memory for the graphs of two shapes, which take each other's place.
func TestFewShapes(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	driver := emu.Open(t, emu.Options{})
	want := crowd(t, start(t, graphed(device(t, driver), m, set, Graphs{})), 0)
	c := graphed(device(t, driver), m, set, all)
	c.MaxMemory = 3 << 20
	unused, e := free(t, c.Device), start(t, c)
	if got := crowd(t, e, 0); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("with two shapes %v, by kernels one by one %v", got, want)
	}
	if e.Memory().Shapes != 2 || len(e.shapes.of) != 2 || e.shapes.steps < 10 {
		t.Errorf("%d steps had graphs, there are %d shapes of %d", e.shapes.steps, len(e.shapes.of), e.Memory().Shapes)
	}
	taken, most := unused-free(t, c.Device), e.Memory().Device()
	if (taken > most || taken <= most-e.Memory().Graphs) && !emu.Hardware() {
		t.Errorf("%d bytes are taken, %+v are planned", taken, e.Memory())
	}
}

// TestMemoryForOneShape has a device with memory for the graphs of one shape, where two were planned: each takes
// the place of the one before it, which may be running, and no step does without.
func TestMemoryForOneShape(t *testing.T) {
	emu.Only(t, "it tells what graphs take")
	m, set := loadModel(t, family("llama"))
	want := crowd(t, start(t, graphed(emulated(t), m, set, Graphs{})), 0)
	c := graphed(nil, m, set, all)
	c.MaxMemory = 3 << 20
	plan, err := Plan(c)
	if err != nil {
		t.Fatal(err)
	}
	driver := emu.Open(t, emu.Options{Memory: uint64(plan.Device() - plan.Graphs + plan.Graphs/2/2)}) // one has half of what is allowed for it
	c.Device, c.Warn = device(t, driver), func(err error) { t.Errorf("told is %v", err) }
	e := start(t, c)
	if got := crowd(t, e, 0); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("with one shape %v, by kernels one by one %v", got, want)
	}
	if plan.Shapes != 2 || len(e.shapes.of) != 1 || e.shapes.steps != driver.Counts().Graphs || e.shapes.steps < 10 {
		t.Errorf("%d steps had graphs, %d ran; there are %d shapes of %d", e.shapes.steps, driver.Counts().Graphs, len(e.shapes.of), plan.Shapes)
	}
}

// TestGraphsWithoutMemory has a device without memory for a graph: kernels are launched one by one, and that
// is told once.
func TestGraphsWithoutMemory(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	c := graphed(nil, m, set, all)
	plan, err := Plan(c)
	if err != nil {
		t.Fatal(err)
	}
	driver := emu.Open(t, emu.Options{Memory: uint64(plan.Device() - plan.Graphs + 1000)})
	var told []error
	c.Device, c.Warn = device(t, driver), func(err error) { told = append(told, err) }
	got := crowd(t, start(t, c), 0)
	c.Graphs = Graphs{}
	if want := crowd(t, start(t, graphed(emulated(t), m, set, Graphs{})), 0); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("without memory for graphs %v, with it %v", got, want)
	}
	if len(told) != 1 || !errors.Is(told[0], cuda.ErrOutOfMemory) || driver.Counts().Graphs != 0 {
		t.Errorf("%d graphs ran; told is %v", driver.Counts().Graphs, told)
	}
}
