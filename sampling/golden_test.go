package sampling

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"testing"
)

// goldenRow is a line of testdata/processors.jsonl, which make_processors.py
// describes.
type goldenRow struct {
	Logits      goldenLogits
	IDs         []int32
	Prompt      int32
	Params      Params
	Count       int
	Hash        string
	Kept        []int32
	Values, Raw []float64
}

// goldenLogits says how a row's logits are made.
type goldenLogits struct {
	vocab, seed, scale int64
	coarse             bool
	masked             int
}

func (g *goldenLogits) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&g.vocab, &g.seed, &g.scale, &g.coarse, &g.masked})
}

// row is the logits: sums of three even numbers of 21 bits from splitmix64.
func (g goldenLogits) row() []float32 {
	logits := make([]float32, g.vocab)
	for i := range logits {
		z := (uint64(g.seed) + uint64(i)) * 0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
		const mask = 1<<21 - 1
		total := int64(z&mask+z>>21&mask+z>>42&mask) - 3<<20
		if quarter := g.scale / 4; g.coarse {
			total &^= quarter - 1 // rounds down, scale is a power of 2
		}
		logits[i] = float32(float64(total) / float64(g.scale))
		if g.masked > 0 && i%g.masked == 0 {
			logits[i] = -inf
		}
	}
	return logits
}

func goldenRows(t *testing.T) []goldenRow {
	f, err := os.Open("testdata/processors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // only read
	var rows []goldenRow
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r goldenRow
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("line %d: %v", len(rows)+1, err)
		}
		rows = append(rows, r)
	}
	if err := lines.Err(); err != nil || len(rows) < 300 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	return rows
}

// What is kept is exactly what Transformers keeps, and the values are its values.
func TestGoldenProcessors(t *testing.T) {
	samplers := make(map[int64]*Sampler)
	worst, rows := 0.0, goldenRows(t)
	for i, r := range rows {
		vocab := r.Logits.vocab
		if samplers[vocab] == nil {
			samplers[vocab] = NewSampler(int(vocab))
		}
		if err := r.Params.CheckVocab(int(vocab)); err != nil {
			t.Errorf("row %d: %v", i+1, err)
			continue
		}
		d, err := r.check(samplers[vocab])
		if err != nil {
			t.Errorf("row %d, %+v: %v", i+1, r.Params, err)
		}
		worst = max(worst, d)
	}
	t.Logf("golden: %d rows of processors and filters: kept sets equal, values within %.1g of Transformers'", len(rows), worst)
}

// check draws from the row. The values are off by at most d, relative above 1.
func (r *goldenRow) check(s *Sampler) (d float64, err error) {
	logits := r.Logits.row()
	r.Params.Tell = Tell{Logprobs: true, Top: MaxTop, Kept: true}
	var out Drawn
	if err := s.Sample(logits, &r.Params, History{r.IDs, r.Prompt}, Key{Seed: 1}, &out); err != nil {
		return 0, err
	}
	all := s.kept.ids // the record has them up to MaxKept
	if n := len(all); int(out.KeptCount) != n || n <= MaxKept != slices.Equal(out.Kept, all) || n > MaxKept && len(out.Kept) > 0 {
		return 0, fmt.Errorf("%d are kept, told are %d of %d", n, len(out.Kept), out.KeptCount)
	}
	kept, value := all, func(id int32) float64 {
		i, _ := slices.BinarySearch(all, id)
		return math.Log(s.kept.weights[i]) - math.Log(s.kept.total())
	}
	if r.Params.Greedy() {
		if kept = nil; !r.Params.Processes(History{r.IDs, r.Prompt}) {
			copy(s.work, logits)
		}
		for i, v := range s.work {
			if v > -inf {
				kept = append(kept, int32(i))
			}
		}
		value = func(id int32) float64 { return float64(s.work[id]) }
	}
	if h := fnvOf(kept); h != r.Hash || len(kept) != r.Count {
		return 0, fmt.Errorf("keeps %d tokens, want %d: %v", len(kept), r.Count, kept[:min(len(kept), 40)])
	}
	for i, id := range r.Kept {
		if got := value(id); !math.IsInf(got, -1) || r.Values[i] > negligible { // below, weights are 0
			d = max(d, off(got, r.Values[i]))
		}
		if j := slices.IndexFunc(out.Top, func(l Logprob) bool { return l.ID == id }); j >= 0 {
			d = max(d, off(float64(out.Top[j].Raw), r.Raw[i]))
			if !r.Params.Greedy() {
				d = max(d, off(float64(out.Top[j].Sampled), r.Values[i]))
			}
		}
	}
	if d > 1e-5 {
		return d, fmt.Errorf("values are off by %.2g", d)
	}
	return d, nil
}

func off(got, want float64) float64 {
	if got == want { // -Inf too
		return 0
	}
	return math.Abs(got-want) / max(1, math.Abs(want))
}

func fnvOf(ids []int32) string {
	h := fnv.New64a()
	for _, id := range ids {
		_, _ = h.Write(binary.LittleEndian.AppendUint32(nil, uint32(id))) // a hash never fails
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
