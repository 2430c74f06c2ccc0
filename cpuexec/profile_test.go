package cpuexec

import (
	"testing"
	"time"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/executor"
)

// profiled runs two sequences of a family, prompts of 70 and 3 tokens, and answers what
// was noted and what the steps took.
func profiled(t *testing.T, threads int) (*step, *Profile, time.Duration) {
	t.Helper()
	m, set := loadModel(t, family("llama"))
	p := new(Profile)
	d := newDriver(t, Config{Model: m, Weights: set, Threads: threads, PageSize: 16, MaxContext: 128, MaxTokens: 128, Profile: p}, 128, false)
	if threads > 1 {
		d.e.step.alone = 0
	}
	seqs := []*sequence{{ids: make([]int32, 70), limit: 4}, {ids: make([]int32, 3), limit: 4}}
	var b executor.Batch
	var r executor.Result
	took := time.Duration(0)
	for range 4 {
		b.Reset()
		d.step++
		b.Step, b.Epoch = d.step, 1
		for i, s := range seqs {
			if s.next == 0 {
				d.admit(&b, s, executor.Slot(i))
			}
			d.row(&b, s, 128)
		}
		d.do(&b, &r)
		took += time.Duration(r.Compute)
	}
	b.Reset()
	d.step++
	b.Step, b.Epoch, b.Retire = d.step, 1, []executor.Slot{0, 1}
	d.do(&b, &r) // without tokens: not counted
	return d.e.step, p, took
}

// All of a step's time is some operation's, on every thread.
func TestProfileHasAllTime(t *testing.T) {
	for _, threads := range []int{1, 2, 3} {
		_, p, took := profiled(t, threads)
		var all Steps
		for k := range StepKinds {
			s := p.Of(k)
			sum := time.Duration(0)
			for _, w := range s.Work {
				sum += w.Time
			}
			if d := s.Time - sum; d < 0 || d > time.Microsecond*time.Duration(s.Steps) { // of rounding
				t.Errorf("%d threads: %d steps of %s took %s, their operations %s", threads, s.Steps, k, s.Time, sum)
			}
			if w := s.Work[OpWait]; s.Steps > 0 && (s.LongestWait <= 0 || s.LongestWait > w.Time*time.Duration(threads)) {
				t.Errorf("%d threads: one waited %s, all together %s each", threads, s.LongestWait, w.Time)
			}
			if s.Threads != s.Steps*int64(threads) {
				t.Errorf("%d threads in %d steps, want %d each", s.Threads, s.Steps, threads)
			}
			all.Steps, all.Time = all.Steps+s.Steps, all.Time+s.Time
		}
		if all.Time > took || all.Time < took*8/10 {
			t.Errorf("%d threads: steps that took %s are told to have taken %s", threads, took, all.Time)
		}
		if decode := p.Of(Decode); all.Steps != 4 || decode.Steps != 3 || decode.Gaps != 3 || decode.Between <= 0 {
			t.Errorf("%d steps, of them decoding %+v", all.Steps, decode)
		}
	}
}

// Operations are counted as the formulas of Work say, by hand.
func TestProfileCounts(t *testing.T) {
	s, p, _ := profiled(t, 2)
	m := s.config.Model
	hidden, layers := int64(m.Hidden), int64(m.Layers)
	queries, keys := int64(m.Heads*m.HeadDim), int64(m.KVHeads*m.HeadDim)
	seen := func(n int64) int64 { return n * (n + 1) / 2 } // by the n tokens of a prompt

	prefill := p.Of(Prefill)
	if prefill.Steps != 1 || prefill.Tokens != 73 || prefill.Rows != 2 {
		t.Fatalf("%+v", prefill)
	}
	const tokens = 73
	for op, want := range map[Operation]int64{
		OpQKV:       layers * 2 * tokens * hidden * (queries + 2*keys),
		OpOut:       layers * 2 * tokens * queries * hidden,
		OpGateUp:    layers * 2 * tokens * hidden * 2 * int64(m.Intermediate),
		OpDown:      layers * 2 * tokens * int64(m.Intermediate) * hidden,
		OpHead:      2 * 2 * hidden * int64(m.Vocab),
		OpAttention: layers * 4 * queries * (seen(70) + seen(3)),
		OpNorm:      0,
	} {
		if got := prefill.Work[op].Ops; got != want {
			t.Errorf("%s of the prompts: %d operations, want %d", op, got, want)
		}
	}
	// 73 rows go through a matrix in two blocks; panels have 32 columns.
	if got, want := prefill.Work[OpDown].Bytes, 2*layers*4*int64(m.Intermediate)*int64(padded(m.Hidden)); got != want {
		t.Errorf("the prompts read %d bytes of down, want %d", got, want)
	}

	decode := p.Of(Decode)
	if got, want := decode.Work[OpAttention].Ops, layers*4*queries*(71+72+73+4+5+6); got != want {
		t.Errorf("decoding: %d operations of attention, want %d", got, want)
	}
	// Of pages of 16, the long sequence reads 5 in each of three steps, the other one 1.
	if got, want := decode.Work[OpAttention].Bytes, layers*3*(5+1)*16*2*keys*4; got != want {
		t.Errorf("decoding: %d bytes of the cache, want %d", got, want)
	}
	// All weights, and once for each sequence its pages.
	weights := layers*4*(hidden*int64(padded(int(queries+2*keys)))+queries*int64(padded(m.Hidden))+hidden*2*int64(padded(m.Intermediate))+int64(m.Intermediate)*int64(padded(m.Hidden))) +
		4*hidden*int64(padded(m.Vocab))
	if got, want := prefill.Footprint, weights+layers*(5+1)*16*2*keys*4; got != want {
		t.Errorf("the prompts have a footprint of %d bytes, want %d", got, want)
	}
	for op, calls := range map[Operation]int64{OpEmbed: 3, OpNorm: 3 * (2*layers + 1), OpAttention: 3 * layers, OpHead: 3, OpSample: 3} {
		if got := decode.Work[op].Calls; got != calls {
			t.Errorf("decoding: %d calls of %s, want %d", got, op, calls)
		}
	}
	if p.Reset(); p.Of(Decode).Steps != 0 {
		t.Error("what was forgotten is still there")
	}
}

// What is read of weights and of the cache is counted in the formats that they have.
func TestProfileCountsFormats(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	for _, c := range []struct {
		compute Compute
		kv      KVType
		format  kernels.Format
		key     int // bytes of K and V of a position and key head
	}{
		{ComputeF32, KVF32, kernels.F32, 8 * m.HeadDim},
		{ComputeBF16, KVBF16, kernels.BF16, 4 * m.HeadDim},
		{ComputeInt8, KVInt8, kernels.Q8, 2*m.HeadDim + 8},
	} {
		p := new(Profile)
		d := newDriver(t, Config{Model: m, Weights: set, Threads: 1, PageSize: 32, MaxContext: 64, Compute: c.compute, KVType: c.kv, Profile: p}, 64, false)
		d.run(&sequence{ids: make([]int32, 5), limit: 1})
		work := p.Of(Prefill).Work
		if got, want := work[OpQKV].Bytes, int64(m.Layers*c.format.PanelBytes(m.Hidden)*padded((m.Heads+2*m.KVHeads)*m.HeadDim)/kernels.Panel); got != want {
			t.Errorf("%s: %d bytes of qkv, want %d", c.compute, got, want)
		}
		if got, want := work[OpAttention].Bytes, int64(m.Layers*m.KVHeads*32*c.key); got != want {
			t.Errorf("%s: %d bytes of the cache, want %d", c.kv, got, want)
		}
		if work[OpHead].Integer != (c.compute == ComputeInt8) || work[OpAttention].Integer != (c.kv == KVInt8) {
			t.Errorf("%s and %s: products are told to be of integers: %v, attention %v", c.compute, c.kv, work[OpHead].Integer, work[OpAttention].Integer)
		}
	}
}

// A step is what its rows compute; a fork, which computes nothing, does not count.
func TestKindOfSteps(t *testing.T) {
	for _, c := range []struct {
		counts []int32
		want   StepKind
	}{{[]int32{1}, Decode}, {[]int32{1, 1, 0}, Decode}, {[]int32{5, 0}, Prefill}, {[]int32{1, 5}, Mixed}} {
		var rows []executor.Row
		for _, n := range c.counts {
			rows = append(rows, executor.Row{Count: n})
		}
		if got := kindOf(rows); got != c.want {
			t.Errorf("rows of %v tokens are %s", c.counts, got)
		}
	}
}

// The time between the last step of an executor, closed with sequences open, and the first
// one of the next is not between steps.
func TestProfileOfTwoExecutors(t *testing.T) {
	m, set := loadModel(t, family("llama"))
	p := new(Profile)
	for range 2 {
		d := newDriver(t, Config{Model: m, Weights: set, Threads: 1, PageSize: 16, MaxContext: 128, MaxTokens: 128, Profile: p}, 128, false)
		var b executor.Batch
		var r executor.Result
		s := &sequence{ids: make([]int32, 3), limit: 4}
		d.step++
		b.Step, b.Epoch = d.step, 1
		d.admit(&b, s, 0)
		d.row(&b, s, 128)
		d.do(&b, &r)
		if err := d.e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if s := p.Of(Prefill); s.Steps != 2 || s.Gaps != 0 {
		t.Errorf("%d gaps in %d steps", s.Gaps, s.Steps)
	}
}
