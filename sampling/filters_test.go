package sampling

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// plainKeep is the filters as they are defined, by sorting.
func plainKeep(logits []float32, p Params) []int32 {
	ids := make([]int32, len(logits))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(logits[b], logits[a]) })
	if p.TopK > 0 && int(p.TopK) < len(ids) {
		border := logits[ids[p.TopK-1]]
		ids = slices.DeleteFunc(ids, func(id int32) bool { return logits[id] < border })
	}
	weight := func(id int32) float64 {
		return math.Exp(float64(logits[id]-logits[ids[0]]) / float64(p.Temperature))
	}
	total := 0.0
	for _, id := range ids {
		total += weight(id)
	}
	if p.TopP > 0 && p.TopP < 1 {
		before, n := 0.0, 0
		for n < len(ids) && before < float64(p.TopP)*total {
			before += weight(ids[n])
			n++
		}
		ids = ids[:n]
	}
	slices.Sort(ids)
	return ids
}

// Logits are quarters from -4 to 4, so that ties are common.
func TestKeepEqualsPlainDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		logits := make([]float32, n)
		for i := range logits {
			logits[i] = float32(rapid.IntRange(-16, 16).Draw(t, "logit")) / 4
		}
		p := Params{
			Temperature: rapid.Float32Range(0.2, 2).Draw(t, "temperature"),
			TopK:        rapid.Int32Range(0, 70).Draw(t, "k"),
			// Off the border of any sum, where rounding may decide.
			TopP: (float32(rapid.IntRange(0, 98).Draw(t, "p")) + 0.377) / 100,
		}
		best, err := argmax(logits)
		if err != nil {
			t.Fatal(err)
		}
		s := NewSampler(n)
		s.keep(logits, p, logits[best])
		if want := plainKeep(logits, p); !slices.Equal(s.kept.ids, want) {
			t.Fatalf("%+v of %v keeps %v, want %v", p, logits, s.kept.ids, want)
		}
	})
}

// Where the cumulative probability is 1-p to the bit, the token is dropped.
func TestTopPBorder(t *testing.T) {
	half := float32(math.Log(0.5))
	for _, c := range []struct {
		p    float32
		want []int32
	}{
		{0.25, []int32{0}}, {0.5, []int32{0}}, {0.51, []int32{0, 1}}, {0.75, []int32{0, 1}}, {0.76, []int32{0, 1, 2}}, {1, []int32{0, 1, 2}},
	} {
		s := NewSampler(3)
		s.keep([]float32{0, half, half}, Params{Temperature: 1, TopP: c.p}, 0)
		if !slices.Equal(s.kept.ids, c.want) {
			t.Errorf("top-p %v keeps %v, want %v", c.p, s.kept.ids, c.want)
		}
	}
}

func TestRankOrders(t *testing.T) {
	ascending := []float32{-inf, -math.MaxFloat32, -1, -math.SmallestNonzeroFloat32, 0, math.SmallestNonzeroFloat32, 1, math.MaxFloat32}
	for i := range ascending[1:] {
		if rank(ascending[i]) >= rank(ascending[i+1]) {
			t.Errorf("rank(%v) is not below rank(%v)", ascending[i], ascending[i+1])
		}
	}
	if rank(float32(math.Copysign(0, -1))) != rank(0) {
		t.Error("zeros of both signs have different ranks")
	}
}
