package gpuexec

import (
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/familytest"
)

func TestVendorRows(t *testing.T) {
	for _, c := range []struct{ rows, most, want int }{
		{65, 2048, 128}, {128, 2048, 128}, {129, 2048, 192}, {2048, 2048, 2048}, {2049, 8192, 2176}, {65, 100, 100}, {65536, 65536, 65536},
	} {
		if got := vendorRows(c.rows, c.most); got != c.want {
			t.Errorf("%d rows of %d are computed with %d, want %d", c.rows, c.most, got, c.want)
		}
	}
	sizes := map[int]bool{}
	for rows := vendorLeast; rows <= 65536; rows++ {
		got := vendorRows(rows, 65536)
		if sizes[got] = true; got < rows || got > rows+max(63, rows/16) {
			t.Fatalf("%d rows are computed with %d", rows, got)
		}
	}
	if len(sizes) > 120 {
		t.Errorf("there are %d sizes", len(sizes))
	}
}

// vendored is a device of a fake driver, with a fake cublasLt and what opened it.
func vendored(t *testing.T) (*emu.CublasLt, Config) {
	t.Helper()
	d := emu.Open(t, emu.Options{})
	fake := d.CublasLt(t)
	lib, err := cublaslt.Open(fake.Path)
	if err != nil {
		t.Fatal(err)
	}
	return fake, Config{Device: device(t, d), CublasLt: lib, MaxMemory: 128 << 20}
}

// TestVendorIsNear computes a long prompt with and without the vendor's products, which are in other
// bits: logits differ, and by no more than rounding makes them.
func TestVendorIsNear(t *testing.T) {
	fake, cfg := vendored(t)
	cfg.Model, cfg.Weights = loadModel(t, family("llama"))
	cfg.MaxContext, cfg.MaxTokens, cfg.MaxSlots = 256, 200, 2
	ids := make([]int32, 150)
	for i := range ids {
		ids[i] = int32((17*i + i*i*31) % cfg.Model.Vocab)
	}
	j := newJudge(t, cfg)
	before := fake.Products()
	j.run(ids)
	if want, got := 4*cfg.Model.Layers, fake.Products()-before; got != want {
		t.Errorf("%d products were the vendor's, want %d", got, want)
	}
	before = fake.Products()
	j.run(ids[:64])
	if got := fake.Products() - before; got != 0 {
		t.Errorf("of few rows %d products were the vendor's", got)
	}
	j.run(ids)
	cfg.CublasLt = nil
	own := newJudge(t, cfg)
	own.run(ids)
	if off := apart(own.logits, j.logits); off == 0 || !(off < familyBound) {
		t.Errorf("logits differ by %g", off)
	}
}

// TestVendorTakesNoPackedWeights computes a long prompt with matrices that are quantised.
func TestVendorTakesNoPackedWeights(t *testing.T) {
	fake, cfg := vendored(t)
	cfg.Model, cfg.Weights = loadModel(t, family("llama"))
	cfg.MaxContext, cfg.MaxTokens, cfg.MaxSlots, cfg.Quantize = 128, 100, 2, QuantizeQ4
	newJudge(t, cfg).run(make([]int32, 80))
	if got := fake.Products(); got != 0 {
		t.Errorf("%d products were the vendor's", got)
	}
}

// TestVendorInGraphs decodes many sequences side by side, by graphs: nothing is chosen or made ready
// while they are captured, and tokens are those of own kernels, but for near ties.
func TestVendorInGraphs(t *testing.T) {
	const sequences, steps = 70, 3
	fake, cfg := vendored(t)
	cfg.Model, cfg.Weights = loadModel(t, family("llama"))
	cfg.MaxContext, cfg.MaxTokens, cfg.MaxSlots, cfg.Graphs = 16, 160, 80, Graphs{Varlen: true, Decode: true}
	run := func(cfg Config) (tokens []int32) {
		e := start(t, cfg)
		for step := range steps {
			b := executor.Batch{Step: uint64(step + 1), Epoch: 1}
			for slot := range executor.Slot(sequences) {
				row := executor.Row{Slot: slot, Start: int32(step + 1), Count: 1, Sample: true, Mask: -1}
				if step == 0 {
					ids := []int32{int32(slot), 2 * int32(slot)}
					b.Admit = append(b.Admit, executor.Admit{Slot: slot, IDs: ids, PromptLen: 2, Parent: executor.NoSlot})
					b.Tables = append(b.Tables, executor.Table{Slot: slot, Blocks: []int32{int32(slot)}})
					row.Start, row.Count = 0, 2
				}
				b.Rows = append(b.Rows, row)
			}
			var r executor.Result
			if err := errors.Join(e.Start(&b), e.Finish(&r), r.Err); err != nil {
				t.Fatal(err)
			}
			for i := range r.Rows {
				tokens = append(tokens, r.Rows[i].Tokens...)
			}
		}
		return tokens
	}
	got := run(cfg)
	if made := fake.Products(); made < steps*(4*cfg.Model.Layers+1) {
		t.Errorf("%d products were the vendor's", made)
	}
	cfg.CublasLt = nil
	want := run(cfg)
	if len(got) != steps*sequences || len(want) != len(got) {
		t.Fatalf("%d tokens, and %d by own kernels", len(got), len(want))
	}
	others := 0
	for i := range got {
		if got[i] != want[i] {
			others++
		}
	}
	if others > len(got)/20 {
		t.Errorf("%d of %d tokens are others", others, len(got))
	}
	if slices.Max(got) == slices.Min(got) {
		t.Error("all tokens are the same: nothing is shown")
	}
}

// TestVendorWithExperts leaves experts to own kernels.
func TestVendorWithExperts(t *testing.T) {
	fake, cfg := vendored(t)
	cfg.Model, cfg.Weights = loadModel(t, familytest.Named(t, "gpt-oss").Folder(t))
	cfg.MaxContext, cfg.MaxTokens, cfg.MaxSlots = 128, 100, 2
	j := newJudge(t, cfg)
	before := fake.Products()
	j.run(slices.Repeat([]int32{5, 9, 13, 2}, 20))
	if want, got := 2*cfg.Model.Layers, fake.Products()-before; got != want {
		t.Errorf("%d products were the vendor's, want %d", got, want)
	}
}

// TestVendorIsPlanned counts the workspace, and what comes of gate and up before they are gated.
func TestVendorIsPlanned(t *testing.T) {
	_, cfg := vendored(t)
	cfg.Model, cfg.Weights = loadModel(t, family("llama"))
	cfg.MaxContext, cfg.MaxTokens, cfg.MaxSlots = 128, 100, 2
	plan, err := Plan(cfg)
	if err != nil {
		t.Fatal(err)
	}
	own := cfg
	own.CublasLt = nil
	if without, err := Plan(own); err != nil || plan.Work < without.Work+cublaslt.Workspace {
		t.Errorf("work is planned as %d, without the vendor as %d (%v)", plan.Work, without.Work, err)
	}
	unused := free(t, cfg.Device)
	start(t, cfg)
	if taken := unused - free(t, cfg.Device); taken != plan.Device() {
		t.Errorf("%d bytes are taken, planned are %d", taken, plan.Device())
	}
}
